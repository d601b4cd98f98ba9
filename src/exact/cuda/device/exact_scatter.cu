/* Order-free scatter (exact/scatter.h). Places are counted, get their part of one list,
 * and the list is filled, all by atomics on integers: the order in a list reaches no bit.
 * Then a warp, or for places with many sources a block, sums the columns of a place. */
#include "exact/cuda/device/exact_team.h"
#include "exact/cuda/device/scatter_args.h"
#include "gpu/device.h"

typedef unsigned long long word;

static __device__ __forceinline__ int64_t first_thread()
{
	return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ int64_t all_threads()
{
	return (int64_t)gridDim.x * blockDim.x;
}

extern "C" __global__ void exact_scatter_count(ls_scatter s, ls_scatter_lists l)
{
	const int64_t items = ls_scatter_items(&s);
	for (int64_t i = first_thread(); i < items; i += all_threads()) {
		int64_t key = ls_scatter_key(&s, i);
		if (key >= 0)
			atomicAdd(&l.count[key], 1u);
		else if (key == LS_SCATTER_BAD)
			l.head->bad = 1;
	}
}

extern "C" __global__ void exact_scatter_place(ls_scatter s, ls_scatter_lists l)
{
	const int64_t keys = ls_scatter_keys(&s);
	for (int64_t k = first_thread(); k < keys; k += all_threads()) {
		unsigned n = l.count[k];
		l.start[k] = n ? atomicAdd(&l.head->used, n) : 0;
		if (n >= LS_SCATTER_MANY)
			l.many[atomicAdd(&l.head->many, 1u)] = (uint32_t)k;
	}
}

extern "C" __global__ void exact_scatter_fill(ls_scatter s, ls_scatter_lists l)
{
	const int64_t items = ls_scatter_items(&s);
	for (int64_t i = first_thread(); i < items; i += all_threads()) {
		int64_t key = ls_scatter_key(&s, i);
		if (key >= 0)
			l.list[l.start[key] + atomicAdd(&l.filled[key], 1u)] = (uint32_t)i;
	}
}

/* Sources from, from + step … of columns j, j + 32 … of a key: the first half. */
static __device__ __forceinline__ void bounds(const ls_scatter &s, const uint32_t *list,
					      unsigned from, unsigned count, unsigned step,
					      int64_t j, int64_t columns,
					      ls_sum_state state[LS_SCATTER_EACH])
{
#pragma unroll 2
	for (unsigned l = from; l < count; l += step) {
		const int64_t item = list[l];
#pragma unroll
		for (int c = 0; c < LS_SCATTER_EACH; c++) {
			if (j + 32 * c >= columns)
				break;
			double t = ls_scatter_term(&s, item, j + 32 * c);
			state[c].top[0] = ls_team_larger(state[c].top[0], ls_term_top(t));
			state[c].flags |= ls_term_flags(t);
		}
	}
}

static __device__ __forceinline__ void sums(const ls_scatter &s, const uint32_t *list,
					    unsigned from, unsigned count, unsigned step, int64_t j,
					    int64_t columns, ls_sum_state state[LS_SCATTER_EACH])
{
	double scale[LS_SCATTER_EACH];
#pragma unroll
	for (int c = 0; c < LS_SCATTER_EACH; c++)
		scale[c] = ls_pow2(ls_term_grid(state[c].top[0], count));
#pragma unroll 2
	for (unsigned l = from; l < count; l += step) {
		const int64_t item = list[l];
#pragma unroll
		for (int c = 0; c < LS_SCATTER_EACH; c++)
			if (j + 32 * c < columns)
				state[c].sum[0] += ls_term_steps(
					ls_scatter_term(&s, item, j + 32 * c), scale[c]);
	}
}

static __device__ __forceinline__ void write(const ls_scatter &s, const ls_scatter_lists &l,
					     int64_t key, unsigned count, int64_t j,
					     int64_t columns,
					     const ls_sum_state state[LS_SCATTER_EACH])
{
	const uint32_t bad = l.head->bad ? LS_TERM_NAN : 0;
#pragma unroll
	for (int c = 0; c < LS_SCATTER_EACH; c++)
		if (j + 32 * c < columns)
			ls_scatter_finish(&s, key, j + 32 * c, bad ? 1 : count, state[c].sum[0],
					  state[c].top[0], state[c].flags | bad);
}

/* A warp has 32 * LS_SCATTER_EACH columns of a key. */
extern "C" __global__ void __launch_bounds__(256)
	exact_scatter_columns(ls_scatter s, ls_scatter_lists l)
{
	const int64_t columns = ls_scatter_columns(&s), a_warp = 32 * LS_SCATTER_EACH;
	const int64_t tiles = (columns + a_warp - 1) / a_warp, keys = ls_scatter_keys(&s);
	for (int64_t w = first_thread() / 32; w < keys * tiles; w += all_threads() / 32) {
		const int64_t key = w / tiles, j = w % tiles * a_warp + threadIdx.x % 32;
		const unsigned count = l.count[key];
		ls_sum_state state[LS_SCATTER_EACH] = {};
		if (count >= LS_SCATTER_MANY)
			continue;
		bounds(s, l.list + l.start[key], 0, count, 1, j, columns, state);
		sums(s, l.list + l.start[key], 0, count, 1, j, columns, state);
		write(s, l, key, count, j, columns, state);
	}
}

/* A thread has a key, where each element has an index of its own. */
extern "C" __global__ void __launch_bounds__(256)
	exact_scatter_elements(ls_scatter s, ls_scatter_lists l)
{
	const int64_t keys = ls_scatter_keys(&s);
	for (int64_t key = first_thread(); key < keys; key += all_threads()) {
		const unsigned count = l.count[key];
		ls_sum_state state[LS_SCATTER_EACH] = {};
		if (count >= LS_SCATTER_MANY)
			continue;
		bounds(s, l.list + l.start[key], 0, count, 1, 0, 1, state);
		sums(s, l.list + l.start[key], 0, count, 1, 0, 1, state);
		write(s, l, key, count, 0, 1, state);
	}
}

/* All warps' states of the same columns. */
static __device__ __forceinline__ void combine(ls_sum_state state[LS_SCATTER_EACH],
					       ls_sum_state (*room)[LS_SCATTER_EACH * 32])
{
	const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	__syncthreads();
	for (int c = 0; c < LS_SCATTER_EACH; c++)
		room[warp][c * 32 + lane] = state[c];
	__syncthreads();
	for (int c = 0; c < LS_SCATTER_EACH; c++) {
		state[c] = room[0][c * 32 + lane];
		for (unsigned w = 1; w < blockDim.x / 32; w++)
			ls_team_combine(&state[c], room[w][c * 32 + lane], LS_TERM_SUM);
	}
}

/* A block has the columns of a key with many sources; its warps share these. */
extern "C" __global__ void __launch_bounds__(256)
	exact_scatter_many(ls_scatter s, ls_scatter_lists l)
{
	__shared__ ls_sum_state room[8][LS_SCATTER_EACH * 32];
	const int64_t columns = ls_scatter_columns(&s), a_warp = 32 * LS_SCATTER_EACH;
	const int64_t tiles = (columns + a_warp - 1) / a_warp;
	const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32;
	for (int64_t w = blockIdx.x; w < l.head->many * tiles; w += gridDim.x) {
		const int64_t key = l.many[w / tiles], j = w % tiles * a_warp + threadIdx.x % 32;
		const unsigned count = l.count[key];
		ls_sum_state state[LS_SCATTER_EACH] = {};
		bounds(s, l.list + l.start[key], warp, count, warps, j, columns, state);
		combine(state, room);
		sums(s, l.list + l.start[key], warp, count, warps, j, columns, state);
		combine(state, room);
		if (warp == 0)
			write(s, l, key, count, j, columns, state);
	}
}
