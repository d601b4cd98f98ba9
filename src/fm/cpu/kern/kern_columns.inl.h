/* The backward pass: sums over a batch, one feature (a column) at a time.
 * kern_update.inl.h makes new parameters of them. Included by kern.c alone. Owns nothing;
 * workers have disjoint features. */
#ifndef LS_FM_CPU_KERN_KERN_COLUMNS_INL_H
#define LS_FM_CPU_KERN_KERN_COLUMNS_INL_H

#include "fm/cpu/kern/kern_update.inl.h"

/* The two sums beside those of the factors: of g x, and of g x times the entry's own
 * part. */
typedef uint64_t two_u __attribute__((vector_size(16)));
typedef double two_d __attribute__((vector_size(16)));

/* What is the same for all columns of a batch. Local copies: after a store the compiler
 * would read the originals again. */
struct columns {
	const uint64_t *last; /* of the keys */
	const uint32_t *row_of;
	const float *x; /* NULL: every x is 1 */
	const uint16_t *field;
	const float *slope, *back;
	const uint64_t *terms; /* used by_row, see column() */
	/* room: floats from a feature's linear weights to its factors */
	size_t back_stride, room;
	uint32_t outputs, padded, fields;
	double back_scale, self_unit;
	two_d beside_scale; /* of the two sums beside the factors': linear, self */
};

INLINE const float *entry_back(const struct columns *k, enum ls_fm_kind kind, uint32_t e,
			       uint32_t row, uint32_t o)
{
	size_t at = (size_t)o * k->padded;
	if (kind == LS_FM)
		return k->back + row * k->back_stride + at;
	if (kind == LS_FWFM)
		return k->back + row * k->back_stride + at * k->fields +
		       (size_t)k->field[e] * k->padded;
	return k->back + e * k->back_stride + at * k->fields;
}

/* The factor of an entry's own part: x for fm, r(f,f) x for fwfm, 0 for ffm, whose P
 * leaves the entry out. */
INLINE float entry_self(const struct ls_batch *batch, const struct columns *k, enum ls_fm_kind kind,
			uint32_t e, uint32_t o, float x)
{
	if (kind == LS_FM)
		return x;
	return kind == LS_FWFM ? x * fwfm_weight(batch->m, o, k->field[e], k->field[e]) : 0.0f;
}

/* One entry of a column: its slope on the grid of the factors, its vector, and its terms
 * of the two other sums. */
struct term {
	double slope;
	const float *back;
	two_u beside;
};

INLINE struct term entry_term(const struct ls_batch *batch, const struct columns *k,
			      enum ls_fm_kind kind, uint64_t key, uint32_t o)
{
	uint32_t e = (uint32_t)key, row = kind == LS_FM && !k->x ? e : k->row_of[e];
	float x = k->x ? k->x[e] : 1.0f;
	float gx = k->slope[(size_t)row * k->outputs + o] * x;
	two_d beside = {1.0, (double)entry_self(batch, k, kind, e, o, x)};
	return (struct term){(double)gx * k->back_scale, entry_back(k, kind, e, row, o),
			     (two_u)LS_CELL_TERM(k->beside_scale * (double)gx, beside)};
}

/* If keys hold rows: the row of the key `further` places on, or of the last key. */
INLINE uint32_t later_row(const struct columns *k, const uint64_t *key, size_t further)
{
	return (uint32_t)(further < (size_t)(k->last - key) ? key[further] : *k->last);
}

/* Adds up the n entries of `keys` in N lanes for output o and writes the sums. Returns
 * the two other sums, which still contain LS_MAGIC. N is small, so that the lanes stay in
 * registers. */
