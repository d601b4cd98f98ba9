/* Sums and largest values over a team: a warp (TEAM is 32) or a block (LS_TEAM_BLOCK).
 * Device code; a kernel owns the shared memory. Every thread of a team calls, and every
 * one gets the result. */
#ifndef LS_EXACT_CUDA_TEAM_H
#define LS_EXACT_CUDA_TEAM_H

#include "exact/terms.h"

#if defined(__CUDACC__) || defined(LS_SIMT)

enum { LS_TEAM_BLOCK = 0, LS_TEAM_MOST_WARPS = 32 };

struct ls_team_room {
	ls_sum_state state[LS_TEAM_MOST_WARPS];
};

template <int TEAM> static __device__ __forceinline__ unsigned ls_team_size()
{
	return TEAM == 32 ? 32 : blockDim.x;
}

template <int TEAM> static __device__ __forceinline__ unsigned ls_team_thread()
{
	return TEAM == 32 ? threadIdx.x % 32 : threadIdx.x;
}

static __device__ __forceinline__ uint32_t ls_team_larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static __device__ __forceinline__ uint64_t ls_team_shuffle(uint64_t v, int by)
{
	return (uint64_t)__shfl_xor_sync(0xffffffffu, (unsigned long long)v, by);
}

/* Bounds by max and or, sums by addition; of an extreme the sum, which has its key, by
 * max. */
static __device__ __forceinline__ void ls_team_combine(ls_sum_state *s, const ls_sum_state &o,
						       int kind)
{
	for (int k = 0; k < 2; k++) {
		s->top[k] = ls_team_larger(s->top[k], o.top[k]);
		if (!ls_term_is_key(kind))
			s->sum[k] += o.sum[k];
		else if (o.sum[k] > s->sum[k])
			s->sum[k] = o.sum[k];
	}
	s->flags |= o.flags;
}

static __device__ __forceinline__ void ls_warp_bounds(ls_sum_state *s, int kind)
{
	for (int by = 16; by; by /= 2) {
		s->top[0] = ls_team_larger(s->top[0], __shfl_xor_sync(0xffffffffu, s->top[0], by));
		s->top[1] = ls_team_larger(s->top[1], __shfl_xor_sync(0xffffffffu, s->top[1], by));
		s->flags |= __shfl_xor_sync(0xffffffffu, s->flags, by);
		if (ls_term_is_key(kind)) {
			uint64_t o = ls_team_shuffle(s->sum[0], by);
			s->sum[0] = o > s->sum[0] ? o : s->sum[0];
		}
	}
}

static __device__ __forceinline__ void ls_warp_sums(ls_sum_state *s, int sums)
{
	for (int by = 16; by; by /= 2)
		for (int k = 0; k < sums; k++)
			s->sum[k] += ls_team_shuffle(s->sum[k], by);
}

/* What each warp has, of all warps of the block. */
static __device__ __forceinline__ void ls_block_combine(ls_sum_state *s, int kind,
							ls_team_room *room)
{
	__syncthreads(); /* an earlier result has been read */
	if (threadIdx.x % 32 == 0)
		room->state[threadIdx.x / 32] = *s;
	__syncthreads();
	*s = room->state[0];
	for (unsigned w = 1; w < blockDim.x / 32; w++)
		ls_team_combine(s, room->state[w], kind);
}

/* sum is 0 before, but for an extreme. */
template <int TEAM>
static __device__ __forceinline__ void ls_team_bounds(ls_sum_state *s, int kind, ls_team_room *room)
{
	ls_warp_bounds(s, kind);
	if (TEAM == LS_TEAM_BLOCK)
		ls_block_combine(s, kind, room);
}

template <int TEAM>
static __device__ __forceinline__ void ls_team_sums(ls_sum_state *s, int sums, ls_team_room *room)
{
	ls_warp_sums(s, sums);
	if (TEAM == LS_TEAM_BLOCK)
		ls_block_combine(s, LS_TERM_SUM, room);
}

#endif

#endif
