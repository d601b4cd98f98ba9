/* What the kernels of all kinds share: groups of lanes, four factors a lane, and a
 * column's way from sums to update. Device code only, empty for the C compiler. Owns
 * nothing.
 *
 * A group of G lanes (a power of two) has a vector of padded factors: lane l those of
 * chunk l, l + G, …; a chunk is four neighbours. Halving then is: lanes at distance h / 4
 * while h >= 4, and the last two steps within a chunk. */
#ifndef LS_FM_CUDA_DEVICE_CUDA_LANE_H
#define LS_FM_CUDA_DEVICE_CUDA_LANE_H

#include "fm/cuda/device/cuda_args.h"
#include "fm/model/cell.h"
#include "fm/model/grids.h"
#include "gpu/device.h"
#include "num/halve.h"

#if defined(__CUDACC__) || defined(LS_SIMT)

#if defined(__CUDACC__)
#define LS_DEVICE static __device__ __forceinline__
#else
#define LS_DEVICE static inline
#endif

LS_DEVICE uint32_t lane_of(void)
{
	return threadIdx.x % 32;
}

/* The lanes of this thread's group, as warp functions want them. */
template <int G> LS_DEVICE uint32_t group_mask(void)
{
	return G == 32 ? 0xffffffffu : ((1u << (G % 32)) - 1) << (lane_of() & ~(uint32_t)(G - 1));
}

LS_DEVICE uint32_t top_of(float x, uint32_t so_far)
{
	uint32_t u = ls_bits_f(x) & 0x7fffffffu;
	return u > so_far ? u : so_far;
}

LS_DEVICE uint32_t top_of4(float4 v, uint32_t so_far)
{
	return top_of(v.w, top_of(v.z, top_of(v.y, top_of(v.x, so_far))));
}

LS_DEVICE bool is_infinite(uint32_t top)
{
	return top >= 0x7f800000u;
}

