/* The products of digits and their sums, by tensor cores. A block of 8 warps owns 128 ×
 * 64 elements of the output, a warp 32 × 32 of them. */
#include "exact/cuda/device/exact_args.h"
#include "exact/cuda/device/exact_finish.h"
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

/* What a thread copies of a side: 16 bytes of line threadIdx.x / 4 of each digit. */
struct source {
	const uint8_t *from;
	unsigned chunk, line;
};

template <int P>
static __device__ __forceinline__ source source_of(const uint8_t *side, const ls_exact_gemm &g,
						   int64_t line)
{
	int64_t block = line / LS_EXACT_BLOCK_LINES * g.depth_blocks + g.from / LS_EXACT_BLOCK_DEPTH;
	const unsigned own = threadIdx.x / 4;
	source s = {side + block * P * LS_EXACT_BLOCK + own * LS_EXACT_BLOCK_DEPTH, threadIdx.x % 4,
		    own & 7};
	return s;
}

/* Stage k of it: half of a block. */
template <int P>
static __device__ __forceinline__ void fill_side(uint8_t *to, int size, const source &s, int k)
{
	const uint8_t *from = s.from + (int64_t)(k / 2) * P * LS_EXACT_BLOCK +
			      (((k % 2 * 4 + s.chunk) ^ s.line) << 4);
	to += place(threadIdx.x / 4, threadIdx.x % 4);
#pragma unroll
	for (int p = 0; p < P; p++)
		ls_copy16(to + p * size, from + p * LS_EXACT_BLOCK);
}

template <int P>
static __device__ __forceinline__ void fill(uint8_t *to, const source &a, const source &a_half,
					    const source &b, int k)
{
	fill_side<P>(to, stage<P>::A, a, k);
	fill_side<P>(to + stage<P>::A / 2, stage<P>::A, a_half, k);
	fill_side<P>(to + P * stage<P>::A, stage<P>::B, b, k);
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
			ls_mma<P == 3 || I == 1, P == 3>(s.c[I][i][j], a[i], b[0][j]);
			ls_mma<P == 3 || I == 1, true>(s.c[I + 1][i][j], a[i], b[1][j]);
			if (P == 3)
				ls_mma<true, true>(s.c[I + P - 1][i][j], a[i], b[P - 1][j]);
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
		ls_finish_one(g, batch, row + l, column, own[l * WARP_N + lane]);
	__syncwarp();
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
	ls_finish_tile(g, blockIdx.x, LS_EXACT_TILE_N, &row, &column);
	const int64_t batch = blockIdx.z;
	const uint8_t *side_a = g.a + batch * g.a_batch, *side_b = g.b + batch * g.b_batch;
	const source a = source_of<P>(side_a, g, row);
	const source a_half = source_of<P>(side_a, g, row + LS_EXACT_BLOCK_LINES);
	const source b = source_of<P>(side_b, g, column);
	const int steps = (int)(g.depth / LS_EXACT_TILE_K);
	const unsigned warp = threadIdx.x / 32, warp_m = warp % 4 * WARP_M,
		       warp_n = warp / 4 * WARP_N;
	const int stages = g.stages, ring = stages - 1; /* stages is a power of two */
	sums<P> s = {};
	for (int k = 0; k < stages - 1; k++) {
		if (k < steps)
			fill<P>(memory + k * stage<P>::SIZE, a, a_half, b, k);
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
			fill<P>(memory + (next & ring) * stage<P>::SIZE, a, a_half, b, next);
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
