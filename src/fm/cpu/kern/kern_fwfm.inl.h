/* Rows of an fwfm, and the gradient of the field weights. The letters are those of
 * cell.h: sums (fields × K floats) are U, own is W, and back is D, or NULL if only the
 * score is wanted. Included by kern.c alone. Owns nothing; workers have disjoint rows. */
#ifndef LS_FM_CPU_KERN_KERN_FWFM_INL_H
#define LS_FM_CPU_KERN_KERN_FWFM_INL_H

#include <string.h>

#include "fm/cpu/kern/kern_row.inl.h"
#include "num/halve.h"

/* So many fields are taken at a time if they have no more lanes than FWFM_LANES: then
 * their sums stay in registers and do not wait for each other. */
enum { FWFM_FEW = 4, FWFM_LANES = LS_WIDE == 16 ? 32 : 16 };
_Static_assert(FWFM_LANES / 4 <= LS_KERN_ROWS, "rows of four lanes side by side");

/* K lanes. With K a compile-time constant they are registers. */
struct lanes {
	ls_wide_f32 most[MAX_K / LS_WIDE];
	ls_mid_f32 mid[LS_WIDE / LS_MID]; /* of a K that is no multiple of LS_WIDE, */
	ls_simd_f32 last;                 /* or of LS_MID */
};

/* Where the lanes after those in `most` begin, and how many vectors of LS_MID they
 * are. */
INLINE uint32_t behind_most(uint32_t K)
{
	return K / LS_WIDE * LS_WIDE;
}

INLINE uint32_t n_mid(uint32_t K)
{
	return K % LS_WIDE / LS_MID;
}

INLINE void clear_lanes(struct lanes *d, uint32_t K)
{
	for (uint32_t c = 0; c < K / LS_WIDE; c++)
		d->most[c] = (ls_wide_f32){0};
	for (uint32_t c = 0; c < LS_WIDE / LS_MID; c++)
		d->mid[c] = (ls_mid_f32){0};
	d->last = (ls_simd_f32){0};
}

/* d = d + u weight, by fma. */
INLINE void add_scaled(struct lanes *d, const float *u, float weight, uint32_t K)
{
	const ls_mid_f32 *rest = (const ls_mid_f32 *)(u + behind_most(K));
	for (uint32_t c = 0; c < K / LS_WIDE; c++)
		d->most[c] =
			ls_wide_fma(((const ls_wide_f32 *)u)[c], ls_wide_set1(weight), d->most[c]);
	for (uint32_t c = 0; c < n_mid(K); c++)
		d->mid[c] = ls_mid_fma(rest[c], ls_mid_set1(weight), d->mid[c]);
	if (K % LS_MID)
		d->last = ls_simd_fma(*(const ls_simd_f32 *)(u + K - 4), ls_simd_set1(weight),
				      d->last);
}

/* The same of n neighbours, whose weights lie side by side. n is a compile-time
 * constant. */
INLINE void add_scaled_each(struct lanes *d, const float *u, const float *weight, uint32_t n,
			    uint32_t K)
{
#if defined(__aarch64__)
	/* One load instead of four, as gcc would have it: fma takes any lane of a
	 * vector. */
	if (n == 4) {
		ls_simd_f32 four = *(const ls_simd_f32 *)weight;
		__asm__("" : "+w"(four));
		for (uint32_t i = 0; i < n; i++)
			add_scaled(&d[i], u, four[i], K);
		return;
	}
#endif
	for (uint32_t i = 0; i < n; i++)
		add_scaled(&d[i], u, weight[i], K);
}

/* total = total + u e, by fma. */
INLINE void add_product(struct lanes *total, const float *u, const struct lanes *e, uint32_t K)
{
	const ls_mid_f32 *rest = (const ls_mid_f32 *)(u + behind_most(K));
	for (uint32_t c = 0; c < K / LS_WIDE; c++)
		total->most[c] =
			ls_wide_fma(((const ls_wide_f32 *)u)[c], e->most[c], total->most[c]);
	for (uint32_t c = 0; c < n_mid(K); c++)
		total->mid[c] = ls_mid_fma(rest[c], e->mid[c], total->mid[c]);
	if (K % LS_MID)
		total->last = ls_simd_fma(*(const ls_simd_f32 *)(u + K - 4), e->last, total->last);
}

