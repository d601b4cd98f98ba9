/* Rows of an ffm: scores, and back (entries × entry_stride), which is P, or NULL for a score alone; each unordered pair
 * of entries once, in stored order. Part of kern.c, compiled with it for each instruction set. Owns nothing; workers
 * have disjoint rows. */
#ifndef LS_FM_KERN_FFM_H
#define LS_FM_KERN_FFM_H

#include <string.h>

#include "fm/kern_row.h"
#include "num/halve.h"

enum {
	FFM_ROWS = LS_WIDE > 4 ? 2 : 1, /* side by side: 2 where an addition takes more than the 2 cycles of an ARM's */
	LONG_RECORD = 24 * LINE,        /* from where on the hardware fetches the rest in time */
};

/* The next row's records, this output's part of them, into the second cache. First a line of each, all at once: one
 * whose page is not known holds up what comes after it, but pages are looked up side by side. */
INLINE void ask_pages(const struct ls_fm_model *m, const struct row *r, size_t offset)
{
	const float *at = offset ? m->record + offset : m->linear;
	size_t stride = ls_fm_stride(m);
	for (uint32_t i = 0; i < r->n_next; i++)
		__builtin_prefetch(at + r->next[i] * stride);
}

INLINE void ask_record(const struct ls_fm_model *m, const struct row *r, uint32_t i, size_t offset, uint32_t K)
{
	size_t size = (size_t)m->n_fields * K;
	if (i >= r->n_next || size > LONG_RECORD)
		return;
	const float *at = m->record + offset + r->next[i] * ls_fm_stride(m), *end = at + size;
	for (; at < end; at += LINE)
		__builtin_prefetch(at, 0, 2);
	__builtin_prefetch(end - 1, 0, 2);
}

/* R rows with one entry of each field, side by side, so that the sum of one does not wait for the other's. All pairs of
 * the first entry, then of the second: their records come to the first cache a line of each at a time. has_x, with_back
 * (false for scores alone) and R (1 with a back) are constants of the call. */
INLINE void ffm_once(const struct ls_fm_model *m, const struct row *r, uint32_t R, bool has_x, size_t offset,
		     uint32_t K, float *back, size_t entry_stride, bool with_back, ls_pack_f *total, ls_pack_s *top)
{
	const uint32_t line = K < LINE ? LINE / K : 1, n = r->n; /* entries whose parts are in one line of a record */
	const float *v[FFM_ROWS][MOST_POINTERS];
	size_t stride = ls_fm_stride(m);
	for (uint32_t k = 0; k < R; k++)
		for (uint32_t i = 0; i < n; i++)
			v[k][i] = m->record + offset + r[k].feature[i] * stride;
	for (uint32_t k = 0; k < R; k++)
		ask_pages(m, &r[k], offset);
	for (uint32_t i = 0; i < n; i++) {
		float *row = with_back ? back + i * entry_stride : NULL;
		if (with_back)
			memset(row + (size_t)i * K, 0, sizeof(float) * K);
		for (uint32_t k = 0; k < R; k++)
			ask_record(m, &r[k], i, offset, K);
		for (uint32_t j = i + 1; j < n && i % line == 0; j++)
			for (uint32_t k = 0; k < R; k++)
				__builtin_prefetch(v[k][j] + (size_t)(i + 2 * line) * K);
		for (uint32_t j = i + 1; j < n && i % line == 0 && with_back && r->crowd; j++)
			__builtin_prefetch(back + j * entry_stride + (size_t)(i + 2 * line) * K, 1);
		for (uint32_t j = i + 1; j < n; j++) {
			ls_pack_f *to_i = with_back ? (ls_pack_f *)(row + (size_t)j * K) : NULL;
			ls_pack_f *to_j = with_back ? (ls_pack_f *)(back + j * entry_stride + (size_t)i * K) : NULL;
			for (uint32_t k = 0; k < R; k++) {
				const ls_pack_f *a = (const ls_pack_f *)(v[k][i] + (size_t)j * K);
				const ls_pack_f *b = (const ls_pack_f *)(v[k][j] + (size_t)i * K);
				for (uint32_t c = 0; c < K / 4; c++) {
					ls_pack_f ax = has_x ? a[c] * r[k].x[i] : a[c];
					ls_pack_f bx = has_x ? b[c] * r[k].x[j] : b[c];
					total[k * K / 4 + c] += ax * bx;
					if (with_back) {
						*top = ls_pack_larger(
							*top, ls_pack_larger(ls_pack_size(ax), ls_pack_size(bx)));
						to_i[c] = bx;
						to_j[c] = ax;
					}
				}
			}
		}
	}
}

