/* The sides of an exact product: the grid of each line, and its whole numbers as
 * bytes. */
#include "exact/cuda/device/exact_args.h"
#include "gpu/device.h"

enum { WARPS = LS_EXACT_THREADS / 32, GROUP = 4 /* elements that a thread loads at a time */ };

/* --- elements --- */

static __device__ __forceinline__ float half_value(int type, uint16_t h)
{
	return type == LS_EXACT_IS_BF16 ? ls_bf16_value(h) : ls_f16_value(h);
}

static __device__ __forceinline__ float element(const ls_exact_place &x, int64_t at)
{
	if (x.type == LS_EXACT_IS_F32)
		return ((const float *)x.at)[at];
	return half_value(x.type, ((const uint16_t *)x.at)[at]);
}

/* The elements at, at + step … of which `left` are there; the others are 0. FAST: float32
 * that lies side by side, aligned, and all four are there or none, as usual: then no branch
 * keeps loads apart. */
template <bool FAST>
static __device__ __forceinline__ void load(const ls_exact_place &x, bool vector, int64_t at,
					    int64_t step, int64_t left, float v[GROUP])
{
	if (FAST) {
		float4 all = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
		if (left > 0) {
			LS_ALIGNED((const float *)x.at + at);
			all = *(const float4 *)((const float *)x.at + at);
		}
		v[0] = all.x, v[1] = all.y, v[2] = all.z, v[3] = all.w;
		return;
	}
	if (vector && left >= GROUP && x.type != LS_EXACT_IS_F32) {
		ushort4 all = *(const ushort4 *)((const uint16_t *)x.at + at);
		v[0] = half_value(x.type, all.x), v[1] = half_value(x.type, all.y);
		v[2] = half_value(x.type, all.z), v[3] = half_value(x.type, all.w);
		return;
	}
#pragma unroll
	for (int i = 0; i < GROUP; i++)
		v[i] = i < left ? element(x, at + i * step) : 0.0f;
}

/* length: of what lies side by side. */
static __device__ __forceinline__ bool is_fast(const ls_exact_lines &s, int64_t length)
{
	return s.vectors && s.x.type == LS_EXACT_IS_F32 && length % GROUP == 0;
}

static __device__ __forceinline__ uint32_t magnitude(float x)
{
	return ls_bits_f(x) & 0x7fffffffu;
}

static __device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* --- digits --- */

/* Where the block of digit 0 of a line lies that has this depth; the others follow. */
static __device__ __forceinline__ uint8_t *block_of(const ls_exact_lines &s, int planes,
						    int64_t batch, int64_t line, int64_t depth)
{
	int64_t block = (batch * s.line_blocks + line / LS_EXACT_BLOCK_LINES) * s.depth_blocks +
			depth / LS_EXACT_BLOCK_DEPTH;
	return s.digits + block * planes * LS_EXACT_BLOCK;
}

static __device__ __forceinline__ unsigned place(unsigned line, unsigned depth)
{
	return line * LS_EXACT_BLOCK_DEPTH + (((depth / 16) ^ (line & 7)) << 4) + depth % 16;
}

/* The bytes of a whole number are its digits. */
static __device__ __forceinline__ uint32_t digits_of(float x, float first, float second, int bits)
{
	uint32_t q = (uint32_t)ls_grid_round(x, first, second, bits);
	return bits == LS_GRID_FINE ? (q + 0x8080u) ^ 0x8080u : q;
}

/* Byte `plane` of each. */
static __device__ __forceinline__ uint32_t join(const uint32_t v[GROUP], int plane)
{
	const unsigned both = plane == 0 ? 0x40 : plane == 1 ? 0x51 : 0x62;
	return __byte_perm(__byte_perm(v[0], v[1], both), __byte_perm(v[2], v[3], both), 0x5410);
}

/* A division of 32 bits is several times as fast as one of 64. */
static __device__ __forceinline__ int64_t divide(int64_t a, int64_t b, int64_t *ret_rest)
{
	int64_t q;
	if ((uint64_t)(a | b) >> 32)
		q = a / b;
	else
		q = (uint32_t)a / (uint32_t)b;
	*ret_rest = a - q * b;
	return q;
}