INLINE void store_lanes(float *to, const struct lanes *d, uint32_t K)
{
	for (uint32_t c = 0; c < K / LS_WIDE; c++)
		((ls_wide_f32 *)to)[c] = d->most[c];
	for (uint32_t c = 0; c < n_mid(K); c++)
		((ls_mid_f32 *)(to + behind_most(K)))[c] = d->mid[c];
	if (K % LS_MID)
		*(ls_simd_f32 *)(to + K - 4) = d->last;
}

INLINE void clear_fields(const struct ls_fm_model *m, uint32_t K, size_t apart, float *to)
{
	if (apart == K)
		memset(to, 0, sizeof(float) * m->n_fields * K);
	for (uint32_t f = 0; f < m->n_fields && apart != K; f++)
		memset(to + f * apart, 0, sizeof(float) * K);
}

/* Where the entries of a row are. Local copies: after a store the compiler would read the
 * originals again. */
struct fwfm_place {
	struct row r;
	const float *linear;
	/* of a record; from linear weights to the output's factors; to the last of all */
	size_t stride, factors, size;
};

INLINE struct fwfm_place fwfm_place(const struct ls_fm_model *m, const struct row *r, uint32_t o,
				    uint32_t K)
{
	size_t room = ls_fm_linear_room(m);
	return (struct fwfm_place){*r, m->linear, ls_fm_stride(m), room + (size_t)o * K,
				   room + (size_t)m->outputs * K};
}

/* The linear weights of entry i. The first output prefetches those of the next row. */
INLINE const float *fwfm_entry(const struct fwfm_place *at, uint32_t i, uint32_t o)
{
	if (o == 0)
		prefetch_next(&at->r, i, at->linear, at->stride, at->size);
	return at->linear + at->r.feature[i] * at->stride;
}

/* U and W of any row, `apart` floats from one field to the next. Returns the linear part,
 * with `bias` as its first term. */
INLINE float fwfm_sums(const struct ls_fm_model *m, const struct row *r, float bias, uint32_t o,
		       uint32_t K, size_t apart, float *sums, float *own)
{
	const struct fwfm_place at = fwfm_place(m, r, o, K);
	float line = bias;
	clear_fields(m, K, apart, sums);
	clear_fields(m, K, apart, own);
	for (uint32_t i = 0; i < at.r.n; i++) {
		const float *linear = fwfm_entry(&at, i, o), x = row_x(&at.r, i);
		const ls_simd_f32 *v = (const ls_simd_f32 *)(linear + at.factors);
		ls_simd_f32 *u = (ls_simd_f32 *)(sums + at.r.field[i] * apart);
		ls_simd_f32 *w = (ls_simd_f32 *)(own + at.r.field[i] * apart);
		line += linear[o] * x;
		for (uint32_t c = 0; c < K / 4; c++)
			LS_CELL_JOIN(u[c], w[c], v[c], x, ls_simd_join);
	}
	return line;
}

/* An entry that is alone in its field. has_x is a compile-time constant. */
INLINE void fwfm_copy(float *u, const float *v, bool has_x, float x, uint32_t K)
{
	/* + 0, as if it were added: never -0 */
	for (uint32_t c = 0; c < K / LS_MID; c++) {
		ls_mid_f32 vc = ((const ls_mid_f32 *)v)[c];
		((ls_mid_f32 *)u)[c] = (ls_mid_f32){0} + (has_x ? vc * x : vc);
	}
	if (K % LS_MID) {
		ls_simd_f32 vc = *(const ls_simd_f32 *)(v + K - 4);
		*(ls_simd_f32 *)(u + K - 4) = (ls_simd_f32){0} + (has_x ? vc * x : vc);
	}
}

