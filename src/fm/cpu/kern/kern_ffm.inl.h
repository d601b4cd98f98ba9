/* Rows of an ffm: scores, and back (entries × entry_stride), which is P, or NULL for a score alone;
 * each unordered pair of entries once, in stored order. Part of kern.c, compiled with it for each
 * instruction set. Owns nothing; workers have disjoint rows. */
#ifndef LS_FM_CPU_KERN_KERN_FFM_INL_H
#define LS_FM_CPU_KERN_KERN_FFM_INL_H

#include <string.h>

#include "fm/cpu/kern/kern_row.inl.h"
#include "num/halve.h"

enum {
	FFM_ROWS = LS_WIDE > 4 ? 2 : 1, /* side by side: with AVX2, where an addition takes 3 or 4
					   cycles, an ARM's 2 */
	LONG_RECORD = 24 * LINE,        /* from where on the hardware fetches the rest in time */
	FFM_AHEAD = 80, /* lines of each row that are asked for before they are wanted */
};
#if defined(__aarch64__)
static const bool FIRST_HAS_ROOM = true;
#else
static const bool FIRST_HAS_ROOM = false;
#endif
_Static_assert((int)FFM_ROWS <= (int)LS_KERN_ROWS, "rows side by side");

/* The next row's records, this output's part of them. First a line of each, all at once: one whose
 * page is not known holds up what comes after it, but pages are looked up side by side. */
INLINE void ask_pages(const struct ls_fm_model *m, const struct row *r, size_t offset)
{
	const float *at = offset ? m->record + offset : m->linear;
	size_t stride = ls_fm_stride(m);
	for (uint32_t i = 0; i < r->n_next; i++)
		__builtin_prefetch(at + r->next[i] * stride);
}

INLINE void ask_for(const float *at, bool first)
{
	if (first)
		__builtin_prefetch(at, 0, 3);
	else
		__builtin_prefetch(at, 0, 2);
}

/* Whether the first cache, an ARM's of 64 KiB, has room for the next row beside this one: if
 * factors are few, and scores all that is wanted. On a Xeon it cost a twentieth. */
INLINE bool near(uint32_t K, bool back)
{
	return FIRST_HAS_ROOM && K == 4 && !back;
}

/* Then all of them: into the first cache, if `first`, or else into the second. */
INLINE void ask_record(const struct ls_fm_model *m, const struct row *r, uint32_t i, size_t offset,
		       uint32_t K, bool first)
{
	size_t size = (size_t)m->n_fields * K;
	if (i >= r->n_next || size > LONG_RECORD)
		return;
	const float *at = m->record + offset + r->next[i] * ls_fm_stride(m), *end = at + size;
	STRAIGHT
	for (; at < end; at += LINE)
		ask_for(at, first);
	ask_for(end - 1, first);
}

/* Where a row's records are, this output's part of them. */
INLINE void find_records(const struct ls_fm_model *m, const struct row *r, size_t offset,
			 const float **ret_v)
{
	const float *first = m->record + offset;
	size_t stride = ls_fm_stride(m);
	for (uint32_t i = 0; i < r->n; i++)
		ret_v[i] = first + r->feature[i] * stride;
}

/* Entry i of the next row, and the lines that the entries behind i will need soon. */
INLINE void ask_ahead(const struct ls_fm_model *m, const struct row *r, const float *const *v,
		      uint32_t i, size_t offset, uint32_t K, bool back)
{
	const uint32_t line =
		K < LINE ? LINE / K : 1; /* entries whose parts are in one line of a record */
	ask_record(m, r, i, offset, K, near(K, back));
	for (uint32_t j = i + 1; j < r->n && i % line == 0; j++)
		__builtin_prefetch(v[j] + (size_t)(i + 2 * line) * K);
}

/* Adds the product of two entries' vectors to total; to_i and to_j, if not NULL, get what the
 * backward pass needs. */
