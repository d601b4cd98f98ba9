/* Operations on rows: softmax, layer, group and RMS normalisation, and their gradients.
 * Each takes a few passes over a row; here is what an element does in each of them, once
 * for CPU and GPU (docs/NUMERICS.md, "Sums and statistics"). The caller owns all memory.
 * Any thread; device code too. */
#ifndef LS_EXACT_ROWS_H
#define LS_EXACT_ROWS_H

#include "exact/reduce.h"

enum ls_row_kind {
	LS_ROW_SOFTMAX,
	LS_ROW_LOG_SOFTMAX,
	LS_ROW_LOGSUMEXP,        /* one result a row */
	LS_ROW_SOFTMAX_BACK,     /* g, y */
	LS_ROW_LOG_SOFTMAX_BACK, /* g, y */
	LS_ROW_NORM,             /* x; results also mean and 1/std */
	LS_ROW_RMS,              /* x; results also 1/rms */
	LS_ROW_NORM_BACK,        /* g, x, with mean and 1/std */
	LS_ROW_RMS_BACK,         /* g, x, with 1/rms */
	LS_ROW_CUMSUM,           /* x; the sums of all beginnings of the row */
	LS_ROW_KINDS
};

/* Row r = outer * inner + within, element j: at[outer * .outer + within * .within + j *
 * .step]. */
struct ls_rows_tensor {
	void *at;
	int type;
	int64_t outer, within, step;
};

/* Element i: at[i]; NULL: all of them are some constant, or not wanted. */
struct ls_rows_vector {
	void *at;
	int type;
};

struct ls_rows {
	int kind;
	int64_t rows, inner, n; /* n: elements of a row */
	struct ls_rows_tensor in[2], out;
	struct ls_rows_vector mean, inverse; /* of each row */
	struct ls_rows_vector weight, bias;  /* of each channel */
	int64_t groups, width; /* group norm: rows of a sample, elements of a channel */
	double eps;
};

LS_FN int ls_row_operands(int kind)
{
	return kind == LS_ROW_SOFTMAX_BACK || kind == LS_ROW_LOG_SOFTMAX_BACK ||
			       kind == LS_ROW_NORM_BACK || kind == LS_ROW_RMS_BACK
		       ? 2
		       : 1;
}

LS_FN int ls_row_is_softmax(int kind) /* forward */
{
	return kind <= LS_ROW_LOGSUMEXP;
}

LS_SLOW int64_t ls_row_group_channel(const struct ls_rows *r, int64_t row, int64_t j)
{
	return row % r->groups * (r->n / r->width) + j / r->width;
}

/* The channel of element j of row r. */
LS_FN int64_t ls_row_channel(const struct ls_rows *r, int64_t row, int64_t j)
{
	if (r->groups == 1 && r->width == 1)
		return j;
	return ls_row_group_channel(r, row, j);
}

LS_SLOW int64_t ls_row_start(const struct ls_rows *r, const struct ls_rows_tensor *x, int64_t row)
{
	return row / r->inner * x->outer + row % r->inner * x->within;
}

/* What a row has beside its elements, from one pass to the next. */
struct ls_row {
	double mean, inverse; /* of the normalised x */
	double first, second; /* what the sums have led to */
	float largest;        /* of softmax */
	int bad;              /* no element has a result: all are NaN */
};

/* --- the terms of an element: a, b are its operands, w its weight --- */

LS_FN int ls_row_sums(int kind)
{
	return kind == LS_ROW_NORM || kind == LS_ROW_NORM_BACK ? 2 : 1;
}

LS_FN void ls_row_terms(int kind, const struct ls_row *row, double pivot, float a, float b, float w,
			double *ret)
{
	double x = (double)a, y = (double)b, g = x * (double)w;
	ret[0] = x;
	if (kind == LS_ROW_SOFTMAX_BACK)
		ret[0] = x * y;
	else if (kind == LS_ROW_RMS)
		ret[0] = x * x;
	else if (kind == LS_ROW_NORM) {
		ret[0] = x - pivot;
		ret[1] = ret[0] * ret[0];
	} else if (kind == LS_ROW_NORM_BACK) {
		ret[0] = g;
		ret[1] = g * ls_normal(y, row->mean, row->inverse);
	} else if (kind == LS_ROW_RMS_BACK)
		ret[0] = g * (y * row->inverse);
}

