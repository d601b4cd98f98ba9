/* The products of digits and their sums, by the tensor cores of compute capability 9.0:
 * cmake/gpu.cmake compiles it to machine code for sm_90a alone. A block of threads stays
 * and takes tiles of the output one after another: its first four warps copy, one thread of
 * them, and eight multiply, four with each 64 of the tile's 128 rows. */
#include "exact/cuda/device/exact_args.h"
#include "exact/cuda/device/exact_finish.h"
#include "exact/cuda/device/exact_wgmma.h"

#if __CUDA_ARCH__ >= 900 && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#error "these kernels are for sm_90a"
#endif

enum { STAGES = LS_EXACT_WIDE_STAGES, COPIERS = 128, CONSUMERS = 8 /* warps */, STEP = 32 };

/* P digits of each side; of b BLOCKS blocks of 64 columns. A stage has all digits of a's
 * first block, of its second, and those of b: of each digit the blocks of columns. */
template <int P> struct layout {
	enum {
		BLOCKS = P == 3 ? 1 : 2,
		TILE_N = BLOCKS * LS_EXACT_BLOCK_LINES,
		SIDE = P * LS_EXACT_BLOCK,
		STAGE = (2 + BLOCKS) * SIDE,
		SUMS = 2 * P - 1,
		EACH = TILE_N / 2 /* registers of a sum */
	};
};

/* Stages are taken in turn, in rounds: the parity of a round tells it from the last. */
struct ring {
	unsigned stage, parity;
};

static __device__ __forceinline__ void turn(ring &r)
{
	r.stage = r.stage + 1 == STAGES ? 0 : r.stage + 1;
	r.parity ^= r.stage == 0;
}

struct shared {
	ls_exact_gemm g;
	uint64_t full[STAGES], empty[STAGES];
	/* a warp's: the exponents of a tile's columns, or sums of 16 rows and 8 columns */
	int64_t room[CONSUMERS][16][8];
};

static __device__ __forceinline__ int steps_of(const ls_exact_gemm &g)
{
	return (int)((g.depth + LS_EXACT_BLOCK_DEPTH - 1) / LS_EXACT_BLOCK_DEPTH);
}

struct tile {
	int64_t row, column, batch;
};

template <int P>
static __device__ __forceinline__ bool find_tile(const ls_exact_gemm &g, int64_t number, tile &t)
{
	const int64_t a_batch = ((g.m + LS_EXACT_TILE_M - 1) / LS_EXACT_TILE_M) *
				((g.n + layout<P>::TILE_N - 1) / layout<P>::TILE_N);
	t.batch = number / a_batch;
	ls_finish_tile(g, number % a_batch, layout<P>::TILE_N, &t.row, &t.column);
	return t.batch < g.batches;
}

/* --- the thread that copies --- */

template <int P> static __device__ __forceinline__ void copy_all(shared &own, uint8_t *memory)
{
	typedef layout<P> l;
	const ls_exact_gemm &g = own.g;
	const int steps = steps_of(g);
	const int64_t a_line = g.depth_blocks * l::SIDE; /* bytes of a block of lines */
	ring r = {0, 1};
	tile t;
	for (int64_t number = blockIdx.x; find_tile<P>(g, number, t); number += gridDim.x) {
		const int64_t from = g.from / LS_EXACT_BLOCK_DEPTH * l::SIDE;
		const uint8_t *a = g.a + t.batch * g.a_batch + from +
				   t.row / LS_EXACT_BLOCK_LINES * a_line;
		const uint8_t *b = g.b + t.batch * g.b_batch + from +
				   t.column / LS_EXACT_BLOCK_LINES * a_line;
		for (int k = 0; k < steps; k++, a += l::SIDE, b += l::SIDE, turn(r)) {
			uint8_t *to = memory + r.stage * l::STAGE;
			uint64_t *full = &own.full[r.stage];
			ls_barrier_wait(&own.empty[r.stage], r.parity);
			ls_barrier_expect(full, l::STAGE);
			ls_copy_block(to, a, l::SIDE, full);
			ls_copy_block(to + l::SIDE, a + a_line, l::SIDE, full);
			to += 2 * l::SIDE;
			if (l::BLOCKS == 1)
				ls_copy_block(to, b, l::SIDE, full);
#pragma unroll
			for (int p = 0; p < (l::BLOCKS == 1 ? 0 : P); p++) {
				ls_copy_block(to + 2 * p * LS_EXACT_BLOCK, b + p * LS_EXACT_BLOCK,
					      LS_EXACT_BLOCK, full);
				ls_copy_block(to + (2 * p + 1) * LS_EXACT_BLOCK,
					      b + a_line + p * LS_EXACT_BLOCK, LS_EXACT_BLOCK,
					      full);
			}
		}
	}
}

/* --- the warps that multiply --- */

/* 32 bytes of depth: each digit of a with all digits of b. Sum d of a pair of digits is
 * that of all pairs whose numbers are d together. */