INLINE void ffm_pair(const float *vi, const float *vj, float xi, float xj, bool has_x, uint32_t K,
		     float *to_i, float *to_j, ls_pack_f *total, ls_pack_s *top)
{
	const ls_pack_f *a = (const ls_pack_f *)vi, *b = (const ls_pack_f *)vj;
	for (uint32_t c = 0; c < K / 4; c++) {
		ls_pack_f ax = has_x ? a[c] * xi : a[c], bx = has_x ? b[c] * xj : b[c];
		total[c] += ax * bx;
		if (to_i) {
			*top = ls_pack_larger(*top,
					      ls_pack_larger(ls_pack_size(ax), ls_pack_size(bx)));
			((ls_pack_f *)to_i)[c] = bx;
			((ls_pack_f *)to_j)[c] = ax;
		}
	}
}

/* The score alone of a row with one entry of each field. All pairs of the first entry, then of the
 * second: their records come to the first cache a line of each at a time. */
INLINE void ffm_once(const struct ls_fm_model *m, const struct row *r, size_t offset, uint32_t K,
		     ls_pack_f *total)
{
	const float *v[MOST_POINTERS], *x = r->x;
	const uint32_t n = r->n;
	find_records(m, r, offset, v);
	ask_pages(m, r, offset);
	for (uint32_t i = 0; i < n; i++) {
		ask_ahead(m, r, v, i, offset, K, false);
		STRAIGHT
		for (uint32_t j = i + 1; j < n; j++)
			ffm_pair(v[i] + (size_t)j * K, v[j] + (size_t)i * K, x ? x[i] : 1.0f,
				 x ? x[j] : 1.0f, x, K, NULL, NULL, total, NULL);
	}
}

/* --- scores alone, of rows side by side that have one entry of each field --- */

/* A line of a row's records: of which entry, and how many floats behind its factors' beginning. */
struct ffm_line {
	uint16_t entry, at;
};

enum { MOST_ENTRIES = LONG_RECORD / 4, LINES_A_TURN = 2, PAIRS_A_TURN = 4 };

/* The lines of a row's records with K = 4, in the order that its pairs, taken in stored order, want
 * them first; then the first `ahead` of them again, as entries of the row that comes after it: n in
 * all. Behind them is what turns ask for too much. Of records that are long, none. */
struct ffm_order {
	uint32_t n, ahead;
	struct ffm_line line[MOST_ENTRIES * (LONG_RECORD / LINE + 3) + FFM_AHEAD];
};

INLINE void add_line(struct ffm_order *o, uint32_t entry, uint32_t field)
{
	o->line[o->n++] = (struct ffm_line){(uint16_t)entry, (uint16_t)(4 * field)};
}

/* Fields that are in one line of a record: first .. end - 1; where all records begin at the same
 * place in theirs, as those of one output do if they are whole lines. Elsewhere some lines come
 * when they are wanted. */
INLINE uint32_t line_end(const struct ls_fm_model *m, uint32_t first)
{
	uint32_t before = (uint32_t)ls_fm_linear_room(m) / 4,
		 end = (first + before) / 4 * 4 + 4 - before;
	return end < m->n_fields ? end : m->n_fields;
}

/* Entry i, of fields first .. end - 1, with all behind it; the first of them wants of these the
 * line of its field, which holds what the others want of each other, too. */
INLINE void add_pairs(const struct ls_fm_model *m, struct ffm_order *o, uint32_t i, uint32_t first,
		      uint32_t end)
{
	for (uint32_t f = i == first ? first : end, f_end; f < m->n_fields; f = f_end) {
		f_end = line_end(m, f);
		add_line(o, i, f);
		for (uint32_t j = f < end ? first + 1 : f; i == first && j < f_end; j++)
			add_line(o, j, first);
	}
}

INLINE void ffm_find_order(const struct ls_fm_model *m, struct ffm_order *o)
{
	const uint32_t n = m->n_fields <= MOST_ENTRIES ? m->n_fields : 0;
	uint32_t turns = 0;
	*o = (struct ffm_order){.n = 0};
	for (uint32_t first = 0, end; first < n; first = end) {
		end = line_end(m, first);
		for (uint32_t i = first; i < end; i++)
			add_pairs(m, o, i, first, end);
	}
	o->ahead = o->n < FFM_AHEAD ? o->n : FFM_AHEAD;
	for (uint32_t i = 0; i < o->ahead; i++)
		add_line(o, o->line[i].entry + n, o->line[i].at / 4);
	for (uint32_t i = 0; i < n; i++)
		turns += i / PAIRS_A_TURN + 1;
	for (uint32_t i = o->n; i < o->ahead + LINES_A_TURN * turns; i++)
		o->line[i] = o->line[o->n - 1];
}