static __device__ __forceinline__ int64_t padded(int64_t depth)
{
	return (depth + LS_EXACT_PAD - 1) / LS_EXACT_PAD * LS_EXACT_PAD;
}

/* --- lines whose elements follow each other --- */

/* The largest of what the threads of a line have: those of a warp, or of the block. */
static __device__ __forceinline__ uint32_t largest_of(uint32_t top, int warps)
{
	__shared__ uint32_t room[WARPS];
	for (int by = 16; by; by /= 2)
		top = larger(top, __shfl_xor_sync(0xffffffffu, top, by));
	if (warps == 1)
		return top;
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		room[threadIdx.x / 32] = top;
	__syncthreads();
	for (int w = 0; w < WARPS; w++)
		top = larger(top, room[w]);
	return top;
}

template <bool FAST>
static __device__ __forceinline__ void load_kept(const ls_exact_lines &s, int64_t at, int64_t from,
						 int64_t step, float v[LS_EXACT_KEPT][GROUP])
{
#pragma unroll
	for (int i = 0; i < LS_EXACT_KEPT; i++)
		load<FAST>(s.x, s.vectors, at + (from + i * step) * (FAST ? 1 : s.x.column),
			   s.x.column, s.depth - (from + i * step), v[i]);
}

/* warps: that share a line, 1 or all of the block. They keep the elements where these are
 * few enough, and read them again otherwise. */
template <bool FAST>
static __device__ __forceinline__ void cut_along(const ls_exact_lines &s, int64_t block, int warps)
{
	const int planes = s.bits == LS_GRID_FINE ? 3 : 2;
	const int64_t number = warps == 1 ? block * WARPS + threadIdx.x / 32 : block;
	if (number >= s.lines * s.batches)
		return;
	int64_t line;
	const int64_t batch = divide(number, s.lines, &line);
	const int64_t at = batch * s.x.batch + line * s.x.row, end = padded(s.depth);
	const int64_t own = threadIdx.x % (32 * warps) * GROUP, step = 32 * warps * GROUP;
	const int64_t kept = LS_EXACT_KEPT * step;
	float v[LS_EXACT_KEPT][GROUP], first, second;
	uint32_t top = 0;
	for (int64_t from = own; from < s.depth || from == own; from += kept) {
		load_kept<FAST>(s, at, from, step, v);
#pragma unroll
		for (int i = 0; i < LS_EXACT_KEPT; i++)
#pragma unroll
			for (int j = 0; j < GROUP; j++)
				top = larger(top, magnitude(v[i][j]));
	}
	top = largest_of(top, warps);
	if (threadIdx.x % (32 * warps) == 0)
		s.top[number] = top;
	ls_grid_scale(s.bits, ls_grid_exp(top), &first, &second);
	for (int64_t from = own; from < end; from += kept) {
		if (s.depth > kept)
			load_kept<FAST>(s, at, from, step, v);
#pragma unroll
		for (int i = 0; i < LS_EXACT_KEPT; i++) {
			const int64_t depth = from + i * step;
			if (depth >= end)
				break;
			uint8_t *to = block_of(s, planes, batch, line, depth) +
				      place((unsigned)(line % LS_EXACT_BLOCK_LINES),
					    (unsigned)(depth % LS_EXACT_BLOCK_DEPTH));
			uint32_t q[GROUP];
#pragma unroll
			for (int j = 0; j < GROUP; j++)
				q[j] = digits_of(v[i][j], first, second, s.bits);
#pragma unroll
			for (int p = 0; p < 3; p++)
				if (p < planes)
					*(uint32_t *)(to + p * LS_EXACT_BLOCK) = join(q, p);
		}
	}
}

/* --- lines that lie side by side: four of them at a time --- */

struct tile {
	int64_t batch, line, part; /* line: the first of 64 */
};

