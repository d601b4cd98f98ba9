/* The CPU's loops over rows and columns, around the formulas of cell.h. This file is compiled once for each instruction
 * set (LS_KERN_NAME, see cmake/fm.cmake) and every build gives the same bytes: lanes are independent, float sums over a
 * row follow its stored order, sums over a batch are integers.
 *
 * Where it pays, K (padded factors) is a constant of the call (4, 8, 16, 32), so that lanes stay in registers. */
#include <string.h>

#include "fm/pack.h"
#include "fm/step.h"
#include "num/halve.h"

#ifndef LS_KERN_NAME
#define LS_KERN_NAME baseline
#endif
#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)
#define TEXT2(a)     #a
#define TEXT(a)      TEXT2(a)
#define INLINE       static inline __attribute__((always_inline))
#if defined(__clang__)
#define NOT_SPECIALISED __attribute__((noinline))
#else
#define NOT_SPECIALISED __attribute__((noinline, noclone))
#endif

enum { MAX_K = 256, PACKS_IN_4 = 4 / LS_PACK };

/* One row: borrowed arrays. x is NULL when every value is 1. */
struct row {
	const uint32_t *feature;
	const uint16_t *field;
	const float *x;
	uint32_t n;
};

INLINE float row_x(const struct row *r, uint32_t i)
{
	return r->x ? r->x[i] : 1.0f;
}

/* The largest exponent among n floats and so_far. */
static int largest_exp(const float *t, size_t n, int so_far)
{
	uint32_t top = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t u = ls_bits_f(t[i]) & 0x7fffffffu;
		top = u > top ? u : top;
	}
	int e = ls_exp_of(ls_f_bits(top));
	return e > so_far ? e : so_far;
}

/* Linear part: bias, then the row's entries in stored order. */
INLINE float linear_score(const struct ls_fm_model *m, const struct row *r, float bias, uint32_t o)
{
	size_t stride = ls_fm_linear_stride(m);
	float sum = bias;
	for (uint32_t i = 0; i < r->n; i++)
		sum += m->linear[r->feature[i] * stride + o] * row_x(r, i);
	return sum;
}

/* --- fm: s (K floats) is what the entries' factors add up to, and what the backward pass multiplies by --- */

INLINE float fm_output(const struct ls_fm_model *m, const struct row *r, uint32_t o, uint32_t K, float *s)
{
	size_t stride = ls_fm_stride(m);
	ls_pack_f sum[MAX_K / 4], square[MAX_K / 4];
	float t[MAX_K];
	for (uint32_t c = 0; c < K / 4; c++)
		sum[c] = square[c] = (ls_pack_f){0};
	for (uint32_t i = 0; i < r->n; i++) {
		const ls_pack_f *v = (const ls_pack_f *)(m->record + r->feature[i] * stride + (size_t)o * K);
		float x = row_x(r, i);
		for (uint32_t c = 0; c < K / 4; c++)
			LS_CELL_ADD(sum[c], square[c], v[c], x);
	}
	for (uint32_t c = 0; c < K / 4; c++) {
		*(ls_pack_f *)(s + 4 * c) = sum[c];
		*(ls_pack_f *)(t + 4 * c) = sum[c] * sum[c] - square[c];
	}
	return 0.5f * ls_halve_sum(t, (int)K);
}

/* --- fwfm: sums (fields × K) are U, back (fields × K) is D; both zeroed or filled here --- */

INLINE float fwfm_weight(const struct ls_fm_model *m, uint32_t o, uint32_t f, uint32_t g)
{
	uint32_t index = f < g ? ls_fm_pair_index(m->n_fields, f, g) : ls_fm_pair_index(m->n_fields, g, f);
	return m->pair[(size_t)o * m->n_pairs + index];
}

INLINE void fwfm_sums(const struct ls_fm_model *m, const struct row *r, uint32_t o, uint32_t K, float *sums,
		      float *square)
{
	size_t stride = ls_fm_stride(m);
	memset(sums, 0, sizeof(float) * m->n_fields * K);
	memset(square, 0, sizeof(float) * m->n_fields * K);
	for (uint32_t i = 0; i < r->n; i++) {
		const ls_pack_f *v = (const ls_pack_f *)(m->record + r->feature[i] * stride + (size_t)o * K);
		ls_pack_f *s = (ls_pack_f *)(sums + (size_t)r->field[i] * K);
		ls_pack_f *q = (ls_pack_f *)(square + (size_t)r->field[i] * K);
		float x = row_x(r, i);
		for (uint32_t c = 0; c < K / 4; c++)
			LS_CELL_ADD(s[c], q[c], v[c], x);
	}
}

