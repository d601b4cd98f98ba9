/* The CPU's loops over rows and columns, around the formulas of cell.h. This file is compiled once for each instruction
 * set (LS_KERN_NAME, see cmake/fm.cmake) and every build gives the same bytes: lanes are independent, float sums over a
 * row follow its stored order, sums over a batch are integers.
 *
 * Where it pays, K (padded factors) is a constant of the call (4, 8, 16, 32), so that lanes stay in registers. */
#include <string.h>

#include "fm/kern.h"
#include "num/halve.h"

#ifndef LS_KERN_NAME
#define LS_KERN_NAME baseline
#endif
#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)
#define TEXT2(a)     #a
#define TEXT(a)      TEXT2(a)

/* One row: borrowed arrays. x is NULL when every value is 1. */
struct row {
	const uint32_t *feature;
	const uint16_t *field;
	const float *x;
	uint32_t n;
	const uint32_t *next; /* features of the row after it, to ask memory for on the way; n_next may be 0 */
	uint32_t n_next;
	bool crowd; /* see step.h */
};

INLINE float row_x(const struct row *r, uint32_t i)
{
	return r->x ? r->x[i] : 1.0f;
}

/* The largest |bits| among n floats and so_far. */
static uint32_t largest_bits(const float *t, size_t n, uint32_t so_far)
{
	uint32_t top = so_far;
	for (size_t i = 0; i < n; i++) {
		uint32_t u = ls_bits_f(t[i]) & 0x7fffffffu;
		top = u > top ? u : top;
	}
	return top;
}

/* The largest exponent among n floats and so_far. */
static int largest_exp(const float *t, size_t n, int so_far)
{
	int e = ls_exp_of(ls_f_bits(largest_bits(t, n, 0)));
	return e > so_far ? e : so_far;
}

/* Asks for the factors that entry i of the next row will need; a long record is fetched by the hardware from there on.
 */