static __device__ __forceinline__ tile tile_of(const ls_exact_lines &s, int64_t block,
					       int64_t parts)
{
	const int64_t blocks = (s.lines + LS_EXACT_BLOCK_LINES - 1) / LS_EXACT_BLOCK_LINES;
	tile t;
	t.batch = divide(divide(block, blocks, &t.line), parts, &t.part);
	t.line *= LS_EXACT_BLOCK_LINES;
	return t;
}

/* Of 64 lines, in so many elements of depth. */
template <bool FAST>
static __device__ __forceinline__ void tops_across(const ls_exact_lines &s, int64_t block)
{
	enum { SIDE = LS_EXACT_BLOCK_LINES / GROUP, ROWS = LS_EXACT_THREADS / SIDE, BATCH = 8 };
	__shared__ uint32_t room[LS_EXACT_BLOCK_LINES];
	const tile t = tile_of(s, block, (s.depth + LS_EXACT_TOPS_DEPTH - 1) / LS_EXACT_TOPS_DEPTH);
	const int64_t line = t.line + threadIdx.x % SIDE * GROUP;
	const int64_t from = t.part * LS_EXACT_TOPS_DEPTH + threadIdx.x / SIDE;
	const int64_t to = t.part * LS_EXACT_TOPS_DEPTH + LS_EXACT_TOPS_DEPTH;
	uint32_t top[GROUP] = {};
	if (threadIdx.x < LS_EXACT_BLOCK_LINES)
		room[threadIdx.x] = 0;
	__syncthreads();
#pragma unroll 1
	for (int64_t d = from; d < to && d < s.depth; d += BATCH * ROWS) {
		float v[BATCH][GROUP];
#pragma unroll
		for (int i = 0; i < BATCH; i++)
			load<FAST>(s.x, s.vectors,
				   t.batch * s.x.batch + line + (d + i * ROWS) * s.x.column, 1,
				   d + i * ROWS < s.depth ? s.lines - line : 0, v[i]);
#pragma unroll
		for (int i = 0; i < BATCH; i++)
#pragma unroll
			for (int j = 0; j < GROUP; j++)
				top[j] = larger(top[j], magnitude(v[i][j]));
	}
#pragma unroll
	for (int j = 0; j < GROUP; j++) {
		/* lanes of one warp that have the same lines */
		top[j] = larger(top[j], __shfl_xor_sync(0xffffffffu, top[j], SIDE));
		if (threadIdx.x % 32 < SIDE)
			atomicMax(&room[threadIdx.x % SIDE * GROUP + j], top[j]);
	}
	__syncthreads();
	const unsigned l = threadIdx.x;
	if (l < LS_EXACT_BLOCK_LINES && t.line + l < s.lines && room[l])
		atomicMax(s.top + t.batch * s.lines + t.line + l, room[l]);
}

/* Four lines by four depths. */
struct square {
	unsigned line, depth; /* within the block */
	float v[GROUP][GROUP]; /* depth, line */
};

template <bool FAST>
static __device__ __forceinline__ void load_square(const ls_exact_lines &s, const tile &t,
						   int64_t depth, square &q)
{
	const int64_t line = t.line + q.line;
	depth += q.depth;
#pragma unroll
	for (int i = 0; i < GROUP; i++)
		load<FAST>(s.x, s.vectors, t.batch * s.x.batch + line + (depth + i) * s.x.column, 1,
			   depth + i < s.depth ? s.lines - line : 0, q.v[i]);
}

/* Words of four bytes along the depth, into the block. */
template <int P>
static __device__ __forceinline__ void cut_square(const ls_exact_lines &s, const tile &t,
						  const square &q, uint8_t *room)
{
	const int64_t line = t.line + q.line;
#pragma unroll
	for (int j = 0; j < GROUP; j++) {
		float first, second;
		uint32_t w[GROUP];
		const uint32_t top = line + j < s.lines ? s.top[t.batch * s.lines + line + j] : 0;
		ls_grid_scale(s.bits, ls_grid_exp(top), &first, &second);
#pragma unroll
		for (int i = 0; i < GROUP; i++)
			w[i] = digits_of(q.v[i][j], first, second, P == 3 ? LS_GRID_FINE : s.bits);
#pragma unroll
		for (int p = 0; p < P; p++)
			*(uint32_t *)(room + p * LS_EXACT_BLOCK + place(q.line + j, q.depth)) =
				join(w, p);
	}
}