/* D_f = sum over fields g, ascending, of r(f,g) U_g; score = 0.5 halve(sum over f of U_f D_f - r(f,f) Q_f). */
INLINE float fwfm_output(const struct ls_fm_model *m, const struct row *r, uint32_t o, uint32_t K, float *sums,
			 float *square, float *back)
{
	fwfm_sums(m, r, o, K, sums, square);
	ls_pack_f total[MAX_K / 4];
	for (uint32_t c = 0; c < K / 4; c++)
		total[c] = (ls_pack_f){0};
	for (uint32_t f = 0; f < m->n_fields; f++) {
		ls_pack_f d[MAX_K / 4];
		for (uint32_t c = 0; c < K / 4; c++)
			d[c] = (ls_pack_f){0};
		for (uint32_t g = 0; g < m->n_fields; g++) {
			const ls_pack_f *u = (const ls_pack_f *)(sums + (size_t)g * K);
			float weight = fwfm_weight(m, o, f, g);
			for (uint32_t c = 0; c < K / 4; c++)
				d[c] += u[c] * weight;
		}
		const ls_pack_f *u = (const ls_pack_f *)(sums + (size_t)f * K),
				*q = (const ls_pack_f *)(square + (size_t)f * K);
		float own = fwfm_weight(m, o, f, f);
		for (uint32_t c = 0; c < K / 4; c++) {
			total[c] += u[c] * d[c] - q[c] * own;
			*(ls_pack_f *)(back + (size_t)f * K + 4 * c) = d[c];
		}
	}
	float t[MAX_K];
	memcpy(t, total, sizeof(float) * K);
	return 0.5f * ls_halve_sum(t, (int)K);
}

/* --- ffm: back (entries × entry_stride) is P; each unordered pair of entries once, in stored order --- */

INLINE float ffm_output(const struct ls_fm_model *m, const struct row *r, uint32_t o, uint32_t K, float *back,
			size_t entry_stride)
{
	size_t stride = ls_fm_stride(m), block = (size_t)m->n_fields * K;
	ls_pack_f total[MAX_K / 4];
	for (uint32_t c = 0; c < K / 4; c++)
		total[c] = (ls_pack_f){0};
	for (uint32_t i = 0; back && i < r->n; i++)
		memset(back + i * entry_stride, 0, sizeof(float) * block);
	for (uint32_t i = 0; i < r->n; i++) {
		const float *vi = m->record + r->feature[i] * stride + o * block;
		size_t at_i = (size_t)r->field[i] * K;
		float xi = row_x(r, i), *back_i = back + i * entry_stride;
		for (uint32_t j = i + 1; j < r->n; j++) {
			size_t at_j = (size_t)r->field[j] * K;
			const ls_pack_f *a = (const ls_pack_f *)(vi + at_j);
			const ls_pack_f *b = (const ls_pack_f *)(m->record + r->feature[j] * stride + o * block + at_i);
			float xj = row_x(r, j);
			for (uint32_t c = 0; c < K / 4; c++) {
				ls_pack_f ax = a[c] * xi, bx = b[c] * xj;
				total[c] += ax * bx;
				if (back) {
					((ls_pack_f *)(back_i + at_j))[c] += bx;
					((ls_pack_f *)(back + j * entry_stride + at_i))[c] += ax;
				}
			}
		}
	}
	float t[MAX_K];
	memcpy(t, total, sizeof(float) * K);
	return ls_halve_sum(t, (int)K);
}

/* --- a row: all outputs --- */

/* Where a row's intermediate results go; for prediction all of it is scratch. */
struct place {
	float *back, *sums, *square;
	size_t entry_stride;
};

INLINE void row_outputs(const struct ls_fm_model *m, const struct row *r, const float *bias, uint32_t K,
			const struct place *at, float *score)
{
	size_t each = m->opts.kind == LS_FM ? K : (size_t)m->n_fields * K;
	for (uint32_t o = 0; o < m->outputs; o++) {
		float pairs;
		if (m->opts.kind == LS_FM)
			pairs = fm_output(m, r, o, K, at->back + o * each);
		else if (m->opts.kind == LS_FWFM)
			pairs = fwfm_output(m, r, o, K, at->sums + o * each, at->square + o * each,
					    at->back + o * each);
		else
			pairs = ffm_output(m, r, o, K, at->back ? at->back + o * each : NULL, at->entry_stride);
		score[o] = linear_score(m, r, bias[o], o) + pairs;
	}
}

