/* The kernels of the CPU: loops over rows and columns around the formulas of cell.h. This
 * file is compiled once for each instruction set (LS_KERN_NAME, cmake/fm.cmake). All
 * builds give the same bytes: lanes are independent, float sums over a row follow its
 * stored order, and sums over a batch are integers.
 *
 * K (the padded number of factors) is a compile-time constant for 4, 8, 16 and 32, so
 * that lanes stay in registers. */
#include <string.h>

#include "fm/cpu/kern/kern_ffm.inl.h"
#include "fm/cpu/kern/kern_fm.inl.h"
#include "fm/cpu/kern/kern_fwfm.inl.h"
#include "fm/cpu/kern/kern_row.inl.h"
#include "fm/model/row_weight.h"

#ifndef LS_KERN_NAME
#define LS_KERN_NAME baseline
#endif
#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)
#define TEXT2(a)     #a
#define TEXT(a)      TEXT2(a)

/* --- a row: all outputs --- */

/* Where the intermediate results of a row go. For prediction all of it is scratch. */
struct place {
	float *back, *sums, *own;
	size_t entry_stride;
	uint32_t top; /* ffm: the largest |bits| of back */
};

INLINE void row_outputs(const struct ls_fm_model *m, const struct row *r, const float *bias,
			uint32_t K, struct place *at, float *score)
{
	size_t each = m->opts.kind == LS_FM ? K : (size_t)m->n_fields * K;
	for (uint32_t o = 0; o < m->outputs; o++) {
		if (m->opts.kind == LS_FM && !r->x)
			score[o] = fm_output(m, r, NULL, bias[o], o, K, at->back + o * each);
		else if (m->opts.kind == LS_FM)
			score[o] = fm_output(m, r, r->x, bias[o], o, K, at->back + o * each);
		else if (m->opts.kind == LS_FWFM)
			fwfm_output(m, r, 1, bias[o], o, K, at->sums + o * each, at->own + o * each,
				    at->back ? at->back + o * each : NULL, score);
		else
			score[o] = linear_score(m, r, bias[o], o) +
				   ffm_output(m, r, o, K, at->back ? at->back + o * each : NULL,
					      at->entry_stride, &at->top);
	}
}

static void row_outputs_any(const struct ls_fm_model *m, const struct row *r, const float *bias,
			    struct place *at, float *score)
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

/* Keeps what the backward pass needs of a row's entries. */
INLINE void note_row(struct ls_batch *batch, uint32_t b, const struct ls_row_place *at,
		     uint32_t entry)
{
	uint32_t *restrict row_of = batch->row_of + entry;
	for (uint32_t i = 0; i < at->n && !ls_keys_are_rows(batch); i++)
		row_of[i] = b;
	if (batch->field)
		memcpy(batch->field + entry, batch->rows->field + at->first,
		       at->n * sizeof *batch->field);
}

/* Keeps the largest exponents, and the first row that is not finite. */
INLINE void note_exps(struct ls_scratch *w, uint64_t row, const struct ls_exps *e)
{
	if (e->slope == LS_EXP_INF || e->back == LS_EXP_INF || e->sums == LS_EXP_INF ||
	    e->loss == LS_EXP_INF)
		w->bad_row = row < w->bad_row ? row : w->bad_row;
	ls_exps_max(&w->exps, e);
}

/* The exponent that bounds fwfm's U; its double bounds W. */
INLINE int sums_exp(const struct place *at, size_t n)
{
	return ls_exps_larger(largest_exp(at->sums, n, LS_EXP_MIN),
			      ls_exps_of_products(largest_exp(at->own, n, LS_EXP_MIN)));
}

/* The scores of row b of the batch, whose entries begin at `entry`. n_next features of
 * the next row follow its own. */