template <int P>
static __device__ __forceinline__ void multiply(int32_t *c, const uint8_t *a, const uint8_t *b)
{
	enum { EACH = layout<P>::EACH, WIDE = 2 * LS_EXACT_BLOCK };
	if (P == 3) {
#pragma unroll
		for (int i = 0; i < P; i++)
#pragma unroll
			for (int j = 0; j < P; j++)
				ls_wgmma_64<true, true>(c + (i + j) * EACH, a + i * LS_EXACT_BLOCK,
							b + j * LS_EXACT_BLOCK);
	} else {
		ls_wgmma_128<false, false>(c, a, b);
		ls_wgmma_128<false, true>(c + EACH, a, b + WIDE);
		ls_wgmma_128<true, false>(c + EACH, a + LS_EXACT_BLOCK, b);
		ls_wgmma_128<true, true>(c + 2 * EACH, a + LS_EXACT_BLOCK, b + WIDE);
	}
}

template <int P>
static __device__ __forceinline__ void multiply_all(shared &own, const uint8_t *memory, ring &r,
						    unsigned half, int32_t *c)
{
	typedef layout<P> l;
	const int steps = steps_of(own.g);
	const bool arrives = threadIdx.x % 32 == 0;
	/* the last block may be half full */
	const int last = (int)(own.g.depth % LS_EXACT_BLOCK_DEPTH ? LS_EXACT_PAD : LS_EXACT_BLOCK_DEPTH);
	unsigned before = 0;
	for (int k = 0; k < steps; k++) {
		const uint8_t *at = memory + r.stage * l::STAGE;
		const uint8_t *a = at + half * l::SIDE, *b = at + 2 * l::SIDE;
		ls_barrier_wait(&own.full[r.stage], r.parity);
		ls_wgmma_begin();
		multiply<P>(c, a, b);
		multiply<P>(c, a + STEP, b + STEP);
		if (k + 1 < steps || last == LS_EXACT_BLOCK_DEPTH) {
			multiply<P>(c, a + 2 * STEP, b + 2 * STEP);
			multiply<P>(c, a + 3 * STEP, b + 3 * STEP);
		}
		ls_wgmma_commit();
		ls_wgmma_wait<1>();
		if (k && arrives)
			ls_barrier_arrive(&own.empty[before]);
		before = r.stage;
		turn(r);
	}
	ls_wgmma_wait<0>();
	if (steps && arrives)
		ls_barrier_arrive(&own.empty[before]);
}

/* --- results --- */

template <int P> static __device__ __forceinline__ int64_t whole(const int32_t *c, int number)
{
	int64_t sum = c[2 * (P - 1) * layout<P>::EACH + number];
#pragma unroll
	for (int d = 2 * P - 3; d >= 0; d--)
		sum = (int64_t)((uint64_t)sum << 8) + c[d * layout<P>::EACH + number];
	return sum;
}

/* Where the sums of a thread belong: two neighbouring columns of each eight, in two rows
 * eight apart. */
struct mine {
	int64_t batch, row, column;
};

/* Products that are not finite, after all others are written. */
template <int P>
static __device__ __noinline__ void finish_not_finite(const ls_exact_gemm *g, mine at)
{
	const uint32_t *top_a = g->top_a + at.batch * g->top_a_batch,
		       *top_b = g->top_b + at.batch * g->top_b_batch;
#pragma unroll 1
	for (int n = 0; n < 2 * layout<P>::EACH / 2; n++) {
		const int64_t i = at.row + n / 2 % 2 * 8, j = at.column + n / 4 * 8 + n % 2;
		if (i < g->m && j < g->n && (top_a[i] >= 0x7f800000u || top_b[j] >= 0x7f800000u))
			ls_finish_one(*g, at.batch, i, j, 0);
	}
}

/* What the results of a warp need to know of their lines, loaded before the products, as
 * that takes long. */
struct lines {
	int row[2]; /* exponents of this thread's rows */
	bool finite;
};

template <int P>
static __device__ __forceinline__ lines find_lines(const ls_exact_gemm &g, const mine &at,
						   int64_t first, int *columns)
{
	const uint32_t *top_a = g.top_a + at.batch * g.top_a_batch,
		       *top_b = g.top_b + at.batch * g.top_b_batch + first;
	const unsigned lane = threadIdx.x % 32;
	lines l;
	uint32_t top, largest = 0;
	__syncwarp(); /* the tile before has read its columns */
#pragma unroll
	for (unsigned n = lane; n < layout<P>::TILE_N; n += 32) {
		top = first + n < g.n ? top_b[n] : 0;
		largest = top > largest ? top : largest;
		columns[n] = ls_grid_exp(top);
	}
#pragma unroll
	for (int h = 0; h < 2; h++) {
		top = at.row + 8 * h < g.m ? top_a[at.row + 8 * h] : 0;
		largest = top > largest ? top : largest;
		l.row[h] = ls_grid_exp(top) - 2 * g.bits;
	}
	l.finite = __all_sync(0xffffffffu, largest < 0x7f800000u);
	__syncwarp();
	return l;
}

/* float32, in one launch, with at most a c of float32 added. columns: the exponents of the
 * tile's. */