INLINE two_u add_short(const struct ls_batch *batch, const struct columns *k, enum ls_fm_kind kind,
		       const uint64_t *keys, size_t n, uint32_t o, uint32_t N, float *ret)
{
	two_u sums = {0, 0};
	uint64_t offset = (uint64_t)n * LS_MAGIC_BITS;
	ls_simd_u64 lane[LS_KERN_SHORT / LS_SIMD];
	for (uint32_t c = 0; c < N / LS_SIMD; c++)
		lane[c] = (ls_simd_u64){0};
	for (size_t i = 0; i < n; i++) {
		struct term t = entry_term(batch, k, kind, keys[i], o);
		if (kind == LS_FM && !k->x)
			prefetch_run(entry_back(k, kind, 0, later_row(k, keys + i, 24), o), N,
				     false);
		for (uint32_t c = 0; c < N / 4; c++) {
			ls_simd_f64 wide[VECTORS_IN_4];
			ls_simd_to_f64(t.back + 4 * c, wide);
			for (uint32_t h = 0; h < VECTORS_IN_4; h++)
				lane[c * VECTORS_IN_4 + h] += ls_simd_term(t.slope, wide[h]);
		}
		sums += t.beside;
	}
	for (uint32_t c = 0; c < N / LS_SIMD; c++)
		lane[c] -= offset;
	for (uint32_t c = 0; c < N / 4; c++)
		*(ls_simd_f32 *)(ret + 4 * c) = ls_simd_sums_to_f32(lane + c * VECTORS_IN_4);
	return sums;
}

/* --- an fm whose values are all 1: all entries of a row have the same terms --- */

/* The terms of rows lo..hi, without LS_MAGIC: for each output the two other sums', then
 * the factors'. */
INLINE void row_terms(struct ls_batch *batch, uint32_t lo, uint32_t hi, uint32_t N)
{
	enum { AHEAD = 16 };
	const struct ls_grids *g = &batch->grids;
	uint32_t outputs = batch->m->outputs;
	for (size_t i = (size_t)lo * outputs, end = (size_t)hi * outputs; i < end; i++) {
		double slope = (double)batch->slope[i];
		const float *back = batch->back + i * N;
		uint64_t *to = batch->terms + i * ls_term_stride(N);
		prefetch_run(back + (i + AHEAD < end ? AHEAD * N : 0), N,
			     /* most of these rows were written by other workers */
			     false);
		*(two_u *)to = (two_u)LS_CELL_TERM(
				       ((two_d){g->linear_scale, g->self_scale}) * slope, 1.0) -
			       LS_MAGIC_BITS;
		for (uint32_t c = 0; c < N / 4; c++) {
			ls_simd_f64 wide[VECTORS_IN_4];
			ls_simd_to_f64(back + 4 * c, wide);
			for (uint32_t h = 0; h < VECTORS_IN_4; h++)
				*(ls_simd_u64 *)(to + 2 + 4 * c + LS_SIMD * h) =
					ls_simd_term(slope * g->back_scale, wide[h]) -
					LS_MAGIC_BITS;
		}
	}
}

static inline void terms(struct ls_batch *batch, uint32_t lo, uint32_t hi)
{
	uint32_t N = batch->m->padded;
	if (N == 16)
		row_terms(batch, lo, hi, 16);
	else if (N == 8)
		row_terms(batch, lo, hi, 8);
	else
		row_terms(batch, lo, hi, N);
}

INLINE two_u add_terms(const struct columns *k, const uint64_t *keys, size_t n, uint32_t o,
		       uint32_t N, float *ret)
{
	const size_t row = k->outputs * ls_term_stride(N);
	const uint64_t *terms = k->terms + o * ls_term_stride(N);
	two_u sums = {0, 0};
	ls_simd_u64 lane[LS_KERN_SHORT / LS_SIMD];
	for (uint32_t c = 0; c < N / LS_SIMD; c++)
		lane[c] = (ls_simd_u64){0};
	for (size_t i = 0; i < n; i++) {
		const uint64_t *t = terms + (uint32_t)keys[i] * row;
		prefetch_run((const float *)(terms + later_row(k, keys + i, 12) * row), 2 * N + 4,
			     false);
		sums += *(const two_u *)t;
		for (uint32_t c = 0; c < N / LS_SIMD; c++)
			lane[c] += *(const ls_simd_u64 *)(t + 2 + c * LS_SIMD);
	}
	for (uint32_t c = 0; c < N / 4; c++)
		*(ls_simd_f32 *)(ret + 4 * c) = ls_simd_sums_to_f32(lane + c * VECTORS_IN_4);
	return sums;
}