/* The same of a row with one entry of each field. W is 0 and not written. x is r->x: NULL
 * as a compile-time constant if it is NULL. */
INLINE float fwfm_sums_once(const struct ls_fm_model *m, const struct row *r, const float *x,
			    float bias, uint32_t o, uint32_t K, size_t apart, float *sums)
{
	const struct fwfm_place at = fwfm_place(m, r, o, K);
	float line = bias;
	for (uint32_t i = 0; i < at.r.n; i++) {
		const float *linear = fwfm_entry(&at, i, o), xi = x ? x[i] : 1.0f;
		line += linear[o] * xi;
		fwfm_copy(sums + i * apart, linear + at.factors, x, xi, K);
	}
	return line;
}

/* Entries of later rows, whose records are prefetched one after another. */
struct fwfm_prefetch {
	const uint32_t *feature, *end;
	const float *linear;
	size_t stride, last; /* of a record */
};

INLINE void prefetch_later(struct fwfm_prefetch *l)
{
	if (l->feature < l->end)
		prefetch_record(l->linear + *l->feature++ * l->stride, l->last);
}

/* n fields from f on. E_f is the sum over fields g < f, ascending, of r(g,f) U_g, and
 * *total gets U_f E_f, in the order of the fields. D_f goes on from E_f over the other
 * fields. n, with_back and whether `ahead` is NULL are compile-time constants. */
INLINE void fwfm_fields(const struct ls_fm_model *m, uint32_t o, uint32_t f, uint32_t n, uint32_t K,
			const float *sums, float *back, bool with_back, struct lanes *total,
			struct fwfm_prefetch *ahead)
{
	const uint32_t fields = m->n_fields;
	const float *pair = m->pair + (size_t)o * m->n_pairs, *earlier = pair + f, *later[FWFM_FEW];
	struct lanes d[FWFM_FEW];
	for (uint32_t i = 0; i < n; i++) {
		clear_lanes(&d[i], K);
		later[i] = pair + ls_fm_pair_index(fields, f + i, 0);
	}
	for (uint32_t g = 0; g < f; earlier += fields - ++g) {
		if (ahead)
			prefetch_later(ahead);
		add_scaled_each(d, sums + (size_t)g * K, earlier, n, K);
	}
	UNROLL
	for (uint32_t h = 0; h < n; h++) { /* field f + h */
		const float *u = sums + (size_t)(f + h) * K;
		add_product(total, u, &d[h], K);
		UNROLL
		for (uint32_t i = with_back ? 0 : h + 1; i < n; i++)
			add_scaled(&d[i], u, i < h ? later[i][f + h] : later[h][f + i], K);
	}
	for (uint32_t g = f + n; g < fields && with_back; g++)
		for (uint32_t i = 0; i < n; i++)
			add_scaled(&d[i], sums + (size_t)g * K, later[i][g], K);
	for (uint32_t i = 0; i < n && with_back; i++)
		store_lanes(back + (size_t)(f + i) * K, &d[i], K);
}

INLINE void fwfm_all_fields(const struct ls_fm_model *m, uint32_t o, uint32_t K, const float *sums,
			    float *back, bool with_back, struct lanes *total,
			    struct fwfm_prefetch *ahead)
{
	bool few = K <= FWFM_LANES;
	uint32_t f = 0, alone = few ? m->n_fields % FWFM_FEW : m->n_fields;
	for (; f < alone; f++)
		fwfm_fields(m, o, f, 1, K, sums, back, with_back, total, ahead);
	for (; f < m->n_fields; f += FWFM_FEW)
		fwfm_fields(m, o, f, FWFM_FEW, K, sums, back, with_back, total, ahead);
}