static void forward_row(struct ls_batch *batch, struct ls_scratch *w, uint32_t b,
			const struct ls_row_place *at, const uint32_t *feature, uint32_t entry,
			uint32_t n_next)
{
	const struct ls_fm_model *m = batch->m;
	const struct ls_rows *rows = batch->rows;
	struct row r = {.feature = feature,
			.field = rows->field ? rows->field + at->first : NULL,
			.n = at->n,
			.next = feature + at->n,
			.n_next = n_next};
	if (batch->has_x) {
		ls_row_x(&m->opts, rows->value ? rows->value + at->first : NULL, at->n,
			 batch->x + entry);
		r.x = batch->x + entry;
		w->exps.value = largest_exp(r.x, at->n, w->exps.value);
	}
	bool by_entry = m->opts.kind == LS_FFM;
	struct place to = {.back = batch->back + batch->back_stride * (by_entry ? entry : b),
			   .entry_stride = batch->back_stride};
	if (batch->sums) { /* fwfm */
		to.sums = batch->sums + 2 * b * batch->back_stride;
		to.own = batch->sums + (2 * b + 1) * batch->back_stride;
	}
	row_outputs_any(m, &r, w->bias, &to, batch->score + (size_t)b * m->outputs);
	struct ls_exps e = {.slope = LS_EXP_MIN,
			    .value = LS_EXP_MIN,
			    .back = by_entry ? ls_exp_of(ls_f_bits(to.top))
					     : largest_exp(to.back, batch->back_stride, LS_EXP_MIN),
			    .sums = batch->sums ? sums_exp(&to, batch->back_stride) : LS_EXP_MIN,
			    .loss = LS_EXP_MIN};
	note_exps(w, at->row, &e);
}

/* --- losses: of many rows at once, so that the long functions behind them fill vectors
 * --- */

/* One output; a plain vector loop. */
static NOINLINE void binary_losses(uint32_t n, float soft, const float *restrict score,
				   const float *restrict label, const float *restrict weight,
				   float *restrict slope, float *restrict loss)
{
	for (uint32_t i = 0; i < n; i++)
		loss[i] = ls_cell_row_loss(LS_BINARY, soft, score + i, 1, label[i], weight[i],
					   slope + i);
}

/* Rows lo..hi, at most LS_KERN_BLOCK. */
static void block_losses(struct ls_batch *batch, const struct ls_row_place *place, uint32_t lo,
			 uint32_t hi)
{
	const struct ls_fm_opts *opts = &batch->m->opts;
	uint32_t outputs = batch->m->outputs;
	float label[LS_KERN_BLOCK], weight[LS_KERN_BLOCK],
		*score = batch->score + (size_t)lo * outputs,
		*slope = batch->slope + (size_t)lo * outputs;
	for (uint32_t i = 0; i < hi - lo; i++) {
		label[i] = place[i].label;
		weight[i] = ls_row_weight(opts, batch->rows, place[i].row, label[i]);
	}
	if (opts->task == LS_BINARY)
		binary_losses(hi - lo, opts->label_smoothing, score, label, weight, slope,
			      batch->loss + lo);
	for (uint32_t i = 0; i < hi - lo && opts->task != LS_BINARY; i++)
		batch->loss[lo + i] = ls_cell_row_loss((int)opts->task, opts->label_smoothing,
						       score + i * outputs, outputs, label[i],
						       weight[i], slope + i * outputs);
}

static void losses(struct ls_batch *batch, struct ls_scratch *w, uint32_t lo, uint32_t hi)
{
	uint32_t outputs = batch->m->outputs;
	for (uint32_t b = lo; b < hi; b += LS_KERN_BLOCK)
		block_losses(batch, w->place + (b - lo), b,
			     hi - b < LS_KERN_BLOCK ? hi : b + LS_KERN_BLOCK);
	for (uint32_t b = lo; b < hi; b++) {
		struct ls_exps e = {.slope = largest_exp(batch->slope + (size_t)b * outputs,
							 outputs, LS_EXP_MIN),
				    .value = LS_EXP_MIN,
				    .back = LS_EXP_MIN,
				    .sums = LS_EXP_MIN,
				    .loss = largest_exp(&batch->loss[b], 1, LS_EXP_MIN)};
		note_exps(w, w->place[b - lo].row, &e);
	}
}

static void forward(struct ls_batch *batch, struct ls_scratch *w, uint32_t lo, uint32_t hi,
		    uint32_t entry)
{
	enum { AHEAD = 6, LINES = 2 };
	const uint32_t *feature = w->feature;
	for (uint32_t b = lo; b < hi; b++) {
		const struct ls_row_place *at = &w->place[b - lo];
		if (batch->rows->field && b + AHEAD < hi)
			for (uint32_t line = 0; line < LINES; line++)
				__builtin_prefetch(batch->rows->field + at[AHEAD].first +
						   2 * LINE * line);
		note_row(batch, b, at, entry);
		forward_row(batch, w, b, at, feature, entry, b + 1 < hi ? at[1].n : 0);
		entry += at->n;
		feature += at->n;
	}
	losses(batch, w, lo, hi);
}

