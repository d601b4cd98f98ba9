/* Reductions over any dimensions of up to seven operands that are walked together, and
 * maps as the case of no reduced dimension: sums, means, variances, norms, extremes,
 * losses and their slopes (exact/terms.h). The caller owns all memory. C and CUDA alike:
 * the struct is the argument of the kernels too. */
#ifndef LS_EXACT_REDUCE_H
#define LS_EXACT_REDUCE_H

#include "exact/terms.h"

enum {
	LS_REDUCE_DIMS = 5, /* of each sort, once those that follow each other are one */
	LS_REDUCE_OUTS = 4,
	/* types of elements, numbered as enum ls_exact_type has them */
	LS_REDUCE_F32 = 0,
	LS_REDUCE_BF16,
	LS_REDUCE_F16,
	LS_REDUCE_I64 = 4
};

struct ls_reduce_in {
	const void *at; /* NULL: every element is fill */
	int type;
	float fill;
	int64_t kept[LS_REDUCE_DIMS], reduced[LS_REDUCE_DIMS]; /* strides, in elements */
};

struct ls_reduce_out {
	void *at; /* NULL: not wanted */
	int type;
	int64_t kept[LS_REDUCE_DIMS];
};

struct ls_reduce {
	int kind; /* enum ls_term */
	int kept_dims, reduced_dims;
	int64_t kept_size[LS_REDUCE_DIMS], reduced_size[LS_REDUCE_DIMS];
	int64_t kept, reduced; /* products of these */
	struct ls_reduce_in in[LS_TERM_OPERANDS];
	struct ls_reduce_out out[LS_REDUCE_OUTS];
	double number[2];
	struct ls_finish_conf finish;
};

/* Not inlined on a GPU, where divisions are long. */
#if defined(__CUDACC__)
#define LS_SLOW static __device__ __noinline__
#else
#define LS_SLOW static inline __attribute__((unused))
#endif

LS_SLOW int64_t ls_reduce_far(int64_t i, int dims, const int64_t *size, const int64_t *stride)
{
	int64_t at = 0;
	for (int d = dims - 1; d > 0; d--) {
		int64_t rest;
		if ((uint64_t)(i | size[d]) >> 32) {
			rest = i % size[d];
			i /= size[d];
		} else { /* a division of 32 bits is several times as fast */
			rest = (uint32_t)i % (uint32_t)size[d];
			i = (uint32_t)i / (uint32_t)size[d];
		}
		at += rest * stride[d];
	}
	return at + i * stride[0];
}

/* Where number i of these dimensions lies. */
LS_FN int64_t ls_reduce_offset(int64_t i, int dims, const int64_t *size, const int64_t *stride)
{
	if (dims > 1)
		return ls_reduce_far(i, dims, size, stride);
	return dims ? i * stride[0] : 0;
}

LS_FN float ls_reduce_get(const void *at, int type, int64_t i)
{
	if (type == LS_REDUCE_F32)
		return ((const float *)at)[i];
	if (type == LS_REDUCE_BF16)
		return ls_bf16_value(((const uint16_t *)at)[i]);
	return ls_f16_value(((const uint16_t *)at)[i]);
}

LS_FN void ls_reduce_put(void *at, int type, int64_t i, double t)
{
	if (type == LS_REDUCE_F32)
		((float *)at)[i] = ls_f32_from(t);
	else
		((uint16_t *)at)[i] = type == LS_REDUCE_BF16 ? ls_bf16_from(t) : ls_f16_from(t);
}

/* The results of output i from its state. */
LS_FN void ls_reduce_finish(const struct ls_reduce *r, int64_t i, const struct ls_sum_state *s)
{
	double value[4] = {0.0, 0.0, 0.0, 0.0};
	int64_t at[LS_REDUCE_OUTS];
	for (int k = 0; k < LS_REDUCE_OUTS; k++)
		at[k] = r->out[k].at
				? ls_reduce_offset(i, r->kept_dims, r->kept_size, r->out[k].kept)
				: 0;
	if (ls_term_is_index(r->kind)) {
		((int64_t *)r->out[0].at)[at[0]] = (int64_t)(~s->sum[0] & 0xffffffffu);
		return;
	}
	for (int k = 2; k < LS_REDUCE_OUTS; k++)
		if (r->out[k].at)
			value[k] = (double)ls_reduce_get(r->out[k].at, r->out[k].type, at[k]);
	if (ls_term_is_key(r->kind))
		value[0] = (double)ls_term_of_key(r->kind, s->top[0]);
	else
		ls_finish_of(r->kind, &r->finish, s, r->reduced, value);
	for (int k = 0; k < LS_REDUCE_OUTS; k++)
		if (r->out[k].at)
			ls_reduce_put(r->out[k].at, r->out[k].type, at[k], value[k]);
}

#endif