INLINE void prefetch_next(const struct row *r, uint32_t i, const float *linear, size_t stride, size_t size)
{
	if (i < r->n_next) {
		const float *at = linear + r->next[i] * stride;
		__builtin_prefetch(at);
		__builtin_prefetch(at + size - 1);
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

/* --- fm: s (K floats) is what the entries' factors add up to, and what the backward pass multiplies by --- */

/* x is r's: NULL as a constant of the call where it is NULL. */
INLINE float fm_output(const struct ls_fm_model *m, const struct row *r, const float *x, float bias, uint32_t o,
		       uint32_t K, float *s)
{
	size_t stride = ls_fm_stride(m), room = ls_fm_linear_room(m);
	float line = bias;
	ls_mid_f sum[MAX_K / LS_MID], square[MAX_K / LS_MID];
	ls_pack_f last = {0}, last_square = {0}; /* of a K that is no multiple of LS_MID */
	float t[MAX_K];
	for (uint32_t c = 0; c < K / LS_MID; c++)
		sum[c] = square[c] = (ls_mid_f){0};
	for (uint32_t i = 0; i < r->n; i++) {
		const float *linear = m->linear + r->feature[i] * stride, *v = linear + room + (size_t)o * K;
		float xi = x ? x[i] : 1.0f;
		prefetch_next(r, i, m->linear, stride, room + K);
		line += linear[o] * xi;
		for (uint32_t c = 0; c < K / LS_MID; c++)
			LS_CELL_ADD(sum[c], square[c], ((const ls_mid_f *)v)[c], xi);
		if (K % LS_MID)
			LS_CELL_ADD(last, last_square, *(const ls_pack_f *)(v + K - 4), xi);
	}
	for (uint32_t c = 0; c < K / LS_MID; c++) {
		*(ls_mid_f *)(s + LS_MID * c) = sum[c];
		*(ls_mid_f *)(t + LS_MID * c) = sum[c] * sum[c] - square[c];
	}
	if (K % LS_MID) {
		*(ls_pack_f *)(s + K - 4) = last;
		*(ls_pack_f *)(t + K - 4) = last * last - last_square;
	}
	return line + 0.5f * ls_halve_sum(t, (int)K);
}

/* --- rows with one entry of each field, in order --- */

enum { MOST_POINTERS = 256 };

INLINE bool one_of_each_field(const struct row *r, uint32_t n_fields)
{
	uint32_t i = 0;
	while (i < r->n && r->field[i] == i)
		i++;
	return i == r->n && r->n == n_fields && r->n <= MOST_POINTERS;
}

/* --- fwfm: sums (fields × K) are U, own (fields × K) is W, back (fields × K) is D, or NULL for a score alone --- */

enum { FWFM_FEW = 4 }; /* fields at a time */

/* K lanes. K is a constant of the calls where it pays, and then they are registers. */
struct lanes {
	ls_mid_f most[MAX_K / LS_MID];
	ls_pack_f last; /* of a K that is no multiple of LS_MID */
};

INLINE void clear_lanes(struct lanes *d, uint32_t K)
{
	for (uint32_t c = 0; c < K / LS_MID; c++)
		d->most[c] = (ls_mid_f){0};
	d->last = (ls_pack_f){0};
}

/* d = d + u weight, by fma. */
INLINE void add_scaled(struct lanes *d, const float *u, float weight, uint32_t K)
{
	for (uint32_t c = 0; c < K / LS_MID; c++)
		d->most[c] = ls_mid_fma(((const ls_mid_f *)u)[c], ls_mid_all(weight), d->most[c]);
	if (K % LS_MID)
		d->last = ls_pack_fma(*(const ls_pack_f *)(u + K - 4), ls_pack_all(weight), d->last);
}

/* total = total + u e, by fma. */
INLINE void add_product(struct lanes *total, const float *u, const struct lanes *e, uint32_t K)
{
	for (uint32_t c = 0; c < K / LS_MID; c++)
		total->most[c] = ls_mid_fma(((const ls_mid_f *)u)[c], e->most[c], total->most[c]);
	if (K % LS_MID)
		total->last = ls_pack_fma(*(const ls_pack_f *)(u + K - 4), e->last, total->last);
}

INLINE void store_lanes(float *to, const struct lanes *d, uint32_t K)
{
	for (uint32_t c = 0; c < K / LS_MID; c++)
		((ls_mid_f *)to)[c] = d->most[c];
	if (K % LS_MID)
		*(ls_pack_f *)(to + K - 4) = d->last;
}

/* U and W of any row; returns the linear part, from `bias` on. */
INLINE float fwfm_sums(const struct ls_fm_model *m, const struct row *r, float bias, uint32_t o, uint32_t K,
		       float *sums, float *own)
{
	size_t stride = ls_fm_stride(m), size = ls_fm_linear_room(m) + (size_t)m->outputs * K;
	float line = bias;
	memset(sums, 0, sizeof(float) * m->n_fields * K);
	memset(own, 0, sizeof(float) * m->n_fields * K);
	for (uint32_t i = 0; i < r->n; i++) {
		const ls_pack_f *v = (const ls_pack_f *)(m->record + r->feature[i] * stride + (size_t)o * K);
		ls_pack_f *u = (ls_pack_f *)(sums + (size_t)r->field[i] * K);
		ls_pack_f *w = (ls_pack_f *)(own + (size_t)r->field[i] * K);
		float x = row_x(r, i);
		if (o == 0)
			prefetch_next(r, i, m->linear, stride, size);
		line += m->linear[r->feature[i] * stride + o] * x;
		for (uint32_t c = 0; c < K / 4; c++)
			LS_CELL_JOIN(u[c], w[c], v[c], x, ls_pack_join);
	}
	return line;
}

/* The same of a row with one entry of each field: W is 0, and not written. x is r's: NULL as a constant of the call
 * where it is NULL. */
INLINE float fwfm_sums_once(const struct ls_fm_model *m, const struct row *r, const float *x, float bias, uint32_t o,
			    uint32_t K, float *sums)
{
	size_t stride = ls_fm_stride(m), size = ls_fm_linear_room(m) + (size_t)m->outputs * K;
	float line = bias;
	for (uint32_t i = 0; i < r->n; i++) {
		const float *linear = m->linear + r->feature[i] * stride, xi = x ? x[i] : 1.0f;
		const ls_pack_f *v = (const ls_pack_f *)(linear + ls_fm_linear_room(m) + (size_t)o * K);
		ls_pack_f *u = (ls_pack_f *)(sums + (size_t)i * K);
		if (o == 0)
			prefetch_next(r, i, m->linear, stride, size);
		line += linear[o] * xi;
		for (uint32_t c = 0; c < K / 4; c++)
			u[c] = (ls_pack_f){0} + (x ? v[c] * xi : v[c]); /* as if added: never -0 */
	}
	return line;
}

/* n fields from f on. E_f = sum over fields g < f, ascending, of r(g,f) U_g, and *total gets U_f E_f, in the order of
 * fields; D_f goes on from E_f over the other g. Weights lie side by side for neighbours f where g is less, otherwise
 * for neighbours g. n and with_back are constants of the call. */
INLINE void fwfm_fields(const struct ls_fm_model *m, uint32_t o, uint32_t f, uint32_t n, uint32_t K, const float *sums,
			float *back, bool with_back, struct lanes *total)
{
	const uint32_t fields = m->n_fields;
	const float *pair = m->pair + (size_t)o * m->n_pairs, *earlier = pair + f, *later[FWFM_FEW];
	struct lanes d[FWFM_FEW];
	for (uint32_t i = 0; i < n; i++) {
		clear_lanes(&d[i], K);
		later[i] = pair + ls_fm_pair_index(fields, f + i, 0);
	}
	for (uint32_t g = 0; g < f; earlier += fields - ++g)
		for (uint32_t i = 0; i < n; i++)
			add_scaled(&d[i], sums + (size_t)g * K, earlier[i], K);
	STRAIGHT
	for (uint32_t h = 0; h < n; h++) { /* field f + h */
		const float *u = sums + (size_t)(f + h) * K;
		add_product(total, u, &d[h], K);
		STRAIGHT
		for (uint32_t i = with_back ? 0 : h + 1; i < n; i++)
			add_scaled(&d[i], u, i < h ? later[i][f + h] : later[h][f + i], K);
	}
	for (uint32_t g = f + n; g < fields && with_back; g++)
		for (uint32_t i = 0; i < n; i++)
			add_scaled(&d[i], sums + (size_t)g * K, later[i][g], K);
	for (uint32_t i = 0; i < n && with_back; i++)
		store_lanes(back + (size_t)(f + i) * K, &d[i], K);
}

INLINE void fwfm_all_fields(const struct ls_fm_model *m, uint32_t o, uint32_t K, const float *sums, float *back,
			    bool with_back, struct lanes *total)
{
	bool few = K <= 16; /* the lanes of so many fields fit into registers */
	uint32_t f = 0, alone = few ? m->n_fields % FWFM_FEW : m->n_fields;
	for (; f < alone; f++)
		fwfm_fields(m, o, f, 1, K, sums, back, with_back, total);
	for (; f < m->n_fields; f += FWFM_FEW)
		fwfm_fields(m, o, f, FWFM_FEW, K, sums, back, with_back, total);
}

/* The sum over fields, ascending, of r(f,f) W_f, of the four lanes that own begins with. */
INLINE ls_pack_f fwfm_own(const struct ls_fm_model *m, uint32_t o, const float *own, uint32_t K)
{
	ls_pack_f sum = {0};
	for (uint32_t f = 0; f < m->n_fields; f++)
		sum = ls_pack_join(*(const ls_pack_f *)(own + (size_t)f * K), ls_pack_all(fwfm_weight(m, o, f, f)),
				   sum);
	return sum;
}

/* The sums of a row, whatever it is like; returns its linear part. own is filled for rows that may need it, and if
 * `all`. */
INLINE float fwfm_entries(const struct ls_fm_model *m, const struct row *r, bool once, bool all, float bias, uint32_t o,
			  uint32_t K, float *sums, float *own)
{
	if (!once)
		return fwfm_sums(m, r, bias, o, K, sums, own);
	if (all)
		memset(own, 0, sizeof(float) * m->n_fields * K);
	return r->x ? fwfm_sums_once(m, r, r->x, bias, o, K, sums) : fwfm_sums_once(m, r, NULL, bias, o, K, sums);
}

/* score = linear part + halve(sum over f of U_f E_f + sum over f of r(f,f) W_f). */
INLINE float fwfm_output(const struct ls_fm_model *m, const struct row *r, float bias, uint32_t o, uint32_t K,
			 float *sums, float *own, float *back)
{
	struct lanes total;
	float t[MAX_K];
	bool once = one_of_each_field(r, m->n_fields);
	float line = fwfm_entries(m, r, once, back != NULL, bias, o, K, sums, own);
	clear_lanes(&total, K);
	if (back)
		fwfm_all_fields(m, o, K, sums, back, true, &total);
	else
		fwfm_all_fields(m, o, K, sums, NULL, false, &total);
	store_lanes(t, &total, K);
	for (uint32_t c = 0; c < K; c += 4)
		*(ls_pack_f *)(t + c) += once ? (ls_pack_f){0} : fwfm_own(m, o, own + c, K);
	return line + ls_halve_sum(t, (int)K);
}

/* --- ffm: back (entries × entry_stride) is P; each unordered pair of entries once, in stored order --- */

enum { LONG_RECORD = 24 * LINE }; /* from where on the hardware fetches the rest in time */

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

/* A row with one entry of each field. All pairs of the first entry, then of the second: its records come to the first
 * cache a line of each at a time. with_back is a constant of the call: false for a score alone. */
INLINE void ffm_once(const struct ls_fm_model *m, const struct row *r, const float *x, size_t offset, uint32_t K,
		     float *back, size_t entry_stride, bool with_back, ls_pack_f *total, ls_pack_s *top)
{
	const uint32_t line = K < LINE ? LINE / K : 1, n = r->n; /* entries whose parts are in one line of a record */
	const float *v[MOST_POINTERS];
	size_t stride = ls_fm_stride(m);
	for (uint32_t i = 0; i < n; i++)
		v[i] = m->record + offset + r->feature[i] * stride;
	ask_pages(m, r, offset);
	for (uint32_t i = 0; i < n; i++) {
		const float *vi = v[i];
		float *row = with_back ? back + i * entry_stride : NULL, xi = x ? x[i] : 1.0f;
		if (with_back)
			memset(row + (size_t)i * K, 0, sizeof(float) * K);
		ask_record(m, r, i, offset, K);
		for (uint32_t j = i + 1; j < n && i % line == 0; j++)
			__builtin_prefetch(v[j] + (size_t)(i + 2 * line) * K);
		for (uint32_t j = i + 1; j < n && i % line == 0 && with_back && r->crowd; j++)
			__builtin_prefetch(back + j * entry_stride + (size_t)(i + 2 * line) * K, 1);
		for (uint32_t j = i + 1; j < n; j++) {
			const ls_pack_f *a = (const ls_pack_f *)(vi + (size_t)j * K);
			const ls_pack_f *b = (const ls_pack_f *)(v[j] + (size_t)i * K);
			ls_pack_f *to_i = with_back ? (ls_pack_f *)(row + (size_t)j * K) : NULL;
			ls_pack_f *to_j = with_back ? (ls_pack_f *)(back + j * entry_stride + (size_t)i * K) : NULL;
			float xj = x ? x[j] : 1.0f;
			for (uint32_t c = 0; c < K / 4; c++) {
				ls_pack_f ax = x ? a[c] * xi : a[c], bx = x ? b[c] * xj : b[c];
				total[c] += ax * bx;
				if (with_back) {
					*top = ls_pack_larger(*top, ls_pack_larger(ls_pack_size(ax), ls_pack_size(bx)));
					to_i[c] = bx;
					to_j[c] = ax;
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

/* *top gets the largest |bits| of back. */
INLINE float ffm_output(const struct ls_fm_model *m, const struct row *r, uint32_t o, uint32_t K, float *back,
			size_t entry_stride, uint32_t *top)
{
	size_t block = (size_t)m->n_fields * K;
	ls_pack_f total[MAX_K / 4];
	ls_pack_s tops = {0};
	float t[MAX_K];
	for (uint32_t c = 0; c < K / 4; c++)
		total[c] = (ls_pack_f){0};
	if (one_of_each_field(r, m->n_fields)) {
		if (!back)
			ffm_once(m, r, r->x, o * block, K, NULL, 0, false, total, &tops);
		else if (r->x)
			ffm_once(m, r, r->x, o * block, K, back, entry_stride, true, total, &tops);
		else
			ffm_once(m, r, NULL, o * block, K, back, entry_stride, true, total, &tops);
	} else {
		for (uint32_t i = 0; i < r->n && back; i++)
			memset(back + i * entry_stride, 0, sizeof(float) * block);
		ask_pages(m, r, o * block);
		for (uint32_t i = 0; i < r->n; i++) {
			ask_record(m, r, i, o * block, K);
			if (back)
				ffm_pairs(m, r, i, o * block, K, back, entry_stride, true, total);
			else
				ffm_pairs(m, r, i, o * block, K, NULL, 0, false, total);
		}
		for (uint32_t i = 0; i < r->n && back; i++)
			*top = largest_bits(back + i * entry_stride, block, *top);
	}
	for (int i = 0; i < 4; i++)
		*top = tops[i] / 2 > *top ? tops[i] / 2 : *top;
	memcpy(t, total, sizeof(float) * K);
	return ls_halve_sum(t, (int)K);
}

/* --- a row: all outputs --- */

/* Where a row's intermediate results go; for prediction all of it is scratch. */
struct place {
	float *back, *sums, *own;
	size_t entry_stride;
	uint32_t top; /* ffm: the largest |bits| of back */
};

INLINE void row_outputs(const struct ls_fm_model *m, const struct row *r, const float *bias, uint32_t K,
			struct place *at, float *score)
{
	size_t each = m->opts.kind == LS_FM ? K : (size_t)m->n_fields * K;
	for (uint32_t o = 0; o < m->outputs; o++) {
		if (m->opts.kind == LS_FM && !r->x)
			score[o] = fm_output(m, r, NULL, bias[o], o, K, at->back + o * each);
		else if (m->opts.kind == LS_FM)
			score[o] = fm_output(m, r, r->x, bias[o], o, K, at->back + o * each);
		else if (m->opts.kind == LS_FWFM)
			score[o] = fwfm_output(m, r, bias[o], o, K, at->sums + o * each, at->own + o * each,
					       at->back ? at->back + o * each : NULL);
		else
			score[o] = linear_score(m, r, bias[o], o) + ffm_output(m, r, o, K,
									       at->back ? at->back + o * each : NULL,
									       at->entry_stride, &at->top);
	}
}

static void row_outputs_any(const struct ls_fm_model *m, const struct row *r, const float *bias, struct place *at,
			    float *score)
{
	switch (m->padded) {
	case 4:
		row_outputs(m, r, bias, 4, at, score);
		break;
	case 8:
		row_outputs(m, r, bias, 8, at, score);
		break;
	case 16:
		row_outputs(m, r, bias, 16, at, score);
		break;
	case 32:
		row_outputs(m, r, bias, 32, at, score);
		break;
	default:
		row_outputs(m, r, bias, m->padded, at, score);
	}
}

/* --- forward --- */

/* What the backward pass needs to know of a row's entries. */
INLINE void note_row(struct ls_step *st, uint32_t b, const struct ls_row_place *at, uint32_t entry)
{
	uint32_t *restrict row_of = st->row_of + entry;
	for (uint32_t i = 0; i < at->n && !ls_keys_are_rows(st); i++)
		row_of[i] = b;
	if (st->field)
		memcpy(st->field + entry, st->rows->field + at->first, at->n * sizeof *st->field);
}

/* The largest exponents, and the first row that is not finite. */
INLINE void note_exps(struct ls_worker *w, uint64_t row, const struct ls_exps *e)
{
	if (e->slope == LS_EXP_INF || e->back == LS_EXP_INF || e->sums == LS_EXP_INF || e->loss == LS_EXP_INF)
		w->bad_row = row < w->bad_row ? row : w->bad_row;
	ls_exps_max(&w->exps, e);
}

/* The exponent that bounds fwfm's U, and by its double W. */
INLINE int sums_exp(const struct place *at, size_t n)
{
	return ls_exps_larger(largest_exp(at->sums, n, LS_EXP_MIN),
			      ls_exps_of_products(largest_exp(at->own, n, LS_EXP_MIN)));
}

/* The scores of row b of the batch, whose entries begin at `entry`; n_next features of the row after it follow its own.
 */
static void forward_row(struct ls_step *st, struct ls_worker *w, uint32_t b, const struct ls_row_place *at,
			const uint32_t *feature, uint32_t entry, uint32_t n_next)
{
	const struct ls_fm_model *m = st->m;
	const struct ls_rows *rows = st->rows;
	struct row r = {.feature = feature,
			.field = rows->field ? rows->field + at->first : NULL,
			.n = at->n,
			.next = feature + at->n,
			.n_next = n_next,
			.crowd = st->crowd};
	if (st->has_x) {
		ls_row_x(&m->opts, rows->value ? rows->value + at->first : NULL, at->n, st->x + entry);
		r.x = st->x + entry;
		w->exps.value = largest_exp(r.x, at->n, w->exps.value);
	}
	bool by_entry = m->opts.kind == LS_FFM;
	struct place to = {.back = st->back + st->back_stride * (by_entry ? entry : b),
			   .entry_stride = st->back_stride};
	if (st->sums) { /* fwfm */
		to.sums = st->sums + 2 * b * st->back_stride;
		to.own = st->sums + (2 * b + 1) * st->back_stride;
	}
	row_outputs_any(m, &r, w->bias, &to, st->score + (size_t)b * m->outputs);
	struct ls_exps e = {.slope = LS_EXP_MIN,
			    .value = LS_EXP_MIN,
			    .back = by_entry ? ls_exp_of(ls_f_bits(to.top))
					     : largest_exp(to.back, st->back_stride, LS_EXP_MIN),
			    .sums = st->sums ? sums_exp(&to, st->back_stride) : LS_EXP_MIN,
			    .loss = LS_EXP_MIN};
	note_exps(w, at->row, &e);
}

/* --- losses: of many rows at once, for the functions behind them are long and vectors do several --- */

/* One output; a plain vector loop. */
static NOT_SPECIALISED void binary_losses(uint32_t n, float soft, const float *restrict score,
					  const float *restrict label, const float *restrict weight,
					  float *restrict slope, float *restrict loss)
{
	for (uint32_t i = 0; i < n; i++)
		loss[i] = ls_cell_row_loss(LS_BINARY, soft, score + i, 1, label[i], weight[i], slope + i);
}

/* Rows lo .. hi, LS_KERN_BLOCK at most. */
static void block_losses(struct ls_step *st, const struct ls_worker *w, uint32_t lo, uint32_t hi)
{
	const struct ls_fm_opts *opts = &st->m->opts;
	uint32_t outputs = st->m->outputs;
	float label[LS_KERN_BLOCK], weight[LS_KERN_BLOCK], *score = st->score + (size_t)lo * outputs,
							   *slope = st->slope + (size_t)lo * outputs;
	for (uint32_t i = 0; i < hi - lo; i++) {
		label[i] = w->place[lo + i].label;
		weight[i] = ls_row_weight(opts, st->rows, w->place[lo + i].row, label[i]);
	}
	if (opts->task == LS_BINARY)
		binary_losses(hi - lo, opts->label_smoothing, score, label, weight, slope, st->loss + lo);
	for (uint32_t i = 0; i < hi - lo && opts->task != LS_BINARY; i++)
		st->loss[lo + i] = ls_cell_row_loss((int)opts->task, opts->label_smoothing, score + i * outputs,
						    outputs, label[i], weight[i], slope + i * outputs);
}

static void losses(struct ls_step *st, struct ls_worker *w, uint32_t lo, uint32_t hi)
{
	uint32_t outputs = st->m->outputs;
	for (uint32_t b = lo; b < hi; b += LS_KERN_BLOCK)
		block_losses(st, w, b, hi - b < LS_KERN_BLOCK ? hi : b + LS_KERN_BLOCK);
	for (uint32_t b = lo; b < hi; b++) {
		struct ls_exps e = {.slope = largest_exp(st->slope + (size_t)b * outputs, outputs, LS_EXP_MIN),
				    .value = LS_EXP_MIN,
				    .back = LS_EXP_MIN,
				    .sums = LS_EXP_MIN,
				    .loss = largest_exp(&st->loss[b], 1, LS_EXP_MIN)};
		note_exps(w, w->place[b].row, &e);
	}
}

static void forward(struct ls_step *st, struct ls_worker *w, uint32_t lo, uint32_t hi, uint32_t entry)
{
	enum { AHEAD = 6, LINES = 2 };
	const uint32_t *feature = w->feature;
	for (uint32_t b = lo; b < hi; b++) {
		const struct ls_row_place *at = &w->place[b];
		if (st->rows->field && b + AHEAD < hi)
			for (uint32_t line = 0; line < LINES; line++)
				__builtin_prefetch(st->rows->field + at[AHEAD].first + 2 * LINE * line);
		note_row(st, b, at, entry);
		forward_row(st, w, b, at, feature, entry, b + 1 < hi ? at[1].n : 0);
		entry += at->n;
		feature += at->n;
	}
	losses(st, w, lo, hi);
}

#include "fm/kern_columns.h"
#include "fm/kern_online.h"

/* --- fwfm: gradient of the field weights --- */

/* The products of two vectors of K = 4, 8 or 16, halved until four are left. */
INLINE ls_pack_f four_products(const ls_pack_f *u, const ls_pack_f *v, uint32_t K)
{
	if (K == 16)
		return (u[0] * v[0] + u[2] * v[2]) + (u[1] * v[1] + u[3] * v[3]);
	return K == 8 ? u[0] * v[0] + u[1] * v[1] : u[0] * v[0];
}

/* What the last two halvings make of four such: of each one lane, (a0 + a2) + (a1 + a3). */
INLINE ls_pack_f halve_four(const ls_pack_f *t)
{
	ls_pack_f ab = __builtin_shufflevector(t[0], t[1], 0, 1, 4, 5) +
		       __builtin_shufflevector(t[0], t[1], 2, 3, 6, 7),
		  cd = __builtin_shufflevector(t[2], t[3], 0, 1, 4, 5) +
		       __builtin_shufflevector(t[2], t[3], 2, 3, 6, 7);
	return __builtin_shufflevector(ab, cd, 0, 2, 4, 6) + __builtin_shufflevector(ab, cd, 1, 3, 5, 7);
}

/* Pairs of u with the four vectors from v on, at once. */
INLINE void add_four_pairs(const ls_pack_f *u, const float *v, double slope, int64_t *into, uint32_t K)
{
	ls_pack_f t[4];
	float sums[4];
	ls_pack_d wide[PACKS_IN_4];
	for (uint32_t k = 0; k < 4; k++)
		t[k] = four_products(u, (const ls_pack_f *)(v + k * K), K);
	*(ls_pack_f *)sums = halve_four(t);
	ls_pack_widen(sums, wide);
	for (uint32_t h = 0; h < PACKS_IN_4; h++)
		((ls_pack_u *)into)[h] += ls_pack_term(slope, wide[h]) - LS_MAGIC_BITS;
}

INLINE int64_t pair_term(const ls_pack_f *u, const ls_pack_f *v, double slope, uint32_t K)
{
	float t[MAX_K];
	t[0] = 0.0f; /* K is not 0, which the compiler cannot know */
	for (uint32_t c = 0; c < K / 4; c++)
		*(ls_pack_f *)(t + 4 * c) = u[c] * v[c];
	return ls_sum_term(slope * (double)ls_halve_sum(t, (int)K));
}

/* dscore/dr(f,g): halve(U_f U_g), and halve(W_f) for f = g. */
INLINE void pair_row(struct ls_step *st, int64_t *restrict into, uint32_t b, uint32_t o, uint32_t K)
{
	const struct ls_fm_model *m = st->m;
	uint32_t fields = m->n_fields;
	const float *sums = st->sums + 2 * b * st->back_stride + (size_t)o * fields * K, *own = sums + st->back_stride;
	double slope = (double)st->slope[(size_t)b * m->outputs + o] * st->grids.pair_scale;
	for (uint32_t f = 0, at = 0; f < fields; f++) {
		const ls_pack_f *u = (const ls_pack_f *)(sums + f * K);
		uint32_t g = f + 1;
		into[at++] += ls_sum_term(slope * (double)ls_halve_sum(own + f * K, (int)K));
		for (; g + 4 <= fields && (K == 4 || K == 8 || K == 16); g += 4, at += 4)
			add_four_pairs(u, sums + g * K, slope, into + at, K);
		for (; g < fields; g++, at++)
			into[at] += pair_term(u, (const ls_pack_f *)(sums + g * K), slope, K);
	}
}

static void pairs(struct ls_step *st, struct ls_worker *w, uint32_t lo, uint32_t hi)
{
	for (uint32_t b = lo; b < hi; b++)
		for (uint32_t o = 0; o < st->m->outputs; o++) {
			int64_t *into = w->pair_sums + (size_t)o * st->m->n_pairs;
			if (st->m->padded == 4)
				pair_row(st, into, b, o, 4);
			else if (st->m->padded == 8)
				pair_row(st, into, b, o, 8);
			else if (st->m->padded == 16)
				pair_row(st, into, b, o, 16);
			else
				pair_row(st, into, b, o, st->m->padded);
		}
}

/* --- prediction --- */

/* Whether the model knows all features of a row, as it does if it knows all that there can be. */
INLINE bool all_known(const struct ls_fm_model *m, const struct ls_rows *rows, const struct row *r)
{
	bool fields = m->n_fields, known = true;
	if (rows->n_features <= m->n_features && (!fields || rows->n_fields <= m->n_fields))
		return true;
	for (uint32_t i = 0; i < r->n; i++)
		known &= r->feature[i] < m->n_features && (!fields || r->field[i] < m->n_fields);
	return known;
}

/* A row without the features that the model has never seen; they have no parameters and count as absent. */
static struct row known_row(const struct ls_fm_model *m, const struct ls_rows *rows, uint64_t row, float *scratch)
{
	uint64_t first = rows->start[row];
	uint64_t next = row + 1 < rows->n_rows && rows->n_features <= m->n_features ? row + 1 : row;
	struct row r = {.feature = rows->feature + first,
			.field = rows->field ? rows->field + first : NULL,
			.n = (uint32_t)(rows->start[row + 1] - first),
			.next = rows->feature + rows->start[next],
			.n_next = next == row ? 0 : (uint32_t)(rows->start[next + 1] - rows->start[next])};
	if (rows->value || m->opts.normalize) {
		ls_row_x(&m->opts, rows->value ? rows->value + first : NULL, r.n, scratch);
		r.x = scratch;
	}
	if (all_known(m, rows, &r))
		return r;
	uint32_t kept = 0, *feature = (uint32_t *)(scratch + r.n);
	uint16_t *field = (uint16_t *)(scratch + 2 * (size_t)r.n);
	for (uint32_t i = 0; i < r.n; i++) {
		if (r.feature[i] >= m->n_features || (m->n_fields && r.field[i] >= m->n_fields))
			continue;
		feature[kept] = r.feature[i];
		if (r.field)
			field[kept] = r.field[i];
		scratch[kept++] = row_x(&r, i);
	}
	return (struct row){.feature = feature, .field = r.field ? field : NULL, .x = scratch, .n = kept};
}

static void predict(const struct ls_fm_model *m, const struct ls_rows *rows, uint64_t lo, uint64_t hi, float *score,
		    float *scratch)
{
	size_t each = (size_t)m->n_fields * m->padded;
	bool fields = m->opts.kind == LS_FWFM;
	struct place at = {
		.back = m->opts.kind == LS_FM ? scratch : NULL, .sums = scratch, .own = scratch + m->outputs * each};
	float *rest = scratch + (size_t)m->outputs * (fields ? 2 * each : m->padded);
	for (uint64_t row = lo; row < hi; row++) {
		struct row r = known_row(m, rows, row, rest);
		row_outputs_any(m, &r, m->bias, &at, score + (row - lo) * m->outputs);
	}
}

extern const struct ls_kern PASTE(ls_kern_, LS_KERN_NAME);
const struct ls_kern PASTE(ls_kern_, LS_KERN_NAME) = {
	TEXT(LS_KERN_NAME), forward, terms, columns, pairs, predict, online_forward, online_update, online_alone,
};