#include "fm/cpu/kern/kern_columns.inl.h"

/* --- prediction --- */

/* Whether the model knows all features of a row; without looking, if it knows all
 * features of the data. */
INLINE bool all_known(const struct ls_fm_model *m, const struct ls_rows *rows, const struct row *r)
{
	bool known = true;
	if (rows->n_features <= m->n_features && (!m->n_fields || rows->n_fields <= m->n_fields))
		return true;
	for (uint32_t i = 0; i < r->n; i++)
		known &= ls_fm_knows(m, r->feature, r->field, i);
	return known;
}

/* Leaves out the entries of a row that the model does not know. The values of the others
 * are copied to scratch. */
static void drop_unknown(const struct ls_fm_model *m, const float *value, struct row *r,
			 float *scratch)
{
	uint32_t kept = 0, *feature = (uint32_t *)(scratch + r->n);
	uint16_t *field = (uint16_t *)(scratch + 2 * (size_t)r->n);
	for (uint32_t i = 0; i < r->n; i++) {
		if (!ls_fm_knows(m, r->feature, r->field, i))
			continue;
		feature[kept] = r->feature[i];
		if (r->field)
			field[kept] = r->field[i];
		if (value)
			scratch[kept] = value[i];
		kept++;
	}
	*r = (struct row){
		.feature = feature, .field = r->field ? field : NULL, .x = r->x, .n = kept};
}

/* Sets *ret to a row without the features that the model does not know. The row that is
 * `ahead` rows later is prefetched with it. scratch: LS_KERN_ENTRY floats an entry. */
static void known_row(const struct ls_fm_model *m, const struct ls_rows *rows, uint64_t row,
		      uint64_t ahead, float *scratch, struct row *ret)
{
	uint64_t first = rows->start[row];
	const float *value = rows->value ? rows->value + first : NULL;
	uint64_t next =
		row + ahead < rows->n_rows && rows->n_features <= m->n_features ? row + ahead : row;
	ret->feature = rows->feature + first;
	ret->field = rows->field ? rows->field + first : NULL;
	ret->x = rows->value || m->opts.normalize ? scratch : NULL;
	ret->n = (uint32_t)(rows->start[row + 1] - first);
	ret->next = rows->feature + rows->start[next];
	ret->n_next = next == row ? 0 : (uint32_t)(rows->start[next + 1] - rows->start[next]);
	if (!all_known(m, rows, ret)) {
		drop_unknown(m, value, ret, scratch);
		value = value ? scratch : NULL;
	}
	if (ret->x)
		ls_row_x(&m->opts, value, ret->n, scratch);
}

static void predict(const struct ls_fm_model *m, const struct ls_rows *rows, uint64_t lo,
		    uint64_t hi, float *score, float *scratch)
{
	uint32_t some = m->opts.kind == LS_FWFM ? fwfm_at_once(m->padded) : 1;
	size_t all = ls_kern_sums(m);
	struct place at = {.back = m->opts.kind == LS_FM ? scratch : NULL,
			   .sums = scratch,
			   .own = scratch + all};
	for (uint64_t row = lo, n; row < hi; row += n) {
		struct row r[LS_KERN_ROWS];
		float *room = scratch + 2 * all, *to = score + (row - lo) * m->outputs;
		n = hi - row < some ? 1 : some;
		for (uint64_t i = row; i < row + n; i++) {
			known_row(m, rows, i, n, room, &r[i - row]);
			room += LS_KERN_ENTRY * (rows->start[i + 1] - rows->start[i]);
		}
		if (n > 1)
			fwfm_rows(m, r, at.sums, at.own, to);
		else
			row_outputs_any(m, r, m->bias, &at, to);
	}
}

extern const struct ls_kern PASTE(ls_kern_, LS_KERN_NAME);
const struct ls_kern PASTE(ls_kern_, LS_KERN_NAME) = {
	TEXT(LS_KERN_NAME), forward, terms, columns, pairs, predict,
};