/* Pairs of entry i with all behind it, of any row. with_back is a constant of the call. */
INLINE void ffm_pairs(const struct ls_fm_model *m, const struct row *r, uint32_t i, size_t offset, uint32_t K,
		      float *back, size_t entry_stride, bool with_back, ls_pack_f *total)
{
	size_t stride = ls_fm_stride(m), at_i = (size_t)r->field[i] * K;
	const uint32_t *feature = r->feature, n = r->n;
	const uint16_t *field = r->field;
	const float *x = r->x, *record = m->record + offset, *vi = record + feature[i] * stride;
	float xi = x ? x[i] : 1.0f;
	for (uint32_t j = i + 1; j < n; j++) {
		size_t at_j = (size_t)field[j] * K;
		const ls_pack_f *a = (const ls_pack_f *)(vi + at_j);
		const ls_pack_f *b = (const ls_pack_f *)(record + feature[j] * stride + at_i);
		ls_pack_f *to_i = with_back ? (ls_pack_f *)(back + i * entry_stride + at_j) : NULL;
		ls_pack_f *to_j = with_back ? (ls_pack_f *)(back + j * entry_stride + at_i) : NULL;
		float xj = x ? x[j] : 1.0f;
		for (uint32_t c = 0; c < K / 4; c++) {
			ls_pack_f ax = a[c] * xi, bx = b[c] * xj;
			total[c] += ax * bx;
			if (with_back) {
				to_i[c] += bx;
				to_j[c] += ax;
			}
		}
	}
}

/* A row that is not like that: back is added to. */
INLINE void ffm_any(const struct ls_fm_model *m, const struct row *r, size_t offset, uint32_t K, float *back,
		    size_t entry_stride, ls_pack_f *total)
{
	for (uint32_t i = 0; i < r->n && back; i++)
		memset(back + i * entry_stride, 0, sizeof(float) * m->n_fields * K);
	ask_pages(m, r, offset);
	for (uint32_t i = 0; i < r->n; i++) {
		ask_record(m, r, i, offset, K);
		if (back)
			ffm_pairs(m, r, i, offset, K, back, entry_stride, true, total);
		else
			ffm_pairs(m, r, i, offset, K, NULL, 0, false, total);
	}
}

INLINE float ffm_halve(const ls_pack_f *total, uint32_t K)
{
	float t[MAX_K];
	memcpy(t, total, sizeof(float) * K);
	return ls_halve_sum(t, (int)K);
}

INLINE void clear_packs(ls_pack_f *total, uint32_t n)
{
	for (uint32_t c = 0; c < n; c++)
		total[c] = (ls_pack_f){0};
}

/* *top gets the largest |bits| of back. */
INLINE float ffm_output(const struct ls_fm_model *m, const struct row *r, uint32_t o, uint32_t K, float *back,
			size_t entry_stride, uint32_t *top)
{
	size_t block = (size_t)m->n_fields * K;
	ls_pack_f total[MAX_K / 4];
	ls_pack_s tops = {0};
	bool once = one_of_each_field(r, m->n_fields);
	clear_packs(total, K / 4);
	if (!once)
		ffm_any(m, r, o * block, K, back, entry_stride, total);
	else if (!back)
		ffm_once(m, r, 1, r->x, o * block, K, NULL, 0, false, total, &tops);
	else if (r->x)
		ffm_once(m, r, 1, true, o * block, K, back, entry_stride, true, total, &tops);
	else
		ffm_once(m, r, 1, false, o * block, K, back, entry_stride, true, total, &tops);
	for (uint32_t i = 0; i < r->n && back && !once; i++)
		*top = largest_bits(back + i * entry_stride, block, *top);
	for (int i = 0; i < 4; i++)
		*top = tops[i] / 2 > *top ? tops[i] / 2 : *top;
	return ffm_halve(total, K);
}

/* Scores alone of FFM_ROWS rows, if they all have one entry of each field; false, with nothing done, otherwise. With
 * more factors than 4 there is more than one sum in a row already. */
static uint32_t ffm_at_once(uint32_t K)
{
	return K == 4 ? FFM_ROWS : 1;
}

static bool ffm_rows(const struct ls_fm_model *m, const struct row *r, float *score)
{
	enum { K = 4 };
	for (uint32_t i = 0; i < FFM_ROWS; i++)
		if (!one_of_each_field(&r[i], m->n_fields) || !r[i].x != !r[0].x)
			return false;
	for (uint32_t o = 0; o < m->outputs; o++) {
		size_t offset = (size_t)o * m->n_fields * K;
		ls_pack_f total[FFM_ROWS];
		ls_pack_s none;
		clear_packs(total, FFM_ROWS);
		if (r->x)
			ffm_once(m, r, FFM_ROWS, true, offset, K, NULL, 0, false, total, &none);
		else
			ffm_once(m, r, FFM_ROWS, false, offset, K, NULL, 0, false, total, &none);
		for (uint32_t i = 0; i < FFM_ROWS; i++)
			score[i * m->outputs + o] = linear_score(m, &r[i], m->bias[o], o) + ffm_halve(&total[i], K);
	}
	return true;
}

#endif
