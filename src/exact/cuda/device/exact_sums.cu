/* The two halves (exact_reduce.cu) of the sums that trainings take most: of float32 elements
 * or of their squares, four of them side by side in an aligned load. Few blocks of threads
 * with many loads under way take all elements; a bound is that of the largest magnitude. */
#include "exact/cuda/device/exact_team.h"
#include "exact/cuda/device/sums_args.h"
#include "gpu/device.h"

enum { GROUP = 4, LOADS = 4 /* groups that a thread loads at a time */ };

static __device__ __forceinline__ double term_of(int square, float x)
{
	const double t = (double)x;
	return square ? t * t : t;
}

/* What a thread has of one output. */
struct part {
	uint32_t magnitude, flags;
	uint64_t sum; /* with LS_MAGIC_BITS in each of its terms */
};

static __device__ __forceinline__ uint32_t magnitude(float x)
{
	return ls_bits_f(x) & 0x7fffffffu;
}

/* HALF 0: bounds; 1: the sum on the grid of scale. */
template <int HALF>
static __device__ __forceinline__ void add(part &p, float x, int square, double scale)
{
	if (HALF)
		p.sum += ls_bits_d(term_of(square, x) * scale + LS_MAGIC);
	else {
		p.magnitude = ls_team_larger(p.magnitude, magnitude(x));
		if (magnitude(x) >= 0x7f800000u)
			p.flags |= ls_term_flags(term_of(square, x));
	}
}

template <int HALF>
static __device__ __forceinline__ void merge(part &p, const part &other)
{
	p.magnitude = ls_team_larger(p.magnitude, other.magnitude);
	p.flags |= other.flags;
	p.sum += other.sum;
}

/* terms: in p.sum */
template <int HALF>
static __device__ __forceinline__ void put(const part &p, int square, uint64_t terms,
					   ls_sum_state *to)
{
	if (HALF) {
		atomicAdd((unsigned long long *)&to->sum[0],
			  (unsigned long long)(p.sum - terms * LS_MAGIC_BITS));
		return;
	}
	const uint32_t top = ls_term_top(term_of(square, ls_f_bits(p.magnitude)));
	if (top)
		atomicMax(&to->top[0], top);
	if (p.flags)
		atomicOr(&to->flags, p.flags);
}

static __device__ __forceinline__ double scale_of(const ls_sums &s, int64_t i)
{
	return ls_pow2(ls_term_grid(s.state[i].top[0], s.reduced));
}

static __device__ __forceinline__ float4 load(const float *x)
{
	LS_ALIGNED(x);
	return *(const float4 *)x;
}

/* --- outputs side by side: a warp has 128 of them, a block eight rows at a time --- */

enum { ROWS = LS_SUMS_THREADS / 32 };

template <int HALF> static __device__ __forceinline__ void across(const ls_sums &s)
{
	__shared__ part room[ROWS][LS_SUMS_ACROSS];
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const int64_t i = (int64_t)blockIdx.x * LS_SUMS_ACROSS + lane * GROUP;
	const int64_t first = blockIdx.y * s.part;
	const int64_t to = first + s.part < s.reduced ? first + s.part : s.reduced;
	const bool there = i < s.kept;
	const float *x = s.x + i;
	part p[GROUP] = {};
	double scale[GROUP];
#pragma unroll
	for (int j = 0; j < GROUP; j++)
		scale[j] = HALF && there ? scale_of(s, i + j) : 0.0;
#pragma unroll 1
	for (int64_t l = first + warp; there && l < to; l += LOADS * ROWS) {
		float4 v[LOADS];
#pragma unroll
		for (int u = 0; u < LOADS; u++)
			v[u] = l + u * ROWS < to ? load(x + (l + u * ROWS) * s.step)
						 : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
		for (int u = 0; u < LOADS; u++) {
			add<HALF>(p[0], v[u].x, s.square, scale[0]);
			add<HALF>(p[1], v[u].y, s.square, scale[1]);
			add<HALF>(p[2], v[u].z, s.square, scale[2]);
			add<HALF>(p[3], v[u].w, s.square, scale[3]);
		}
	}
#pragma unroll
	for (int j = 0; j < GROUP; j++)
		room[warp][lane * GROUP + j] = p[j];
	__syncthreads();
	const int64_t own = (int64_t)blockIdx.x * LS_SUMS_ACROSS + threadIdx.x;
	if (threadIdx.x >= LS_SUMS_ACROSS || own >= s.kept)
		return;
	part all = room[0][threadIdx.x];
	uint64_t terms = 0;
	for (int w = 0; w < ROWS; w++) {
		/* a warp adds whole rounds of loads */
		const int64_t rows = to - first - w, round = LOADS * ROWS;
		terms += rows > 0 ? (uint64_t)((rows + round - 1) / round * LOADS) : 0;
		if (w)
			merge<HALF>(all, room[w][threadIdx.x]);
	}
	put<HALF>(all, s.square, terms, &s.state[own]);
}

/* --- one output at a time, of elements that lie side by side --- */

template <int HALF> static __device__ __forceinline__ void along(const ls_sums &s)
{
	__shared__ part room[LS_SUMS_THREADS / 32];
	const int64_t i = blockIdx.y, step = (int64_t)gridDim.x * blockDim.x * GROUP;
	const int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * GROUP;
	const double scale = HALF ? scale_of(s, i) : 0.0;
	const float *x = s.x + i * s.step;
	part p = {};
	uint64_t terms = 0;
#pragma unroll 1
	for (int64_t l = first; l < s.reduced; l += LOADS * step) {
		float4 v[LOADS];
#pragma unroll
		for (int u = 0; u < LOADS; u++)
			v[u] = l + u * step < s.reduced ? load(x + l + u * step)
							: make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
		for (int u = 0; u < LOADS; u++) {
			add<HALF>(p, v[u].x, s.square, scale);
			add<HALF>(p, v[u].y, s.square, scale);
			add<HALF>(p, v[u].z, s.square, scale);
			add<HALF>(p, v[u].w, s.square, scale);
		}
		terms += LOADS * GROUP;
	}
	p.sum -= terms * LS_MAGIC_BITS;
	for (int by = 16; by; by /= 2) {
		part other;
		other.magnitude = __shfl_xor_sync(0xffffffffu, p.magnitude, by);
		other.flags = __shfl_xor_sync(0xffffffffu, p.flags, by);
		other.sum = ls_team_shuffle(p.sum, by);
		merge<HALF>(p, other);
	}
	if (threadIdx.x % 32 == 0)
		room[threadIdx.x / 32] = p;
	__syncthreads();
	if (threadIdx.x)
		return;
	for (int w = 1; w < LS_SUMS_THREADS / 32; w++)
		merge<HALF>(p, room[w]);
	put<HALF>(p, s.square, 0, &s.state[i]);
}

extern "C" __global__ void __launch_bounds__(LS_SUMS_THREADS) exact_sums_across_bounds(ls_sums s)
{
	across<0>(s);
}

extern "C" __global__ void __launch_bounds__(LS_SUMS_THREADS) exact_sums_across_sums(ls_sums s)
{
	across<1>(s);
}

extern "C" __global__ void __launch_bounds__(LS_SUMS_THREADS) exact_sums_along_bounds(ls_sums s)
{
	along<0>(s);
}

extern "C" __global__ void __launch_bounds__(LS_SUMS_THREADS) exact_sums_along_sums(ls_sums s)
{
	along<1>(s);
}