LS_DEVICE float4 zero4(void)
{
	return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

LS_DEVICE float4 load4(const float *p)
{
	LS_ALIGNED(p);
	return *(const float4 *)p;
}

LS_DEVICE void store4(float *p, float4 v)
{
	LS_ALIGNED(p);
	*(float4 *)p = v;
}

LS_DEVICE float4 scale4(float4 a, float x)
{
	return make_float4(a.x * x, a.y * x, a.z * x, a.w * x);
}

LS_DEVICE float4 times4(float4 a, float4 b)
{
	return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}

LS_DEVICE float4 plus4(float4 a, float4 b)
{
	return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

LS_DEVICE float4 minus4(float4 a, float4 b)
{
	return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}

LS_DEVICE float4 fma4(float4 a, float4 b, float4 c)
{
	return make_float4(ls_fmaf(a.x, b.x, c.x), ls_fmaf(a.y, b.y, c.y), ls_fmaf(a.z, b.z, c.z),
			   ls_fmaf(a.w, b.w, c.w));
}

LS_DEVICE float4 all4(float x)
{
	return make_float4(x, x, x, x);
}

/* An entry's part in the sums of a row. */
LS_DEVICE void add4(float4 *s, float4 *q, float4 v, float x)
{
	LS_CELL_ADD(s->x, q->x, v.x, x);
	LS_CELL_ADD(s->y, q->y, v.y, x);
	LS_CELL_ADD(s->z, q->z, v.z, x);
	LS_CELL_ADD(s->w, q->w, v.w, x);
}

LS_DEVICE float4 shuffle_xor4(uint32_t mask, float4 v, int distance, int width)
{
	return make_float4(__shfl_xor_sync(mask, v.x, distance, width),
			   __shfl_xor_sync(mask, v.y, distance, width),
			   __shfl_xor_sync(mask, v.z, distance, width),
			   __shfl_xor_sync(mask, v.w, distance, width));
}

LS_DEVICE float4 shuffle4(uint32_t mask, float4 v, int from, int width)
{
	return make_float4(__shfl_sync(mask, v.x, from, width), __shfl_sync(mask, v.y, from, width),
			   __shfl_sync(mask, v.z, from, width),
			   __shfl_sync(mask, v.w, from, width));
}

/* ls_halve_sum over a group: t the lane's first chunk, t2 its second (chunk + 32; zero
 * unless there are more than 128 factors). Lane 0 gets the result, as do the others whose
 * chunks are part of it: those beyond padded / 4 do not. */
template <int G> LS_DEVICE float halve_group(float4 t, float4 t2, uint32_t padded)
{
	int width = ls_halve_width((int)padded), h = width / 8;
	if (h > 16) {
		t = plus4(t, t2);
		h = 16;
	}
	for (; h > 0; h /= 2)
		t = plus4(t, shuffle_xor4(group_mask<G>(), t, h, G));
	return ls_halve_4(t.x, t.y, t.z, t.w);
}

template <int G> LS_DEVICE uint64_t sum_group(uint64_t v)
{
	for (int h = G / 2; h > 0; h /= 2)
		v += __shfl_xor_sync(group_mask<G>(), v, h, G);
	return v;
}

LS_DEVICE void note_bad(const struct ls_cuda_args &a, uint64_t row)
{
	atomicMin((unsigned long long *)&a.state->bad_row,
		  (unsigned long long)(a.number ? a.number[row] : row));
}

/* An entry's value: x[i] times scale, or scale where x is NULL. */
LS_DEVICE float entry_x(const float *x, float scale, uint32_t i)
{
	return x ? x[i] * scale : scale;
}

/* One row's entries, as the kernels of a kind see them. KNOWN says that the model has
 * every feature and field. */
struct row_view {
	const uint32_t *feature;
	const uint16_t *field;
	const float *x;
	float scale;
	uint32_t n;
};

/* A step's batch: its rows in the epoch's order. */
struct batch {
	const uint32_t *pick;
	const struct ls_cuda_span *span;
	const uint32_t *first;
	uint32_t rows;
};

LS_DEVICE struct batch batch_at(const struct ls_cuda_args &a, uint64_t step)
{
	uint64_t at = step * a.batch, left = a.state->rows - at;
	struct batch t = {a.sort.pick + at, a.sort.span + at, a.sort.first + at,
			  left < a.batch ? (uint32_t)left : a.batch};
	return t;
}

LS_DEVICE struct batch batch_of(const struct ls_cuda_args &a)
{
	return batch_at(a, a.state->base + a.index);
}

LS_DEVICE struct row_view batch_row(const struct ls_cuda_args &a, const struct batch &t, uint32_t b)
{
	uint2 span = *(const uint2 *)&t.span[b];
	struct row_view r = {a.in_feature + span.x,
			     a.in_field ? a.in_field + span.x : (const uint16_t *)0,
			     a.x ? a.x + span.x : (const float *)0, 1.0f, span.y};
	return r;
}

/* A batch's features in lists by number of entries, with their counts. The lists of
 * several steps follow each other; each has room for what its entries can need. */
struct batch_lists {
	uint32_t *counts, *heavy_parts;
	struct ls_cuda_task *light[LS_CUDA_LISTS], *task;
};

LS_DEVICE struct batch_lists lists_of(const struct ls_cuda_args &a, uint32_t index,
				      const struct batch &t)
{
	const struct ls_cuda_sort &s = a.sort;
	uint32_t before = t.first[0] - s.first[a.state->base * a.batch];
	struct batch_lists l = {s.counts + index * LS_SORT_COUNTS,
				s.heavy_parts + before / a.chunk + index,
				{s.light[0] + before, s.light[1] + before / 2,
				 s.light[2] + before / (LS_CUDA_FEW + 1)},
				s.task + before / (LS_CUDA_SOME + 1) + before / a.chunk + index};
	return l;
}

template <bool KNOWN>
LS_DEVICE bool is_known(const struct ls_cuda_args &a, const struct row_view &r, uint32_t i)
{
	return KNOWN ||
	       (r.feature[i] < a.n_features && (!r.field || !a.fields || r.field[i] < a.fields));
}

/* Its length is that of the entries that the model knows. */
LS_DEVICE float known_scale(const struct ls_cuda_args &a, const struct row_view &r)
{
	float sum = 0.0f;
	for (uint32_t i = 0; i < r.n; i++)
		if (is_known<false>(a, r, i))
			sum += ls_cell_square(r.x, i);
	return ls_cell_scale(sum);
}

/* Row r of the rows to predict. */
LS_DEVICE struct row_view predict_row(const struct ls_cuda_args &a, uint64_t r)
{
	uint64_t first = a.start[r] - a.start[0];
	struct row_view v = {a.in_feature + first,
			     a.in_field ? a.in_field + first : (const uint16_t *)0,
			     a.in_value ? a.in_value + first : (const float *)0, 1.0f,
			     (uint32_t)(a.start[r + 1] - a.start[r])};
	v.scale = a.normalize ? known_scale(a, v) : 1.0f;
	return v;
}

/* Bias and weights in stored order; every lane that calls gets the same. */
template <bool KNOWN>
LS_DEVICE float linear_score(const struct ls_cuda_args &a, const struct row_view &r, uint32_t o)
{
	uint64_t stride = (uint64_t)a.outputs * (1 + a.states);
	float sum = a.bias[o];
	for (uint32_t i = 0; i < r.n; i++)
		if (is_known<KNOWN>(a, r, i))
			sum += a.linear[r.feature[i] * stride + o] * entry_x(r.x, r.scale, i);
	return sum;
}

/* Largest |bits| of what a thread has seen of its rows, in the order of LS_TOP_…. */
struct row_tops {
	uint32_t slope, value, back, sums, loss;
};

LS_DEVICE uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* The largest over the block into the step's state; shared has LS_TOPS words. All threads
 * call. */
LS_DEVICE void note_tops(const struct ls_cuda_args &a, const struct row_tops &top, uint32_t *shared)
{
	uint32_t mine[LS_TOPS] = {top.slope, top.value, top.back, top.sums, top.loss};
	if (threadIdx.x < LS_TOPS)
		shared[threadIdx.x] = 0;
	__syncthreads();
#pragma unroll
	for (int i = 0; i < LS_TOPS; i++) {
		for (int h = 16; h > 0; h /= 2)
			mine[i] = larger(mine[i], __shfl_xor_sync(0xffffffffu, mine[i], h));
		if (lane_of() == 0)
			atomicMax(&shared[i], mine[i]);
	}
	__syncthreads();
	if (threadIdx.x < LS_TOPS &&
	    shared[threadIdx.x] > *(volatile uint32_t *)&a.state->top[threadIdx.x])
		atomicMax(&a.state->top[threadIdx.x], shared[threadIdx.x]);
}

/* The largest |x| of the batch, a share of it by each thread. */
LS_DEVICE void note_values(const struct ls_cuda_args &a, const struct batch &t,
			   struct row_tops *top)
{
	uint32_t end = a.x ? t.first[t.rows] : t.first[0];
	for (uint32_t e = t.first[0] + blockIdx.x * blockDim.x + threadIdx.x; e < end;
	     e += gridDim.x * blockDim.x)
		top->value = top_of(a.sort.by_x[e], top->value);
}

/* What the loss needs of a row, loaded before the scores are computed, to hide the
 * latency. */
struct row_end {
	uint64_t row; /* in the data */
	float label, weight;
};

LS_DEVICE struct row_end begin_row(const struct ls_cuda_args &a, const struct batch &t, uint32_t b)
{
	uint64_t row = t.pick[b];
	struct row_end e = {row, a.label[row], a.weight ? a.weight[row] : 1.0f};
	if (a.n_class_weights)
		e.weight *= a.class_weight[ls_cell_class(a.task, e.label)];
	return e;
}

/* Loss and slopes of batch row b from its scores (in memory, or `one` of a single
 * output): one lane calls. */
LS_DEVICE void end_row(const struct ls_cuda_args &a, const struct row_end &e, uint32_t b, float one,
		       struct row_tops *top)
{
	float *score = a.score + (uint64_t)b * a.outputs,
	      *slope = a.slope + (uint64_t)b * a.outputs, loss, g;
	uint32_t slopes = 0;
	if (a.outputs == 1) {
		loss = ls_cell_row_loss(a.task, a.soft, &one, 1, e.label, e.weight, &g);
		slope[0] = g;
		slopes = top_of(g, 0);
	} else {
		loss = ls_cell_row_loss(a.task, a.soft, score, a.outputs, e.label, e.weight, slope);
		for (uint32_t o = 0; o < a.outputs; o++)
			slopes = top_of(slope[o], slopes);
	}
	a.loss[b] = loss;
	top->loss = top_of(loss, top->loss);
	top->slope = larger(slopes, top->slope);
	if (is_infinite(top_of(loss, slopes)))
		note_bad(a, e.row);
}

#endif
#endif