/* e^(x - largest), which the sum of softmax and its result take. */
LS_FN float ls_row_exp(const struct ls_row *row, float x)
{
	return (float)ls_exp_d((double)x - (double)row->largest);
}

/* The grid of a sum of such powers: the largest is 1. */
LS_FN int ls_row_exp_grid(int64_t n)
{
	return ls_sum_grid(1, (uint64_t)n);
}

/* The term of exact/terms.h that has the same grids. */
LS_FN int ls_row_term(int kind)
{
	return kind == LS_ROW_NORM ? LS_TERM_MOMENTS : LS_TERM_PAIR;
}

/* --- from the sums to what the last pass needs --- */

/* After the largest key of a softmax. */
LS_FN void ls_row_set_largest(struct ls_row *row, uint32_t key)
{
	row->largest = ls_key_float(key);
	row->bad = (ls_bits_f(row->largest) & 0x7f800000u) == 0x7f800000u;
}

/* After its sum. */
LS_FN void ls_row_set_powers(int kind, struct ls_row *row, uint64_t sum, int64_t n)
{
	double t = ls_grid_value((int64_t)sum, -ls_row_exp_grid(n));
	row->first = kind == LS_ROW_SOFTMAX ? t : row->bad ? 0.0 : ls_log_d(t);
}

/* After the sums of all other kinds; the old mean and inverse are as they were read. */
LS_FN void ls_row_set_sums(const struct ls_rows *r, struct ls_row *row,
			   const struct ls_sum_state *s)
{
	struct ls_finish_conf f = {LS_AS_SUM, 1.0, r->eps, 0.0, 1.0};
	double value[4] = {0.0, 0.0, 0.0, 0.0}, n = (double)r->n;
	if (r->kind == LS_ROW_NORM) {
		f.how = LS_AS_NORM;
		f.divisor = n;
	}
	ls_finish_of(ls_row_term(r->kind), &f, s, r->n, value);
	if (r->kind == LS_ROW_NORM) {
		row->mean = (double)ls_f32_from(value[0]);
		row->inverse = (double)ls_f32_from(value[1]);
	} else if (r->kind == LS_ROW_RMS) {
		row->mean = 0.0;
		row->inverse = (double)ls_f32_from(1.0 / ls_sqrt_d(value[0] / n + r->eps));
	} else if (r->kind == LS_ROW_NORM_BACK) {
		row->first = value[0] / n;
		row->second = value[1] / n;
	} else if (r->kind == LS_ROW_RMS_BACK) {
		row->first = 0.0;
		row->second = value[0] / n;
	} else
		row->first = value[0];
}

/* --- sums of beginnings: one grid for the whole row, from its finite elements --- */

LS_FN uint32_t ls_row_finite_top(float x)
{
	uint32_t top = ls_term_top((double)x);
	return top == 0x7ff ? 0 : top;
}

/* What is not finite is in flags from its place on, so that its steps do no harm. */
LS_FN double ls_row_beginning(uint64_t sum, uint32_t flags, int p)
{
	return flags ? ls_flags_value(flags) : ls_grid_value((int64_t)sum, -p);
}

/* --- the result of an element --- */

LS_FN double ls_row_result(int kind, const struct ls_row *row, float a, float b, float w,
			   float bias)
{
	double x = (double)a, y = (double)b, normal;
	switch (kind) {
	case LS_ROW_SOFTMAX: /* a: the power, ls_row_exp */
		normal = x / row->first;
		break;
	case LS_ROW_LOG_SOFTMAX:
		normal = (x - (double)row->largest) - row->first;
		break;
	case LS_ROW_SOFTMAX_BACK:
		return y * (x - row->first);
	case LS_ROW_LOG_SOFTMAX_BACK:
		return x - ls_exp_d(y) * row->first;
	case LS_ROW_NORM:
	case LS_ROW_RMS:
		return ls_normal(x, row->mean, row->inverse) * (double)w + (double)bias;
	default: /* the gradients of norms */
		normal = ls_normal(y, row->mean, row->inverse);
		return row->inverse * ((x * (double)w - row->first) - normal * row->second);
	}
	return row->bad ? ls_d_bits(0x7ff8000000000000u) : normal;
}

/* Of LS_ROW_LOGSUMEXP. */
LS_FN double ls_row_logsumexp(const struct ls_row *row)
{
	return row->bad ? (double)row->largest : (double)row->largest + row->first;
}

#endif