/* The sum over fields, ascending, of r(f,f) W_f, for the first four lanes of `own`. */
INLINE ls_simd_f32 fwfm_own(const struct ls_fm_model *m, uint32_t o, const float *own, size_t apart)
{
	ls_simd_f32 sum = {0};
	for (uint32_t f = 0; f < m->n_fields; f++)
		sum = ls_simd_join(*(const ls_simd_f32 *)(own + f * apart),
				   ls_simd_set1(fwfm_weight(m, o, f, f)), sum);
	return sum;
}

/* The sums of any row. Returns its linear part. own is filled if the row may need it, or
 * if `all`. */
INLINE float fwfm_entries(const struct ls_fm_model *m, const struct row *r, bool once, bool all,
			  float bias, uint32_t o, uint32_t K, size_t apart, float *sums, float *own)
{
	if (!once)
		return fwfm_sums(m, r, bias, o, K, apart, sums, own);
	if (all)
		clear_fields(m, K, apart, own);
	return r->x ? fwfm_sums_once(m, r, r->x, bias, o, K, apart, sums)
		    : fwfm_sums_once(m, r, NULL, bias, o, K, apart, sums);
}

/* score = linear part + halve(sum over f of U_f E_f + sum over f of r(f,f) W_f).
 *
 * R rows side by side count as one row of R × K lanes. R is a compile-time constant, and
 * 1 with a back. */
INLINE void fwfm_output(const struct ls_fm_model *m, const struct row *r, uint32_t R, float bias,
			uint32_t o, uint32_t K, float *sums, float *own, float *back, float *score)
{
	struct lanes total;
	float t[MAX_K], line[LS_KERN_ROWS];
	bool once[LS_KERN_ROWS];
	for (uint32_t i = 0; i < R; i++) {
		once[i] = one_of_each_field(&r[i], m->n_fields);
		line[i] = fwfm_entries(m, &r[i], once[i], back != NULL, bias, o, K, R * K,
				       sums + i * K, own + i * K);
	}
	clear_lanes(&total, R * K);
	if (back)
		fwfm_all_fields(m, o, R * K, sums, back, true, &total, NULL);
	else
		fwfm_all_fields(m, o, R * K, sums, NULL, false, &total, NULL);
	store_lanes(t, &total, R * K);
	for (uint32_t i = 0; i < R; i++) {
		for (uint32_t c = i * K; c < (i + 1) * K; c += 4)
			*(ls_simd_f32 *)(t + c) +=
				once[i] ? (ls_simd_f32){0} : fwfm_own(m, o, own + c, R * K);
		score[i * m->outputs + o] = line[i] + ls_halve_sum(t + i * K, (int)K);
	}
}

/* --- prediction: rows side by side, so that one row's latency is another's time --- */

/* How many rows fill the lanes. */
static inline uint32_t fwfm_at_once(uint32_t K)
{
	return K == 4 || K == 8 || K == 16 ? FWFM_LANES / K : 1;
}

/* U and the linear parts of R rows that are alike and have one entry of each field.
 * Prefetches records of the next rows on the way. R and has_x are compile-time
 * constants. */
INLINE void fwfm_sums_beside(const struct ls_fm_model *m, const struct row *r, uint32_t R,
			     bool has_x, uint32_t o, uint32_t K, float *sums, float *ret_line,
			     struct fwfm_prefetch *ahead)
{
	const size_t stride = ls_fm_stride(m), factors = ls_fm_linear_room(m) + (size_t)o * K;
	const float *base = m->linear;
	const uint32_t *feature = r->feature, n = r->n;
	struct fwfm_prefetch pending = *ahead;
	float line[LS_KERN_ROWS];
	for (uint32_t k = 0; k < R; k++)
		line[k] = m->bias[o];
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < (R < 4 ? i % 2 : R / 4); k++)
			prefetch_later(&pending);
		for (uint32_t k = 0; k < R; k++, sums += K) {
			const float *at = base + feature[i + (size_t)k * n] * stride,
				    x = has_x ? r[k].x[i] : 1.0f;
			line[k] += at[o] * x;
			fwfm_copy(sums, at + factors, has_x, x, K);
		}
	}
	memcpy(ret_line, line, R * sizeof *line);
	*ahead = pending;
}

