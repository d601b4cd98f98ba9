/* The products of digits and their sums, by tensor cores. A block of 8 warps owns 128 ×
 * 64 elements of the output, a warp 32 × 32 of them. */
#include "exact/cuda/device/exact_args.h"
#include "exact/cuda/device/exact_mma.h"
#include "gpu/device.h"

enum { WARP_M = 32, WARP_N = 32, ROWS = WARP_M / 16, COLUMNS = WARP_N / 8 };

/* --- shared memory: a stage has `P` planes of each side, lines of 64 bytes --- */

/* Where 16 bytes of a line lie. Four chunks a line, exchanged so that eight lines in a
 * column touch every bank once. */
static __device__ __forceinline__ unsigned place(unsigned line, unsigned chunk)
{
	return line * LS_EXACT_TILE_K + ((chunk ^ (line >> 1 & 3)) << 4);
}

template <int P> struct stage {
	enum {
		A = LS_EXACT_TILE_M * LS_EXACT_TILE_K,
		B = LS_EXACT_TILE_N * LS_EXACT_TILE_K,
		SIZE = P * (A + B)
	};
};

/* One stage. A thread copies the same 16 bytes of line l of both sides, and of line l +
 * 64 of a, in each plane. */
template <int P>
static __device__ __forceinline__ void fill(uint8_t *to, const uint8_t *a, const uint8_t *b,
					    int64_t a_plane, int64_t b_plane, int64_t a_half)
{
	const unsigned at = place(threadIdx.x / 4, threadIdx.x % 4);
#pragma unroll
	for (int p = 0; p < P; p++) {
		ls_copy16(to + p * stage<P>::A + at, a + p * a_plane);
		ls_copy16(to + p * stage<P>::A + stage<P>::A / 2 + at, a + p * a_plane + a_half);
		ls_copy16(to + P * stage<P>::A + p * stage<P>::B + at, b + p * b_plane);
	}
}

/* --- a warp's part --- */

template <int P> struct sums {
	int32_t c[2 * P - 1][ROWS][COLUMNS][4]; /* by the sum of the digits' numbers */
};

/* All products of digit `I` of a with the digits of b. */
template <int P, int I>
static __device__ __forceinline__ void multiply(sums<P> &s, const uint32_t a[ROWS][4],
						const uint32_t b[P][COLUMNS][2])
{
#pragma unroll
	for (int i = 0; i < ROWS; i++)
#pragma unroll
		for (int j = 0; j < COLUMNS; j++) {
			ls_mma<I == P - 1, false>(s.c[I][i][j], a[i], b[0][j]);
			if (P == 3)
				ls_mma<I == P - 1, false>(s.c[I + 1][i][j], a[i], b[1][j]);
			ls_mma<I == P - 1, true>(s.c[I + P - 1][i][j], a[i], b[P - 1][j]);
		}
}

template <int P, int I>
static __device__ __forceinline__ void digit(sums<P> &s, const uint8_t *stage_a, unsigned row,
					     unsigned chunk, const uint32_t b[P][COLUMNS][2])
{
	uint32_t a[ROWS][4];
#pragma unroll
	for (int i = 0; i < ROWS; i++)
		ls_load_fragments(a[i], stage_a + I * stage<P>::A + place(row + 16 * i, chunk));
	multiply<P, I>(s, a, b);
}

template <int P>
static __device__ __forceinline__ void work(sums<P> &s, const uint8_t *at, unsigned warp_m,
					    unsigned warp_n)
{
	const unsigned lane = threadIdx.x % 32;
#pragma unroll 1
	for (unsigned half = 0; half < 2; half++) {
		uint32_t b[P][COLUMNS][2];
		unsigned column = warp_n + lane % 8 + lane / 16 * 8;
#pragma unroll
		for (int p = 0; p < P; p++)
#pragma unroll
			for (int j = 0; j < COLUMNS; j += 2)
				ls_load_fragments(
					b[p][j],
					at + P * stage<P>::A + p * stage<P>::B +
						place(column + 8 * j, half * 2 + (lane / 8 & 1)));
		unsigned row = warp_m + lane % 16, chunk = half * 2 + lane / 16;
		digit<P, 0>(s, at, row, chunk, b);
		digit<P, 1>(s, at, row, chunk, b);
		if (P == 3)
			digit<P, P - 1>(s, at, row, chunk, b);
	}
}