/* The lines of a turn; returns those of the next. */
INLINE const struct ffm_line *ask_lines(const struct ffm_line *l,
					const float *(*v)[2 * MOST_POINTERS], size_t n)
{
	STRAIGHT
	for (size_t i = 0; i < LINES_A_TURN; i++)
		for (uint32_t k = 0; k < FFM_ROWS; k++)
			__builtin_prefetch(v[k][l[i].entry] + l[i].at);
	return l + n;
}

/* Entries i and j of each of FFM_ROWS rows. */
INLINE void ffm_pair_each(const float *(*v)[2 * MOST_POINTERS], const struct row *r, size_t i,
			  size_t j, bool has_x, uint32_t K, ls_pack_f *total)
{
	for (uint32_t k = 0; k < FFM_ROWS; k++)
		ffm_pair(v[k][i] + j * K, v[k][j] + i * K, has_x ? r[k].x[i] : 1.0f,
			 has_x ? r[k].x[j] : 1.0f, has_x, K, NULL, NULL, total + k * K / 4, NULL);
}

/* So that the sum of one row does not wait for the other's. Their lines come straight to the first
 * cache, a few at a time and not long before they are wanted: pairs that want what is in the second
 * wait behind all that is under way. */
INLINE void ffm_beside(const struct ls_fm_model *m, const struct row *r, bool has_x, size_t offset,
		       uint32_t K, const struct ffm_order *o, ls_pack_f *total)
{
	const float *v[FFM_ROWS][2 * MOST_POINTERS], *first = m->record + offset;
	const uint32_t *after = rows_after(r, FFM_ROWS);
	const size_t n = r->n, stride = ls_fm_stride(m);
	const size_t lines = o->n ? LINES_A_TURN : 0;
	const struct ffm_line *line = o->line + o->ahead;
	for (size_t k = 0; k < FFM_ROWS; k++)
		for (size_t i = 0; i < n; i++) {
			v[k][i] = first + r[k].feature[i] * stride;
			v[k][n + i] = first + after[k * n + i] * stride;
		}
	for (size_t i = 0; i < n; i++) {
		size_t j = i + 1;
		for (; j + PAIRS_A_TURN <= n; j += PAIRS_A_TURN) {
			line = ask_lines(line, v, lines);
			STRAIGHT
			for (size_t f = 0; f < PAIRS_A_TURN; f++)
				ffm_pair_each(v, r, i, j + f, has_x, K, total);
		}
		line = ask_lines(line, v, lines);
		for (; j < n; j++)
			ffm_pair_each(v, r, i, j, has_x, K, total);
	}
	while (line < o->line + o->n)
		line = ask_lines(line, v, lines);
}

/* The lines that the back of the next row's entry i will be in, into the second cache; if it is a
 * row like this one. */
INLINE void ask_back(const struct row *r, uint32_t i, uint32_t K, const float *back,
		     size_t entry_stride)
{
	if (r->far && i < r->n_next)
		for (size_t at = 0; at < (size_t)r->n * K; at += LINE)
			__builtin_prefetch(back + (r->n + i) * entry_stride + at, 0, 2);
}

