/* Rows of an fm. back (K floats) gets the sum of the entries' vectors, by which the
 * backward pass multiplies. Included by kern.c alone. Owns nothing; workers have disjoint
 * rows. */
#ifndef LS_FM_CPU_KERN_KERN_FM_INL_H
#define LS_FM_CPU_KERN_KERN_FM_INL_H

#include "fm/cpu/kern/kern_row.inl.h"
#include "num/halve.h"

/* K sums and sums of squares. With K a compile-time constant they are registers. */
struct fm_sums {
	float line;
	ls_mid_f32 sum[MAX_K / LS_MID], square[MAX_K / LS_MID];
	ls_simd_f32 last, last_square; /* of a K that is no multiple of LS_MID */
};

INLINE void fm_clear(struct fm_sums *s, float bias, uint32_t K)
{
	s->line = bias;
	s->last = s->last_square = (ls_simd_f32){0};
	for (uint32_t c = 0; c < K / LS_MID; c++)
		s->sum[c] = s->square[c] = (ls_mid_f32){0};
}

/* An entry: its linear weight, K factors, value. */
INLINE void fm_add(struct fm_sums *s, float weight, const float *v, float x, uint32_t K)
{
	s->line += weight * x;
	for (uint32_t c = 0; c < K / LS_MID; c++)
		LS_CELL_ADD(s->sum[c], s->square[c], ((const ls_mid_f32 *)v)[c], x);
	if (K % LS_MID)
		LS_CELL_ADD(s->last, s->last_square, *(const ls_simd_f32 *)(v + K - 4), x);
}

/* back gets the sums, if it is not NULL. */
INLINE float fm_score(const struct fm_sums *s, uint32_t K, float *back)
{
	float t[MAX_K];
	for (uint32_t c = 0; c < K / LS_MID; c++) {
		if (back)
			*(ls_mid_f32 *)(back + LS_MID * c) = s->sum[c];
		*(ls_mid_f32 *)(t + LS_MID * c) = s->sum[c] * s->sum[c] - s->square[c];
	}
	if (K % LS_MID) {
		if (back)
			*(ls_simd_f32 *)(back + K - 4) = s->last;
		*(ls_simd_f32 *)(t + K - 4) = s->last * s->last - s->last_square;
	}
	return s->line + 0.5f * ls_halve_sum(t, (int)K);
}

/* x is r->x: NULL as a compile-time constant if it is NULL. */
INLINE float fm_output(const struct ls_fm_model *m, const struct row *r, const float *x, float bias,
		       uint32_t o, uint32_t K, float *back)
{
	const size_t stride = ls_fm_stride(m), room = ls_fm_linear_room(m);
	struct fm_sums s;
	fm_clear(&s, bias, K);
	for (uint32_t i = 0; i < r->n; i++) {
		const float *linear = m->linear + r->feature[i] * stride;
		prefetch_next(r, i, m->linear, stride, room + K);
		fm_add(&s, linear[o], linear + room + (size_t)o * K, x ? x[i] : 1.0f, K);
	}
	return fm_score(&s, K, back);
}

#endif