/* The entries of a wide column, whose sums are taken later, and the two other sums. */
INLINE two_u wide_terms(const struct ls_batch *batch, const struct columns *k, enum ls_fm_kind kind,
			const uint64_t *keys, size_t n, uint32_t o, struct ls_wide_entry *ret)
{
	two_u sums = {0, 0};
	for (size_t i = 0; i < n; i++) {
		struct term t = entry_term(batch, k, kind, keys[i], o);
		ret[i] = (struct ls_wide_entry){t.back, t.slope};
		__builtin_prefetch(t.back);
		sums += t.beside;
	}
	return sums;
}

/* Adds a column to the block of columns that wait for their update. */
INLINE void join(const struct columns *k, struct block *q, float *feature, uint32_t o, uint32_t N,
		 two_u beside)
{
	q->factors[q->n] = feature + k->room + (size_t)o * N;
	q->linear[q->n] = feature + o;
	q->linear_sum[q->n] = (float)(double)(int64_t)beside[0];
	q->cross[q->n] = (float)((double)(int64_t)beside[1] * k->self_unit);
	q->n++;
}

/* The n entries of one feature: its sums go to the block. by_row: an entry's terms are
 * those of its row. It is a compile-time constant in the usual cases. */
INLINE void column(struct ls_batch *batch, const struct columns *k, enum ls_fm_kind kind,
		   bool by_row, struct block *q, float *feature, const uint64_t *keys, size_t n,
		   uint32_t N)
{
	for (uint32_t o = 0; o < k->outputs; o++) {
		float *sums = q->sums + (size_t)q->n * N;
		two_u beside = by_row ? add_terms(k, keys, n, o, N, sums)
				      : add_short(batch, k, kind, keys, n, o, N, sums);
		join(k, q, feature, o, N, by_row ? beside : beside - (uint64_t)n * LS_MAGIC_BITS);
		if (q->n == LS_KERN_BLOCK)
			update_waiting(batch, q, N);
	}
}

/* The features of a run. With the usual numbers of lanes, features of one entry come
 * first, and then the others: how many entries a feature has is what branch prediction
 * misses most often. */
INLINE void short_run(struct ls_batch *batch, const struct columns *k, enum ls_fm_kind kind,
		      bool by_row, struct block *q, const uint64_t *keys, const struct run *now,
		      uint32_t N)
{
	uint32_t singles[LS_KERN_BLOCK], others[LS_KERN_BLOCK], n_singles = 0;
	bool apart = kind == LS_FM && (N == 8 || N == 16);
	for (uint32_t c = 0; c < now->n; c++) {
		singles[n_singles] = others[c - n_singles] = c;
		n_singles += apart && now->at[c + 1] - now->at[c] == 1;
	}
	for (uint32_t i = 0; i < n_singles && apart; i++) {
		uint32_t c = singles[i];
		column(batch, k, kind, by_row, q, now->feature[c], keys + now->at[c], 1, N);
	}
	for (uint32_t i = 0; i < now->n - n_singles; i++) {
		uint32_t c = others[i];
		column(batch, k, kind, by_row, q, now->feature[c], keys + now->at[c],
		       now->at[c + 1] - now->at[c], N);
	}
}

/* All features of a run, one output at a time. Prefetches the parameters of the run after
 * it. */
INLINE void wide_run(struct ls_batch *batch, const struct columns *k, enum ls_fm_kind kind,
		     struct block *q, const uint64_t *keys, const struct run *now,
		     const struct run *next, struct ls_wide_entry *found, uint32_t N)
{
	for (uint32_t c = 0; c < next->n; c++) /* all at once, so that their page walks overlap */
		for (uint32_t s = 0; s <= batch->m->states; s++)
			prefetch_run(next->feature[c] + s * batch->m->width, 2 * LINE, true);
	for (uint32_t o = 0; o < k->outputs; o++) {
		for (uint32_t c = 0; c < now->n; c++) {
			size_t at = now->at[c], n = now->at[c + 1] - at;
			two_u beside = wide_terms(batch, k, kind, keys + at, n, o, found + at);
			q->at[c] = at;
			join(k, q, now->feature[c], o, N, beside - (uint64_t)n * LS_MAGIC_BITS);
		}
		q->at[now->n] = now->at[now->n];
		update_waiting(batch, q, N);
	}
}