/* One such row, with its back. has_x is a constant of the call. */
INLINE void ffm_once_back(const struct ls_fm_model *m, const struct row *r, bool has_x,
			  size_t offset, uint32_t K, float *back, size_t entry_stride,
			  ls_pack_f *total, ls_pack_s *top)
{
	const float *v[MOST_POINTERS], *x = r->x;
	const uint32_t line = K < LINE ? LINE / K : 1, n = r->n;
	find_records(m, r, offset, v);
	ask_pages(m, r, offset);
	for (uint32_t i = 0; i < n; i++) {
		const float *vi = v[i], xi = has_x ? x[i] : 1.0f;
		float *row = back + i * entry_stride;
		memset(row + (size_t)i * K, 0, sizeof(float) * K);
		ask_ahead(m, r, v, i, offset, K, true);
		ask_back(r, i, K, back, entry_stride);
		for (uint32_t j = i + 1; j < n && i % line == 0 && r->crowd; j++)
			__builtin_prefetch(back + j * entry_stride + (size_t)(i + 2 * line) * K, 1);
		for (uint32_t j = i + 1; j < n; j++)
			ffm_pair(vi + (size_t)j * K, v[j] + (size_t)i * K, xi, has_x ? x[j] : 1.0f,
				 has_x, K, row + (size_t)j * K,
				 back + j * entry_stride + (size_t)i * K, total, top);
	}
}

/* Pairs of entry i with all behind it, of any row. with_back is a constant of the call. */
INLINE void ffm_pairs(const struct ls_fm_model *m, const struct row *r, uint32_t i, size_t offset,
		      uint32_t K, float *back, size_t entry_stride, bool with_back,
		      ls_pack_f *total)
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
INLINE void ffm_any(const struct ls_fm_model *m, const struct row *r, size_t offset, uint32_t K,
		    float *back, size_t entry_stride, ls_pack_f *total)
{
	for (uint32_t i = 0; i < r->n && back; i++)
		memset(back + i * entry_stride, 0, sizeof(float) * m->n_fields * K);
	ask_pages(m, r, offset);
	for (uint32_t i = 0; i < r->n; i++) {
		ask_record(m, r, i, offset, K, near(K, back));
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
INLINE float ffm_output(const struct ls_fm_model *m, const struct row *r, uint32_t o, uint32_t K,
			float *back, size_t entry_stride, uint32_t *top)
{
	size_t block = (size_t)m->n_fields * K;
	ls_pack_f total[MAX_K / 4];
	ls_pack_s tops = {0};
	bool once = one_of_each_field(r, m->n_fields);
	clear_packs(total, K / 4);
	if (!once)
		ffm_any(m, r, o * block, K, back, entry_stride, total);
	else if (!back)
		ffm_once(m, r, o * block, K, total);
	else if (r->x)
		ffm_once_back(m, r, true, o * block, K, back, entry_stride, total, &tops);
	else
		ffm_once_back(m, r, false, o * block, K, back, entry_stride, total, &tops);
	for (uint32_t i = 0; i < r->n && back && !once; i++)
		*top = largest_bits(back + i * entry_stride, block, *top);
	for (int i = 0; i < 4; i++)
		*top = tops[i] / 2 > *top ? tops[i] / 2 : *top;
	return ffm_halve(total, K);
}

/* Scores alone, of rows side by side. How many: with more factors than 4 a row has more than one
 * sum already. */
static inline uint32_t ffm_at_once(uint32_t K)
{
	return K == 4 ? FFM_ROWS : 1;
}

/* Of FFM_ROWS rows, if they are alike and have one entry of each field; false, with nothing done,
 * otherwise. */
static inline bool ffm_rows(const struct ls_fm_model *m, const struct row *r,
			    const struct ffm_order *order, float *score)
{
	enum { K = 4 };
	if (!rows_alike(r, FFM_ROWS))
		return false;
	for (uint32_t i = 0; i < FFM_ROWS; i++)
		if (!one_of_each_field(&r[i], m->n_fields))
			return false;
	for (uint32_t o = 0; o < m->outputs; o++) {
		ls_pack_f total[FFM_ROWS];
		clear_packs(total, FFM_ROWS);
		if (r->x)
			ffm_beside(m, r, true, (size_t)o * m->n_fields * K, K, order, total);
		else
			ffm_beside(m, r, false, (size_t)o * m->n_fields * K, K, order, total);
		for (uint32_t i = 0; i < FFM_ROWS; i++)
			score[i * m->outputs + o] =
				linear_score(m, &r[i], m->bias[o], o) + ffm_halve(&total[i], K);
	}
	return true;
}

#endif