/* The sum over fields f of U_f E_f, of as many rows as fill the lanes. A function of its
 * own, so that its loops have all registers. */
static NOINLINE void fwfm_beside(const struct ls_fm_model *m, uint32_t o, const float *sums,
				 const struct fwfm_prefetch *ahead, float *ret)
{
	struct fwfm_prefetch pending = *ahead;
	struct lanes total;
	clear_lanes(&total, FWFM_LANES);
	fwfm_all_fields(m, o, FWFM_LANES, sums, NULL, false, &total, &pending);
	while (pending.feature < pending.end)
		prefetch_later(&pending);
	store_lanes(ret, &total, FWFM_LANES);
	for (uint32_t c = 0; c < FWFM_LANES; c += 4) /* + 0 as in fwfm_output: never -0 */
		*(ls_simd_f32 *)(ret + c) += (ls_simd_f32){0};
}

/* The entries after these rows, which the first output prefetches. */
INLINE struct fwfm_prefetch fwfm_prefetch(const struct ls_fm_model *m, const struct row *r,
					  uint32_t R, uint32_t o)
{
	const uint32_t *after = rows_after(r, R),
		       *end = after == r->feature || o ? after : after + (size_t)R * r->n;
	return (struct fwfm_prefetch){after, end, m->linear, ls_fm_stride(m),
				      ls_fm_linear_room(m) + ls_fm_lanes(m) - 1};
}

/* R rows that are alike. K is a compile-time constant. */
INLINE void fwfm_alike(const struct ls_fm_model *m, const struct row *r, uint32_t o, uint32_t K,
		       float *sums, float *score)
{
	const uint32_t R = FWFM_LANES / K;
	float t[FWFM_LANES], line[LS_KERN_ROWS];
	struct fwfm_prefetch ahead = fwfm_prefetch(m, r, R, o);
	if (r->x)
		fwfm_sums_beside(m, r, R, true, o, K, sums, line, &ahead);
	else
		fwfm_sums_beside(m, r, R, false, o, K, sums, line, &ahead);
	fwfm_beside(m, o, sums, &ahead, t);
	for (uint32_t k = 0; k < R; k++)
		score[k * m->outputs + o] = line[k] + ls_halve_sum(t + k * K, (int)K);
}

/* R rows of any shape. K is a compile-time constant. On aarch64 records are prefetched
 * with the entries: between the products it costs more. */
INLINE void fwfm_some(const struct ls_fm_model *m, const struct row *r, uint32_t K, float *sums,
		      float *own, float *score)
{
	const uint32_t R = FWFM_LANES / K;
	bool alike = LS_WIDE > 4 && rows_alike(r, R);
	for (uint32_t k = 0; k < R; k++)
		alike = alike && one_of_each_field(&r[k], m->n_fields);
	for (uint32_t o = 0; o < m->outputs; o++)
		if (alike)
			fwfm_alike(m, r, o, K, sums, score);
		else
			fwfm_output(m, r, R, m->bias[o], o, K, sums, own, NULL, score);
}

static inline void fwfm_rows(const struct ls_fm_model *m, const struct row *r, float *sums,
			     float *own, float *score)
{
	if (m->padded == 4)
		fwfm_some(m, r, 4, sums, own, score);
	else if (m->padded == 8)
		fwfm_some(m, r, 8, sums, own, score);
	else if (FWFM_LANES > 16)
		fwfm_some(m, r, 16, sums, own, score);
}

/* --- gradient of the field weights --- */

/* The products of two vectors of K = 4, 8 or 16, halved until four are left. */
INLINE ls_simd_f32 four_products(const ls_simd_f32 *u, const ls_simd_f32 *v, uint32_t K)
{
	if (K == 16)
		return (u[0] * v[0] + u[2] * v[2]) + (u[1] * v[1] + u[3] * v[3]);
	return K == 8 ? u[0] * v[0] + u[1] * v[1] : u[0] * v[0];
}

