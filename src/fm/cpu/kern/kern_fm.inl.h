/* Rows of an fm: scores, and back (K floats), which is what the entries' factors add up to and what
 * the backward pass multiplies by. Part of kern.c, compiled with it for each instruction set. Owns
 * nothing; workers have disjoint rows.
 */
#ifndef LS_FM_CPU_KERN_KERN_FM_INL_H
#define LS_FM_CPU_KERN_KERN_FM_INL_H

#include "fm/cpu/kern/kern_row.inl.h"
#include "num/halve.h"

/* Floats of sums and squares of all rows side by side: as the registers have room for. (An ARM's
 * addition takes 2 cycles, and nobody has measured what it would gain.) */
enum { FM_FEW = 4, FM_FLOATS = LS_WIDE > 4 ? 4 * LS_WIDE : 0 };
_Static_assert((int)FM_FEW <= (int)LS_KERN_ROWS, "rows side by side");

/* K sums and sums of squares. K is a constant of the calls where it pays, and then they are
 * registers. */
struct fm_sums {
	float line;
	ls_mid_f sum[MAX_K / LS_MID], square[MAX_K / LS_MID];
	ls_pack_f last, last_square; /* of a K that is no multiple of LS_MID */
};

INLINE void fm_clear(struct fm_sums *s, float bias, uint32_t K)
{
	s->line = bias;
	s->last = s->last_square = (ls_pack_f){0};
	for (uint32_t c = 0; c < K / LS_MID; c++)
		s->sum[c] = s->square[c] = (ls_mid_f){0};
}

/* An entry: its linear weight, K factors, value. */
INLINE void fm_add(struct fm_sums *s, float weight, const float *v, float x, uint32_t K)
{
	s->line += weight * x;
	for (uint32_t c = 0; c < K / LS_MID; c++)
		LS_CELL_ADD(s->sum[c], s->square[c], ((const ls_mid_f *)v)[c], x);
	if (K % LS_MID)
		LS_CELL_ADD(s->last, s->last_square, *(const ls_pack_f *)(v + K - 4), x);
}

/* back gets the sums, if it is not NULL. */
INLINE float fm_score(const struct fm_sums *s, uint32_t K, float *back)
{
	float t[MAX_K];
	for (uint32_t c = 0; c < K / LS_MID; c++) {
		if (back)
			*(ls_mid_f *)(back + LS_MID * c) = s->sum[c];
		*(ls_mid_f *)(t + LS_MID * c) = s->sum[c] * s->sum[c] - s->square[c];
	}
	if (K % LS_MID) {
		if (back)
			*(ls_pack_f *)(back + K - 4) = s->last;
		*(ls_pack_f *)(t + K - 4) = s->last * s->last - s->last_square;
	}
	return s->line + 0.5f * ls_halve_sum(t, (int)K);
}

/* x is r's: NULL as a constant of the call where it is NULL. */
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

/* --- scores alone, of rows side by side --- */

static inline uint32_t fm_at_once(uint32_t K)
{
	bool several = FM_FLOATS > 0 && (K == 4 || K == 8 || K == 16);
	return !several ? 1 : FM_FLOATS / K < FM_FEW ? FM_FLOATS / K : FM_FEW;
}

/* R rows that are alike, an entry of each in turn. R and has_x are constants of the call. */
INLINE void fm_beside(const struct ls_fm_model *m, const struct row *r, uint32_t R, bool has_x,
		      uint32_t o, uint32_t K, float *score)
{
	const size_t stride = ls_fm_stride(m), factors = ls_fm_linear_room(m) + (size_t)o * K;
	const float *base = m->linear;
	const uint32_t *feature = r->feature, *after = rows_after(r, R), n = r->n;
	struct fm_sums s[FM_FEW];
	for (uint32_t k = 0; k < R; k++)
		fm_clear(&s[k], m->bias[o], K);
	for (uint32_t i = 0; i < n; i++) {
		STRAIGHT
		for (uint32_t k = 0; k < R; k++) {
			size_t entry = i + (size_t)k * n;
			const float *at = base + feature[entry] * stride;
			ask_for_record(base + after[entry] * stride, factors + K - 1);
			fm_add(&s[k], at[o], at + factors, has_x ? r[k].x[i] : 1.0f, K);
		}
	}
	for (uint32_t k = 0; k < R; k++)
		score[k * m->outputs + o] = fm_score(&s[k], K, NULL);
}

INLINE void fm_all_outputs(const struct ls_fm_model *m, const struct row *r, uint32_t K,
			   float *score)
{
	for (uint32_t o = 0; o < m->outputs; o++)
		if (r->x)
			fm_beside(m, r, fm_at_once(K), true, o, K, score);
		else
			fm_beside(m, r, fm_at_once(K), false, o, K, score);
}

/* Of fm_at_once rows, if they are alike; false, with nothing done, otherwise. */
static inline bool fm_rows(const struct ls_fm_model *m, const struct row *r, float *score)
{
	if (!rows_alike(r, fm_at_once(m->padded)))
		return false;
	if (m->padded == 4)
		fm_all_outputs(m, r, 4, score);
	else if (m->padded == 8)
		fm_all_outputs(m, r, 8, score);
	else
		fm_all_outputs(m, r, 16, score);
	return true;
}

#endif