static void row_outputs_any(const struct ls_fm_model *m, const struct row *r, const float *bias, const struct place *at,
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

/* 1 / |x|, or 0 for a row of zeros. */
static float row_norm(const float *value, uint32_t n)
{
	float sum = 0.0f;
	for (uint32_t i = 0; i < n; i++)
		sum += value ? value[i] * value[i] : 1.0f;
	return sum > 0.0f ? 1.0f / ls_sqrtf(sum) : 0.0f;
}

static void fill_x(const struct ls_fm_model *m, const float *value, uint32_t n, float *x)
{
	float scale = m->opts.normalize ? row_norm(value, n) : 1.0f;
	for (uint32_t i = 0; i < n; i++)
		x[i] = value ? value[i] * scale : scale;
}

/* --- loss --- */

static void row_loss(const struct ls_fm_model *m, const float *score, float label, float weight, float *ret_loss,
		     float *slope)
{
	float soft = m->opts.label_smoothing;
	if (m->opts.task == LS_REGRESSION) {
		*ret_loss = weight * ls_cell_squared_loss(score[0], label);
		slope[0] = weight * ls_cell_squared_slope(score[0], label);
	} else if (m->opts.task == LS_BINARY) {
		float y = label > 0.0f ? 1.0f - 0.5f * soft : 0.5f * soft;
		*ret_loss = weight * ls_cell_logistic_loss(score[0], y);
		slope[0] = weight * ls_cell_logistic_slope(score[0], y);
	} else {
		*ret_loss = weight * ls_cell_softmax(score, m->outputs, (uint32_t)label, soft, slope);
		for (uint32_t o = 0; o < m->outputs; o++)
			slope[o] *= weight;
	}
}

static float row_weight(const struct ls_step *st, uint64_t row)
{
	const struct ls_fm_opts *opts = &st->m->opts;
	float weight = st->rows->weight ? st->rows->weight[row] : 1.0f, label = st->rows->label[row];
	if (opts->n_class_weights)
		weight *= opts->class_weight[opts->task == LS_BINARY ? label > 0.0f : (uint32_t)label];
	return weight;
}

/* --- forward --- */

static void prefetch_row(const struct ls_fm_model *m, const struct ls_rows *rows, uint64_t row)
{
	size_t stride = ls_fm_stride(m), linear = ls_fm_linear_stride(m);
	size_t lines = ((size_t)m->width * sizeof(float) + 63) / 64;
	for (uint64_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
		const char *rec = (const char *)(m->record + rows->feature[i] * stride);
		for (size_t line = 0; line < lines; line++)
			__builtin_prefetch(rec + 64 * line);
		__builtin_prefetch(m->linear + rows->feature[i] * linear);
	}
}

static void prefetch_data(const struct ls_rows *rows, uint64_t row)
{
	const char *p = (const char *)(rows->feature + rows->start[row]);
	for (size_t line = 0; line < 3; line++)
		__builtin_prefetch(p + 64 * line);
}

/* Copies what the backward pass needs of the entries, and their keys for the sort. */
static void note_entries(struct ls_step *st, struct ls_worker *w, uint32_t b, const struct row *r, uint32_t entry)
{
	uint64_t *keys = w->keys + w->n_keys;
	for (uint32_t i = 0; i < r->n; i++) {
		st->row_of[entry + i] = b;
		keys[i] = (uint64_t)r->feature[i] << 32 | (entry + i);
	}
	if (st->field)
		memcpy(st->field + entry, r->field, r->n * sizeof *r->field);
	w->n_keys += r->n;
}

static void forward_row(struct ls_step *st, struct ls_worker *w, uint32_t b, uint32_t entry, uint32_t n)
{
	const struct ls_fm_model *m = st->m;
	const struct ls_rows *rows = st->rows;
	uint64_t row = st->pick[b], first = rows->start[row];
	struct row r = {rows->feature + first, rows->field ? rows->field + first : NULL, NULL, n};
	if (st->has_x) {
		fill_x(m, rows->value ? rows->value + first : NULL, n, st->x + entry);
		r.x = st->x + entry;
		w->exps.value = largest_exp(r.x, n, w->exps.value);
	}
	bool by_entry = m->opts.kind == LS_FFM;
	size_t size = by_entry ? st->back_stride * n : st->back_stride;
	struct place at = {.back = st->back + st->back_stride * (by_entry ? entry : b),
			   .sums = st->sums + 2 * b * st->back_stride,
			   .square = st->sums + (2 * b + 1) * st->back_stride,
			   .entry_stride = st->back_stride};
	float *score = st->score + (size_t)b * m->outputs, *slope = st->slope + (size_t)b * m->outputs;
	row_outputs_any(m, &r, w->bias, &at, score);
	row_loss(m, score, rows->label[row], row_weight(st, row), &st->loss[b], slope);
	struct ls_exps e = {.slope = largest_exp(slope, m->outputs, LS_EXP_MIN),
			    .value = LS_EXP_MIN,
			    .back = largest_exp(at.back, size, LS_EXP_MIN),
			    .sums = st->sums ? largest_exp(at.sums, 2 * st->back_stride, LS_EXP_MIN) : LS_EXP_MIN,
			    .loss = largest_exp(&st->loss[b], 1, LS_EXP_MIN)};
	if (e.slope == LS_EXP_INF || e.back == LS_EXP_INF || e.sums == LS_EXP_INF || e.loss == LS_EXP_INF)
		w->bad_row = row < w->bad_row ? row : w->bad_row;
	ls_exps_max(&w->exps, &e);
	note_entries(st, w, b, &r, entry);
}

static void forward(struct ls_step *st, struct ls_worker *w, uint32_t lo, uint32_t hi, uint32_t entry)
{
	const struct ls_rows *rows = st->rows;
	for (uint32_t b = lo; b < hi; b++) {
		if (b + 4 < hi)
			__builtin_prefetch(rows->start + st->pick[b + 4]);
		if (b + 2 < hi)
			prefetch_data(rows, st->pick[b + 2]);
		if (b + 1 < hi)
			prefetch_row(st->m, rows, st->pick[b + 1]);
		uint32_t n = (uint32_t)(rows->start[st->pick[b] + 1] - rows->start[st->pick[b]]);
		forward_row(st, w, b, entry, n);
		entry += n;
	}
}

/* --- backward: one feature at a time --- */

/* What a feature's entries add up to for one output, beside the factors' own sums. */
struct column_sums {
	uint64_t linear, self; /* raw bits, see num/sum.h */
};

INLINE const float *entry_back(const struct ls_step *st, uint32_t e, uint32_t row, size_t at)
{
	switch (st->m->opts.kind) {
	case LS_FM:
		return st->back + row * st->back_stride + at;
	case LS_FWFM:
		return st->back + row * st->back_stride + at * st->m->n_fields + (size_t)st->field[e] * st->m->padded;
	default:
		return st->back + e * st->back_stride + at * st->m->n_fields;
	}
}

/* The factor of an entry's own part: x for fm, r(f,f) x for fwfm, nothing for ffm (P leaves the entry out). */
INLINE float entry_self(const struct ls_step *st, uint32_t e, uint32_t o, float x)
{
	if (st->m->opts.kind == LS_FM)
		return x;
	return st->m->opts.kind == LS_FWFM ? x * fwfm_weight(st->m, o, st->field[e], st->field[e]) : 0.0f;
}

/* Adds the n entries of keys to acc (N lanes of output o) and to the two scalar sums. */
INLINE struct column_sums add_column(const struct ls_step *st, const uint64_t *keys, size_t n, uint32_t o, uint32_t N,
				     ls_pack_u *acc)
{
	const struct ls_fm_model *m = st->m;
	const struct ls_grids *grid = &st->grids;
	struct column_sums sums = {0, 0};
	for (uint32_t c = 0; c < N / LS_PACK; c++)
		acc[c] = (ls_pack_u){0};
	for (size_t i = 0; i < n; i++) {
		uint32_t e = (uint32_t)keys[i], row = st->row_of[e];
		float x = st->has_x ? st->x[e] : 1.0f;
		float gx = st->slope[(size_t)row * m->outputs + o] * x;
		double slope = (double)gx * grid->back_scale;
		const float *back = entry_back(st, e, row, (size_t)o * m->padded);
		for (uint32_t c = 0; c < N / 4; c++) {
			ls_pack_d wide[PACKS_IN_4];
			ls_pack_widen(back + 4 * c, wide);
			for (uint32_t h = 0; h < PACKS_IN_4; h++)
				acc[c * PACKS_IN_4 + h] += (ls_pack_u)LS_CELL_TERM(slope, wide[h]);
		}
		sums.linear += ls_bits_d(LS_CELL_TERM((double)gx * grid->linear_scale, 1.0));
		sums.self += ls_bits_d(LS_CELL_TERM((double)gx * grid->self_scale, (double)entry_self(st, e, o, x)));
	}
	return sums;
}

/* From sums to new parameters, n lanes; not inlined, so that the compiler makes a plain vector loop of each optimizer.
 */
#define UPDATE_LANES(function, with1, with2)                                                                           \
	for (uint32_t i = 0; i < n; i++) {                                                                             \
		float g = ls_cell_gradient((int64_t)(acc[i] - offset), unit, v[i], cross);                             \
		struct ls_param p = {v[i], with1 ? v[n1 + i] : 0.0f, with2 ? v[n2 + i] : 0.0f};                        \
		p = function(p, g, u);                                                                                 \
		v[i] = p.v;                                                                                            \
		if (with1)                                                                                             \
			v[n1 + i] = p.s1;                                                                              \
		if (with2)                                                                                             \
			v[n2 + i] = p.s2;                                                                              \
	}

static NOT_SPECIALISED void update_lanes(float *restrict v, size_t n1, uint32_t n, const uint64_t *restrict acc,
					 uint64_t offset, double unit, double cross, const struct ls_update *restrict u)
{
	size_t n2 = 2 * n1;
	switch (u->optimizer) {
	case LS_SGD:
		UPDATE_LANES(ls_cell_sgd, 0, 0)
		break;
	case LS_ADAGRAD:
		UPDATE_LANES(ls_cell_adagrad, 1, 0)
		break;
	case LS_ADAM:
		UPDATE_LANES(ls_cell_adam, 1, 1)
		break;
	default:
		UPDATE_LANES(ls_cell_ftrl, 1, 1)
	}
}

INLINE void column(struct ls_step *st, struct ls_worker *w, const uint64_t *keys, size_t n, uint32_t N)
{
	const struct ls_fm_model *m = st->m;
	uint64_t feature = keys[0] >> 32, offset = (uint64_t)n * LS_MAGIC_BITS;
	float *record = m->record + feature * ls_fm_stride(m), *linear = m->linear + feature * ls_fm_linear_stride(m);
	for (uint32_t o = 0; o < m->outputs; o++) {
		ls_pack_u *acc = (ls_pack_u *)w->acc;
		ls_pack_u local[MAX_K / LS_PACK];
		bool in_registers = N <= 32;
		struct column_sums sums = add_column(st, keys, n, o, N, in_registers ? local : acc);
		const uint64_t *raw = in_registers ? (const uint64_t *)local : (const uint64_t *)acc;
		double cross = (double)(int64_t)(sums.self - offset) * st->grids.self_unit;
		update_lanes(record + (size_t)o * N, m->width, N, raw, offset, st->grids.back_unit, cross, &st->update);
		update_lanes(linear + o, m->outputs, 1, &sums.linear, offset, st->grids.linear_unit, 0.0, &st->update);
	}
}

/* Asks for the records of the features from *at up to keys[until], each once. */
INLINE void prefetch_columns(const struct ls_fm_model *m, const uint64_t *keys, size_t *at, size_t until)
{
	size_t stride = ls_fm_stride(m), bytes = stride * sizeof(float);
	for (; *at < until; (*at)++) {
		uint64_t feature = keys[*at] >> 32;
		if (*at && feature == keys[*at - 1] >> 32)
			continue;
		const char *record = (const char *)(m->record + feature * stride);
		for (size_t b = 0; b < bytes; b += 64)
			__builtin_prefetch(record + b, 1);
		__builtin_prefetch(m->linear + feature * ls_fm_linear_stride(m), 1);
	}
}

INLINE void columns_of(struct ls_step *st, struct ls_worker *w, const uint64_t *keys, size_t n, uint32_t N)
{
	enum { AHEAD = 16 };
	size_t asked = 0;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && keys[end] >> 32 == keys[i] >> 32; end++)
			;
		prefetch_columns(st->m, keys, &asked, end + AHEAD < n ? end + AHEAD : n);
		column(st, w, keys + i, end - i, N);
	}
}