/* --- after the sums --- */

static __device__ __forceinline__ float element(const ls_exact_place &x, int64_t batch, int64_t i,
						int64_t j)
{
	int64_t at = batch * x.batch + i * x.row + j * x.column;
	if (x.type == LS_EXACT_IS_F32)
		return ((const float *)x.at)[at];
	uint16_t h = ((const uint16_t *)x.at)[at];
	return x.type == LS_EXACT_IS_BF16 ? ls_bf16_value(h) : ls_f16_value(h);
}

static __device__ __forceinline__ double not_finite(const ls_exact_gemm &g, int64_t batch,
						    int64_t i, int64_t j)
{
	double t = 0;
	for (int64_t l = 0; l < g.k; l++)
		t += (double)element(g.x, batch, i, l) * (double)element(g.y, batch, l, j);
	return t;
}

static __device__ __forceinline__ void put(const ls_exact_place &x, int64_t batch, int64_t i,
					   int64_t j, double t)
{
	int64_t at = batch * x.batch + i * x.row + j * x.column;
	if (x.type == LS_EXACT_IS_F32)
		((float *)x.at)[at] = ls_f32_from(t);
	else
		((uint16_t *)x.at)[at] =
			x.type == LS_EXACT_IS_BF16 ? ls_bf16_from(t) : ls_f16_from(t);
}

static __device__ __forceinline__ void finish(const ls_exact_gemm &g, int64_t batch, int64_t i,
					      int64_t j, int64_t sum)
{
	const int64_t at = (batch * g.m + i) * g.n + j;
	const uint32_t top_a = g.top_a[batch * g.top_a_batch + i],
		       top_b = g.top_b[batch * g.top_b_batch + j];
	const int e = ls_grid_exp(top_a) + ls_grid_exp(top_b) - 2 * g.bits;
	int64_t high = 0, low = 0;
	if (g.high) {
		high = (g.first ? 0 : g.high[at]) + (sum >> LS_GRID_SPLIT);
		low = (g.first ? 0 : g.low[at]) + (sum & ((1 << LS_GRID_SPLIT) - 1));
		g.high[at] = high;
		g.low[at] = low;
		if (!g.last)
			return;
	}
	double t;
	if (top_a >= 0x7f800000u || top_b >= 0x7f800000u)
		t = not_finite(g, batch, i, j);
	else
		t = g.high ? ls_grid_value_wide(high, low, e) : ls_grid_value(sum, e);
	t = (double)g.alpha * t;
	if (g.c.at) {
		double term = (double)g.beta * (double)element(g.c, batch, i, j);
		t = t + term;
	}
	if (g.bias.at)
		t = t + (double)element(g.bias, batch, i, j);
	put(g.out, batch, i, j, t);
}

/* The sums of 16 rows of the warp, through shared memory, so that it writes whole
 * rows. */
template <int P>
static __device__ __forceinline__ void finish_rows(const ls_exact_gemm &g, const sums<P> &s, int i,
						   int64_t *own, int64_t batch, int64_t row,
						   int64_t column)
{
	const unsigned lane = threadIdx.x % 32;
#pragma unroll
	for (int j = 0; j < COLUMNS; j++)
#pragma unroll
		for (int r = 0; r < 4; r++) {
			int64_t sum = 0;
#pragma unroll
			for (int d = 2 * P - 2; d >= 0; d--)
				sum = (int64_t)((uint64_t)sum << 8) + s.c[d][i][j][r];
			own[(lane / 4 + r / 2 * 8) * WARP_N + 8 * j + lane % 4 * 2 + r % 2] = sum;
		}
	__syncwarp();
	row += 16 * i;
	column += lane;
#pragma unroll 1
	for (int l = 0; l < 16 && row + l < g.m && column < g.n; l++)
		finish(g, batch, row + l, column, own[l * WARP_N + lane]);
	__syncwarp();
}