/* Finds the next features from keys[at] on, without a branch at the end of a feature,
 * which could not be predicted. */
INLINE void find_columns(const struct ls_fm_model *m, const uint64_t *keys, size_t n, size_t at,
			 uint32_t room, struct run *ret)
{
	uint32_t found = at < n;
	ret->at[0] = at;
	for (at++; at < n && found <= room; at++) {
		ret->at[found] = at;
		found += keys[at] >> 32 != keys[at - 1] >> 32;
	}
	ret->n = found <= room ? found : room;
	if (found <= room) /* otherwise at[room] is where the next run begins */
		ret->at[found] = n;
	for (uint32_t c = 0; c < ret->n; c++)
		ret->feature[c] = m->linear + (keys[ret->at[c]] >> 32) * ls_fm_stride(m);
}

INLINE void columns_of(struct ls_batch *batch, struct ls_scratch *w, const uint64_t *keys, size_t n,
		       enum ls_fm_kind kind, bool by_row, bool is_short, uint32_t N)
{
	const struct columns k = {
		.last = n ? keys + n - 1 : keys,
		.row_of = batch->row_of,
		.x = by_row ? NULL : batch->x,
		.field = batch->field,
		.slope = batch->slope,
		.back = batch->back,
		.terms = batch->terms,
		.back_stride = batch->back_stride,
		.outputs = batch->m->outputs,
		.padded = batch->m->padded,
		.fields = batch->m->n_fields,
		.room = ls_fm_linear_room(batch->m),
		.back_scale = batch->grids.back_scale,
		.self_unit = batch->grids.self_unit,
		.beside_scale = {batch->grids.linear_scale, batch->grids.self_scale}};
	struct run now, next;
	uint32_t room = is_short ? LS_KERN_BLOCK : LS_KERN_WIDE_BLOCK;
	struct block q = {.sums = w->sums,
			  .next = &next,
			  .wide = is_short ? NULL : w->wide,
			  .unit = batch->grids.back_unit,
			  .linear_unit = batch->grids.linear_unit,
			  .acc = w->acc,
			  .self = kind != LS_FFM};
	find_columns(batch->m, keys, n, 0, room, &next);
	while (next.n) {
		while (is_short &&
		       /* those that the last updates did not prefetch */
		       q.prefetched < next.n)
			prefetch_column(&q, ls_fm_stride(batch->m));
		now = next;
		find_columns(batch->m, keys, n, now.at[now.n], room, &next);
		q.prefetched = 0;
		if (!is_short)
			wide_run(batch, &k, kind, &q, keys, &now, &next, w->wide, N);
		else
			short_run(batch, &k, kind, by_row, &q, keys, &now, N);
	}
	if (q.n)
		update_waiting(batch, &q, N);
}

static inline void columns(struct ls_batch *batch, struct ls_scratch *w, const uint64_t *keys,
			   size_t n)
{
	enum ls_fm_kind kind = batch->m->opts.kind;
	uint32_t lanes = batch->m->blocks * batch->m->padded;
	bool by_row = batch->terms, wide = ls_kern_is_wide(kind, lanes);
	if (kind == LS_FFM)
		columns_of(batch, w, keys, n, LS_FFM, false, false, lanes);
	else if (kind == LS_FWFM && wide)
		columns_of(batch, w, keys, n, LS_FWFM, false, false, lanes);
	else if (kind == LS_FWFM)
		columns_of(batch, w, keys, n, LS_FWFM, false, true, 8);
	else if (wide)
		columns_of(batch, w, keys, n, LS_FM, false, false, lanes);
	else if (lanes == 16 && by_row)
		columns_of(batch, w, keys, n, LS_FM, true, true, 16);
	else if (lanes == 16)
		columns_of(batch, w, keys, n, LS_FM, false, true, 16);
	else if (lanes == 8 && by_row)
		columns_of(batch, w, keys, n, LS_FM, true, true, 8);
	else if (lanes == 8)
		columns_of(batch, w, keys, n, LS_FM, false, true, 8);
	else if (lanes == 4)
		columns_of(batch, w, keys, n, LS_FM, by_row, true, 4);
	else
		columns_of(batch, w, keys, n, LS_FM, by_row, true, LS_KERN_SHORT);
}

#endif