static void columns(struct ls_step *st, struct ls_worker *w, const uint64_t *keys, size_t n)
{
	uint32_t lanes = st->m->blocks * st->m->padded;
	switch (lanes) {
	case 4:
		columns_of(st, w, keys, n, 4);
		break;
	case 8:
		columns_of(st, w, keys, n, 8);
		break;
	case 16:
		columns_of(st, w, keys, n, 16);
		break;
	case 32:
		columns_of(st, w, keys, n, 32);
		break;
	default:
		columns_of(st, w, keys, n, lanes);
	}
}

/* --- fwfm: gradient of the field weights --- */

/* dscore/dr(f,g): halve(U_f U_g), and halve(0.5 (U_f U_f - Q_f)) for f = g. */
static void pair_row(struct ls_step *st, struct ls_worker *w, uint32_t b, uint32_t o)
{
	const struct ls_fm_model *m = st->m;
	uint32_t K = m->padded, fields = m->n_fields;
	const float *sums = st->sums + 2 * b * st->back_stride + (size_t)o * fields * K,
		    *square = sums + st->back_stride;
	double slope = (double)st->slope[(size_t)b * m->outputs + o] * st->grids.pair_scale;
	int64_t *into = w->pair_sums + (size_t)o * m->n_pairs;
	float t[MAX_K];
	for (uint32_t f = 0, at = 0; f < fields; f++)
		for (uint32_t g = f; g < fields; g++, at++) {
			for (uint32_t i = 0; i < K; i++)
				t[i] = sums[f * K + i] * sums[g * K + i];
			for (uint32_t i = 0; f == g && i < K; i++)
				t[i] = 0.5f * (t[i] - square[f * K + i]);
			into[at] += ls_sum_term(slope * (double)ls_halve_sum(t, (int)K));
		}
}

