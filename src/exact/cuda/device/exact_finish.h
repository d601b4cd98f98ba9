/* From the sum of an element's products to its result: the last part of all kernels of
 * exact products. Device code; owns nothing. */
#ifndef LS_EXACT_CUDA_FINISH_H
#define LS_EXACT_CUDA_FINISH_H

#include "exact/cuda/device/exact_args.h"
#include "gpu/device.h"

#if defined(__CUDACC__) || defined(LS_SIMT)

static __device__ __forceinline__ float ls_finish_element(const ls_exact_place &x, int64_t batch,
							  int64_t i, int64_t j)
{
	int64_t at = batch * x.batch + i * x.row + j * x.column;
	if (x.type == LS_EXACT_IS_F32)
		return ((const float *)x.at)[at];
	uint16_t h = ((const uint16_t *)x.at)[at];
	return x.type == LS_EXACT_IS_BF16 ? ls_bf16_value(h) : ls_f16_value(h);
}

/* Not inlined: it is rare, and its loop would be in the kernel once for every register
 * of a sum. */
static __device__ __noinline__ double ls_finish_not_finite(const ls_exact_gemm *g, int64_t batch,
							   int64_t i, int64_t j)
{
	double t = 0;
	for (int64_t l = 0; l < g->k; l++)
		t += (double)ls_finish_element(g->x, batch, i, l) *
		     (double)ls_finish_element(g->y, batch, l, j);
	return t;
}

static __device__ __forceinline__ void ls_finish_put(const ls_exact_place &x, int64_t at, double t)
{
	if (x.type == LS_EXACT_IS_F32)
		((float *)x.at)[at] = ls_f32_from(t);
	else
		((uint16_t *)x.at)[at] =
			x.type == LS_EXACT_IS_BF16 ? ls_bf16_from(t) : ls_f16_from(t);
}

/* The product of an element from its sum, where the tops of its lines are known. */
static __device__ __forceinline__ double ls_finish_value(const ls_exact_gemm &g, int64_t batch,
							 int64_t i, int64_t j, int64_t sum,
							 uint32_t top_a, uint32_t top_b)
{
	if (top_a >= 0x7f800000u || top_b >= 0x7f800000u)
		return ls_finish_not_finite(&g, batch, i, j);
	return ls_grid_value(sum, ls_grid_exp(top_a) + ls_grid_exp(top_b) - 2 * g.bits);
}

/* alpha times it, and what is added. */
static __device__ __forceinline__ double ls_finish_sum(const ls_exact_gemm &g, int64_t batch,
						       int64_t i, int64_t j, double t)
{
	t = (double)g.alpha * t;
	if (g.c.at) {
		double term = (double)g.beta * (double)ls_finish_element(g.c, batch, i, j);
		t = t + term;
	}
	if (g.bias.at)
		t = t + (double)ls_finish_element(g.bias, batch, i, j);
	return t;
}

/* Where the depth takes several launches: adds to the words of the element, and tells
 * whether the value is known now. */
static __device__ __forceinline__ bool ls_finish_words(const ls_exact_gemm &g, int64_t at,
						       int64_t sum, uint32_t top_a, uint32_t top_b,
						       double *ret)
{
	const int64_t high = (g.first ? 0 : g.high[at]) + (sum >> LS_GRID_SPLIT);
	const int64_t low = (g.first ? 0 : g.low[at]) + (sum & ((1 << LS_GRID_SPLIT) - 1));
	g.high[at] = high;
	g.low[at] = low;
	*ret = ls_grid_value_wide(high, low, ls_grid_exp(top_a) + ls_grid_exp(top_b) - 2 * g.bits);
	return g.last;
}

static __device__ __forceinline__ void ls_finish_one(const ls_exact_gemm &g, int64_t batch,
						     int64_t i, int64_t j, int64_t sum)
{
	const uint32_t top_a = g.top_a[batch * g.top_a_batch + i],
		       top_b = g.top_b[batch * g.top_b_batch + j];
	double t;
	if (g.high) {
		if (!ls_finish_words(g, (batch * g.m + i) * g.n + j, sum, top_a, top_b, &t))
			return;
		if (top_a >= 0x7f800000u || top_b >= 0x7f800000u)
			t = ls_finish_not_finite(&g, batch, i, j);
	} else
		t = ls_finish_value(g, batch, i, j, sum, top_a, top_b);
	ls_finish_put(g.out, batch * g.out.batch + i * g.out.row + j * g.out.column,
		      ls_finish_sum(g, batch, i, j, t));
}

/* Tiles of the output in groups of eight rows of tiles, so that what blocks read at a time
 * stays in the second-level cache. */
static __device__ __forceinline__ void ls_finish_tile(const ls_exact_gemm &g, int64_t tile,
						      int tile_n, int64_t *ret_row,
						      int64_t *ret_column)
{
	const int64_t rows = (g.m + LS_EXACT_TILE_M - 1) / LS_EXACT_TILE_M;
	const int64_t columns = (g.n + tile_n - 1) / tile_n;
	const int64_t first = tile / (8 * columns) * 8,
		      height = rows - first < 8 ? rows - first : 8;
	const int64_t within = tile % (8 * columns);
	*ret_row = (first + within % height) * LS_EXACT_TILE_M;
	*ret_column = within / height * tile_n;
}

#endif

#endif