/* The last two halvings of four such vectors at once: lane i of the result is (a0 + a2) +
 * (a1 + a3) of vector i. */
INLINE ls_simd_f32 halve_four(const ls_simd_f32 *t)
{
	ls_simd_f32 ab = __builtin_shufflevector(t[0], t[1], 0, 1, 4, 5) +
			 __builtin_shufflevector(t[0], t[1], 2, 3, 6, 7),
		    cd = __builtin_shufflevector(t[2], t[3], 0, 1, 4, 5) +
			 __builtin_shufflevector(t[2], t[3], 2, 3, 6, 7);
	return __builtin_shufflevector(ab, cd, 0, 2, 4, 6) +
	       __builtin_shufflevector(ab, cd, 1, 3, 5, 7);
}

/* The pairs of u with the four vectors from v on. */
INLINE void add_four_pairs(const ls_simd_f32 *u, const float *v, double slope, int64_t *into,
			   uint32_t K)
{
	ls_simd_f32 t[4];
	float sums[4];
	ls_simd_f64 wide[VECTORS_IN_4];
	for (uint32_t k = 0; k < 4; k++)
		t[k] = four_products(u, (const ls_simd_f32 *)(v + k * K), K);
	*(ls_simd_f32 *)sums = halve_four(t);
	ls_simd_to_f64(sums, wide);
	for (uint32_t h = 0; h < VECTORS_IN_4; h++)
		((ls_simd_u64 *)into)[h] += ls_simd_term(slope, wide[h]) - LS_MAGIC_BITS;
}

INLINE int64_t pair_term(const ls_simd_f32 *u, const ls_simd_f32 *v, double slope, uint32_t K)
{
	float t[MAX_K];
	t[0] = 0.0f; /* K is never 0, which the compiler cannot know */
	for (uint32_t c = 0; c < K / 4; c++)
		*(ls_simd_f32 *)(t + 4 * c) = u[c] * v[c];
	return ls_sum_term(slope * (double)ls_halve_sum(t, (int)K));
}

/* dscore/dr(f,g): halve(U_f U_g), and halve(W_f) for f = g. */
INLINE void pair_row(struct ls_batch *batch, int64_t *restrict into, uint32_t b, uint32_t o,
		     uint32_t K)
{
	const struct ls_fm_model *m = batch->m;
	uint32_t fields = m->n_fields;
	const float *sums = batch->sums + 2 * b * batch->back_stride + (size_t)o * fields * K,
		    *own = sums + batch->back_stride;
	double slope = (double)batch->slope[(size_t)b * m->outputs + o] * batch->grids.pair_scale;
	for (uint32_t f = 0, at = 0; f < fields; f++) {
		const ls_simd_f32 *u = (const ls_simd_f32 *)(sums + f * K);
		uint32_t g = f + 1;
		into[at++] += ls_sum_term(slope * (double)ls_halve_sum(own + f * K, (int)K));
		for (; g + 4 <= fields && (K == 4 || K == 8 || K == 16); g += 4, at += 4)
			add_four_pairs(u, sums + g * K, slope, into + at, K);
		for (; g < fields; g++, at++)
			into[at] += pair_term(u, (const ls_simd_f32 *)(sums + g * K), slope, K);
	}
}

static inline void pairs(struct ls_batch *batch, struct ls_scratch *w, uint32_t lo, uint32_t hi)
{
	for (uint32_t b = lo; b < hi; b++)
		for (uint32_t o = 0; o < batch->m->outputs; o++) {
			int64_t *into = w->pair_sums + (size_t)o * batch->m->n_pairs;
			if (batch->m->padded == 4)
				pair_row(batch, into, b, o, 4);
			else if (batch->m->padded == 8)
				pair_row(batch, into, b, o, 8);
			else if (batch->m->padded == 16)
				pair_row(batch, into, b, o, 16);
			else
				pair_row(batch, into, b, o, batch->m->padded);
		}
}

#endif