static void pairs(struct ls_step *st, struct ls_worker *w, uint32_t lo, uint32_t hi)
{
	for (uint32_t b = lo; b < hi; b++)
		for (uint32_t o = 0; o < st->m->outputs; o++)
			pair_row(st, w, b, o);
}

/* --- prediction --- */

/* A row without the features that the model has never seen; they have no parameters and count as absent. */
static struct row known_row(const struct ls_fm_model *m, const struct ls_rows *rows, uint64_t row, float *scratch)
{
	uint64_t first = rows->start[row];
	struct row r = {rows->feature + first, rows->field ? rows->field + first : NULL, NULL,
			(uint32_t)(rows->start[row + 1] - first)};
	if (rows->value || m->opts.normalize) {
		fill_x(m, rows->value ? rows->value + first : NULL, r.n, scratch);
		r.x = scratch;
	}
	bool all = true;
	for (uint32_t i = 0; i < r.n; i++)
		all &= r.feature[i] < m->n_features && (!m->n_fields || r.field[i] < m->n_fields);
	if (all)
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
	return (struct row){feature, r.field ? field : NULL, scratch, kept};
}

static void predict(const struct ls_fm_model *m, const struct ls_rows *rows, uint64_t lo, uint64_t hi, float *score,
		    float *scratch)
{
	size_t each = (size_t)m->n_fields * m->padded;
	bool fields = m->opts.kind == LS_FWFM;
	struct place at = {.back = m->opts.kind == LS_FFM ? NULL : scratch,
			   .sums = scratch + m->outputs * each,
			   .square = scratch + 2 * m->outputs * each};
	float *rest = scratch + (size_t)m->outputs * (fields ? 3 * each : m->padded);
	for (uint64_t row = lo; row < hi; row++) {
		if (row + 1 < hi && rows->n_features <= m->n_features)
			prefetch_row(m, rows, row + 1);
		struct row r = known_row(m, rows, row, rest);
		row_outputs_any(m, &r, m->bias, &at, score + (row - lo) * m->outputs);
	}
}

extern const struct ls_kern PASTE(ls_kern_, LS_KERN_NAME);
const struct ls_kern PASTE(ls_kern_, LS_KERN_NAME) = {
	TEXT(LS_KERN_NAME), forward, columns, pairs, predict,
};