/* One block of digits, through shared memory. */
template <int P, bool FAST>
static __device__ __forceinline__ void cut_across(const ls_exact_lines &s, int64_t block,
						  uint4 *whole)
{
	enum {
		SQUARES = LS_EXACT_BLOCK / (GROUP * GROUP) / LS_EXACT_THREADS,
		CHUNKS = P * LS_EXACT_BLOCK / 16
	};
	const int64_t parts = (s.depth + LS_EXACT_BLOCK_DEPTH - 1) / LS_EXACT_BLOCK_DEPTH;
	const tile t = tile_of(s, block, parts);
	const int64_t depth = t.part * LS_EXACT_BLOCK_DEPTH, end = padded(s.depth) - depth;
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	square q[SQUARES];
#pragma unroll
	for (unsigned i = 0; i < SQUARES; i++) {
		/* 32 lines side by side, so that loads are whole, and four depths */
		const unsigned group = i * WARPS + warp;
		q[i].line = group % 2 * 32 + lane % 8 * GROUP;
		q[i].depth = group / 2 * 16 + lane / 8 * GROUP;
		load_square<FAST>(s, t, depth, q[i]);
	}
#pragma unroll
	for (unsigned i = 0; i < SQUARES; i++)
		cut_square<P>(s, t, q[i], (uint8_t *)whole);
	__syncthreads();
	uint8_t *to = block_of(s, P, t.batch, t.line, depth);
#pragma unroll
	for (unsigned i = threadIdx.x; i < CHUNKS; i += LS_EXACT_THREADS) {
		const unsigned line = i / 8 % LS_EXACT_BLOCK_LINES, chunk = (i % 8) ^ (line & 7);
		if ((int64_t)chunk * 16 < end)
			((uint4 *)to)[i] = whole[i];
	}
}

/* --- kernels: the first blocks have side a, the others side b --- */

static __device__ __forceinline__ void take_side(const ls_exact_lines &a, const ls_exact_lines &b,
						 int64_t blocks_a, ls_exact_lines *s,
						 int64_t *ret_block)
{
	const bool is_a = blockIdx.x < blocks_a;
	if (threadIdx.x == 0)
		*s = is_a ? a : b;
	__syncthreads();
	*ret_block = is_a ? blockIdx.x : blockIdx.x - blocks_a;
}

extern "C" __global__ void __launch_bounds__(LS_EXACT_THREADS)
	exact_tops(ls_exact_lines a, ls_exact_lines b, int64_t blocks_a)
{
	__shared__ ls_exact_lines s;
	int64_t block;
	take_side(a, b, blocks_a, &s, &block);
	if (is_fast(s, s.lines))
		tops_across<true>(s, block);
	else
		tops_across<false>(s, block);
}

template <bool FAST>
static __device__ __forceinline__ void cut(const ls_exact_lines &s, int64_t block, uint4 *room)
{
	if (!s.across)
		cut_along<FAST>(s, block, s.depth <= 32 * GROUP * LS_EXACT_KEPT ? 1 : WARPS);
	else if (s.bits == LS_GRID_FINE)
		cut_across<3, FAST>(s, block, room);
	else
		cut_across<2, FAST>(s, block, room);
}

extern "C" __global__ void __launch_bounds__(LS_EXACT_THREADS, 4)
	exact_cut(ls_exact_lines a, ls_exact_lines b, int64_t blocks_a)
{
	__shared__ ls_exact_lines s;
	__shared__ uint4 room[3 * LS_EXACT_BLOCK / 16]; /* digits of a block */
	int64_t block;
	take_side(a, b, blocks_a, &s, &block);
	if (is_fast(s, s.across ? s.lines : s.depth))
		cut<true>(s, block, room);
	else
		cut<false>(s, block, room);
}