template <int P>
static __device__ __forceinline__ void finish_usual(const ls_exact_gemm &g, const int32_t *c,
						    const mine &at, const lines &l,
						    const int *columns)
{
	const double alpha = (double)g.alpha, beta = (double)g.beta;
	const bool adds = g.c.at != 0;
	const int64_t left = g.n - at.column, c_column = g.c.column;
	const int own = (int)(threadIdx.x % 4 * 2);
#pragma unroll
	for (int h = 0; h < 2; h++) {
		const int64_t i = at.row + 8 * h;
		float *out = (float *)g.out.at + at.batch * g.out.batch + i * g.out.row + at.column;
		const float *term = (const float *)g.c.at + at.batch * g.c.batch + i * g.c.row +
				    at.column * c_column;
		const bool there = i < g.m;
#pragma unroll
		for (int j = 0; j < layout<P>::TILE_N; j += 8) {
			float both[2];
#pragma unroll
			for (int k = 0; k < 2; k++) {
				double t = alpha * ls_grid_value(whole<P>(c, j / 2 + 2 * h + k),
								 l.row[h] + columns[own + j + k]);
				if (adds && there && j + k < left)
					t = t + beta * (double)term[(j + k) * c_column];
				both[k] = ls_f32_from(t);
			}
			if (there && j + 1 < left)
				*(float2 *)(out + j) = make_float2(both[0], both[1]);
			else if (there && j < left)
				out[j] = both[0];
		}
	}
	if (!l.finite)
		finish_not_finite<P>(&g, at);
}

/* All else: eight columns of the warp at a time, through shared memory, so that the code
 * is there once. */
template <int P>
static __device__ __forceinline__ void finish_any(const ls_exact_gemm &g, const int32_t *c,
						  const mine &at, int64_t (*room)[8])
{
	const unsigned lane = threadIdx.x % 32;
#pragma unroll 1
	for (int j = 0; j < layout<P>::TILE_N; j += 8) {
		__syncwarp();
#pragma unroll
		for (int k = 0; k < layout<P>::TILE_N; k += 8)
			if (k == j)
#pragma unroll
				for (int r = 0; r < 4; r++)
					room[lane / 4 + r / 2 * 8][lane % 4 * 2 + r % 2] =
						whole<P>(c, k / 2 + r);
		__syncwarp();
#pragma unroll 1
		for (unsigned n = lane; n < 128; n += 32) {
			const int64_t row = at.row - lane / 4 + n / 8,
				      column = at.column - lane % 4 * 2 + j + n % 8;
			if (row < g.m && column < g.n)
				ls_finish_one(g, at.batch, row, column, room[n / 8][n % 8]);
		}
	}
}

template <int P>
static __device__ __forceinline__ void multiply_tiles(shared &own, const uint8_t *memory)
{
	typedef layout<P> l;
	const ls_exact_gemm &g = own.g;
	const unsigned thread = threadIdx.x - COPIERS, half = thread / 128, lane = thread % 32;
	const bool usual = g.pairs && !g.high && !g.bias.at &&
			   (!g.c.at || g.c.type == LS_EXACT_IS_F32);
	ring r = {0, 0};
	tile t;
	for (int64_t number = blockIdx.x; find_tile<P>(g, number, t); number += gridDim.x) {
		int32_t c[l::SUMS * l::EACH] = {};
		const mine at = {t.batch, t.row + half * 64 + thread % 128 / 32 * 16 + lane / 4,
				 t.column + lane % 4 * 2};
		int *columns = (int *)own.room[thread / 32];
		const lines known = find_lines<P>(g, at, t.column, columns);
		multiply_all<P>(own, memory, r, half, c);
		if (usual)
			finish_usual<P>(g, c, at, known, columns);
		else
			finish_any<P>(g, c, at, own.room[thread / 32]);
	}
}

template <int P> static __device__ __forceinline__ void wide(const ls_exact_gemm &given)
{
	__shared__ shared own;
	LS_DYNAMIC_SHARED(uint8_t, memory);
	memory += (1024 - (uintptr_t)memory % 1024) % 1024;
	if (threadIdx.x == 0) {
		own.g = given;
		for (int s = 0; s < STAGES; s++) {
			ls_barrier_init(&own.full[s], 1);
			ls_barrier_init(&own.empty[s], CONSUMERS);
		}
		ls_barriers_made();
	}
	__syncthreads();
	if (threadIdx.x < COPIERS) {
		ls_registers_give<40>();
		if (threadIdx.x == 0)
			copy_all<P>(own, memory);
	} else {
		ls_registers_take<232>();
		multiply_tiles<P>(own, memory);
	}
}

extern "C" __global__ void __launch_bounds__(LS_EXACT_WIDE_THREADS, 1)
	exact_wide_fine(ls_exact_gemm g)
{
	wide<3>(g);
}

extern "C" __global__ void __launch_bounds__(LS_EXACT_WIDE_THREADS, 1)
	exact_wide_coarse(ls_exact_gemm g)
{
	wide<2>(g);
}
