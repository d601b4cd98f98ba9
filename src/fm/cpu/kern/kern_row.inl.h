/* A row, as the parts of kern.c see it. Included by kern.c alone; owns nothing; any
 * thread. */
#ifndef LS_FM_CPU_KERN_KERN_ROW_INL_H
#define LS_FM_CPU_KERN_KERN_ROW_INL_H

#include "fm/cpu/kern/kern.h"

/* One row: borrowed arrays. x is NULL when every value is 1. */
struct row {
	const uint32_t *feature;
	const uint16_t *field;
	const float *x;
	uint32_t n;
	/* features of a row that comes soon, to be prefetched; n_next may be 0 */
	const uint32_t *next;
	uint32_t n_next;
};

INLINE float row_x(const struct row *r, uint32_t i)
{
	return r->x ? r->x[i] : 1.0f;
}

/* The largest |bits| among n floats and so_far. */
static inline uint32_t largest_bits(const float *t, size_t n, uint32_t so_far)
{
	uint32_t top = so_far;
	for (size_t i = 0; i < n; i++) {
		uint32_t u = ls_bits_f(t[i]) & 0x7fffffffu;
		top = u > top ? u : top;
	}
	return top;
}

/* The largest exponent among n floats and so_far. */
static inline int largest_exp(const float *t, size_t n, int so_far)
{
	int e = ls_exp_of(ls_f_bits(largest_bits(t, n, 0)));
	return e > so_far ? e : so_far;
}

/* Prefetches the ends of a record, whose last float is number `last`. The hardware
 * prefetches the rest of a long one. */
INLINE void prefetch_record(const float *at, size_t last)
{
	__builtin_prefetch(at);
	__builtin_prefetch(at + last);
}

/* Prefetches the record of entry i of the next row. */
INLINE void prefetch_next(const struct row *r, uint32_t i, const float *linear, size_t stride,
			  size_t size)
{
	if (i < r->n_next) {
		prefetch_record(linear + r->next[i] * stride, size - 1);
	}
}

/* Linear part: bias, then the row's entries in stored order. */
INLINE float linear_score(const struct ls_fm_model *m, const struct row *r, float bias, uint32_t o)
{
	size_t stride = ls_fm_stride(m);
	const float *weight = m->linear + o;
	float sum = bias;
	for (uint32_t i = 0; i < r->n; i++) {
		sum += weight[r->feature[i] * stride] * row_x(r, i);
	}
	return sum;
}

/* --- rows side by side, for prediction --- */

/* Whether n rows have equally many entries, which follow each other in memory, and either
 * all have values or none has. */
INLINE bool rows_alike(const struct row *r, uint32_t n)
{
	for (uint32_t k = 1; k < n; k++)
		if (r[k].n != r->n || r[k].feature != r->feature + (size_t)k * r->n ||
		    !r[k].x != !r->x)
			return false;
	return true;
}

/* The features of the n rows after these, whose records can be prefetched; or their own,
 * if those rows have fewer entries. */
INLINE const uint32_t *rows_after(const struct row *r, uint32_t n)
{
	const struct row *last = &r[n - 1];
	bool some = r->n_next && last->n_next &&
		    (size_t)(last->next + last->n_next - r->next) >= (size_t)n * r->n;
	return some ? r->next : r->feature;
}

/* --- rows with one entry of each field, in order --- */

enum { MOST_POINTERS = 256 };

INLINE bool one_of_each_field(const struct row *r, uint32_t n_fields)
{
	const uint16_t *field = r->field;
	uint16_t other = 0;
	if (r->n != n_fields || n_fields > MOST_POINTERS)
		return false;
	for (uint16_t i = 0; i < (uint16_t)n_fields; i++)
		other |= field[i] ^ i;
	return !other;
}

#endif