/* Tiles in groups of eight rows of tiles, so that what blocks read at a time stays in the
 * second-level cache. */
static __device__ __forceinline__ void tile_of(const ls_exact_gemm &g, int64_t tile,
					       int64_t *ret_row, int64_t *ret_column)
{
	const int64_t rows = (g.m + LS_EXACT_TILE_M - 1) / LS_EXACT_TILE_M;
	const int64_t columns = (g.n + LS_EXACT_TILE_N - 1) / LS_EXACT_TILE_N;
	const int64_t first = tile / (8 * columns) * 8,
		      height = rows - first < 8 ? rows - first : 8;
	const int64_t within = tile % (8 * columns);
	*ret_row = (first + within % height) * LS_EXACT_TILE_M;
	*ret_column = within / height * LS_EXACT_TILE_N;
}

template <int P> static __device__ __forceinline__ void gemm(const ls_exact_gemm &given)
{
	/* a reference to the argument itself would make every thread a copy of it */
	__shared__ ls_exact_gemm g;
	LS_DYNAMIC_SHARED(uint8_t, memory);
	if (threadIdx.x == 0)
		g = given;
	__syncthreads();
	int64_t row, column;
	tile_of(g, blockIdx.x, &row, &column);
	const int64_t batch = blockIdx.z;
	/* where this thread's copies begin */
	const int64_t at = threadIdx.x / 4 * g.pad_depth + g.from + threadIdx.x % 4 * 16;
	const uint8_t *a = g.a + batch * g.a_batch + row * g.pad_depth + at;
	const uint8_t *b = g.b + batch * g.b_batch + column * g.pad_depth + at;
	const int64_t a_plane = g.a_plane, b_plane = g.b_plane, a_half = 64 * g.pad_depth;
	const int steps = (int)(g.depth / LS_EXACT_TILE_K);
	const unsigned warp = threadIdx.x / 32, warp_m = warp % 4 * WARP_M,
		       warp_n = warp / 4 * WARP_N;
	const int stages = g.stages, ring = stages - 1; /* stages is a power of two */
	sums<P> s = {};
	for (int k = 0; k < stages - 1; k++) {
		if (k < steps)
			fill<P>(memory + k * stage<P>::SIZE, a + k * LS_EXACT_TILE_K,
				b + k * LS_EXACT_TILE_K, a_plane, b_plane, a_half);
		ls_commit_copies();
	}
	for (int k = 0; k < steps; k++) {
		const int next = k + stages - 1;
		if (stages > 3)
			ls_wait_copies<2>();
		else
			ls_wait_copies<0>();
		__syncthreads();
		if (next < steps)
			fill<P>(memory + (next & ring) * stage<P>::SIZE, a + next * LS_EXACT_TILE_K,
				b + next * LS_EXACT_TILE_K, a_plane, b_plane, a_half);
		ls_commit_copies();
		if (stages == 1) {
			ls_wait_copies<0>();
			__syncthreads();
		}
		work<P>(s, memory + (k & ring) * stage<P>::SIZE, warp_m, warp_n);
	}
	__syncthreads();
	int64_t *own = (int64_t *)memory + warp * (16 * WARP_N);
#pragma unroll
	for (int i = 0; i < ROWS; i++)
		finish_rows<P>(g, s, i, own, batch, row + warp_m, column + warp_n);
}

extern "C" __global__ void __launch_bounds__(LS_EXACT_THREADS, 1) exact_gemm_fine(ls_exact_gemm g)
{
	gemm<3>(g);
}

extern "C" __global__ void __launch_bounds__(LS_EXACT_THREADS, 1) exact_gemm_coarse(ls_exact_gemm g)
{
	gemm<2>(g);
}
