#include "fm/eval/check_rows.h"

#include <stdbool.h>

#include "fm/model/cell.h"
#include "fm/model/row_weight.h"

static bool is_whole(float y)
{
	return y >= 0.0f && (y >= 0x1p24f || y == (float)(uint32_t)y);
}

/* Labels are 0 and 1, or -1 and 1: a file with all three has another meaning. */
static int fit_signs(const struct ls_rows *rows, struct ls_err *err)
{
	float other = 1.0f; /* the first label that is not 1 */
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		float y = rows->label[i];
		if (other == 1.0f)
			other = y;
		else if (y != 1.0f && y != other)
			return ls_rows_fault(
				rows, LS_OF_LABEL, i, LS_EINPUT, err,
				"label %g, where rows before it have %g: of two classes one is 1, "
				"the "
				"other 0 or -1; for three --task multiclass has 0, 1 and 2",
				(double)y, (double)other);
	}
	return 0;
}

int ls_fm_check_labels(const struct ls_fm_opts *o, const struct ls_rows *rows, struct ls_err *err)
{
	if (!rows->n_rows || !rows->label)
		return ls_rows_fault(rows, LS_OF_ROW, LS_ROWS_ALL, LS_EINPUT, err,
				     "there are no labelled rows");
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		float y = rows->label[i];
		if (o->task == LS_MULTICLASS && !is_whole(y))
			return ls_rows_fault(rows, LS_OF_LABEL, i, LS_EINPUT, err,
					     "label %g is not a class: 0, 1, 2 and so on",
					     (double)y);
		if (o->task == LS_MULTICLASS && !(y < (float)o->classes))
			return ls_rows_fault(rows, LS_OF_LABEL, i, LS_EINPUT, err,
					     "label %g is beyond the %u classes, from 0 on",
					     (double)y, o->classes);
		if (o->task == LS_BINARY && y != 0.0f && y != 1.0f && y != -1.0f)
			return ls_rows_fault(
				rows, LS_OF_LABEL, i, LS_EINPUT, err,
				"label %g is not 0, 1 or -1, which --task binary has; others are "
				"regression, multiclass",
				(double)y);
	}
	return o->task == LS_BINARY ? fit_signs(rows, err) : 0;
}

/* At least one weight must be positive, or there is nothing to learn or to measure. */
static int fit_weights(const struct ls_fm_opts *o, const struct ls_rows *rows, struct ls_err *err)
{
	for (uint64_t i = 0; i < rows->n_rows; i++)
		if (ls_row_weight(o, rows, i, rows->label[i]) > 0.0f)
			return 0;
	return ls_rows_fault(rows, LS_OF_WEIGHT, LS_ROWS_ALL, LS_EINPUT, err,
			     "the weight of every row is 0");
}

/* The squares of a row's values are added up in binary32. Beyond its range the length,
 * and so the row, would be wrong. m: only of the entries that the model knows; NULL: of
 * all. */
static bool has_length(const struct ls_fm_model *m, const struct ls_rows *rows, uint64_t row)
{
	float squares = 0.0f;
	bool zeros = true;
	for (uint64_t e = rows->start[row]; e < rows->start[row + 1]; e++) {
		if (m && !ls_fm_knows(m, rows->feature, rows->field, e))
			continue;
		squares += ls_cell_square(rows->value + e, 0);
		zeros &= rows->value[e] == 0.0f;
	}
	float scale = ls_cell_scale(squares);
	return zeros || (scale > 0.0f && scale <= 0x1p63f);
}

static int fit_lengths(const struct ls_fm_opts *o, const struct ls_fm_model *m,
		       const struct ls_rows *rows, struct ls_err *err)
{
	for (uint64_t i = 0; i < rows->n_rows && o->normalize && rows->value; i++)
		if (!has_length(m, rows, i))
			return ls_rows_fault(rows, LS_OF_ROW, i, LS_EINPUT, err,
					     "values too large or too small for --normalize "
					     "(squares between 1e-38 "
					     "and 1e38 in all); scale them");
	return 0;
}

static int fit(const struct ls_fm_opts *o, const struct ls_fm_model *m, const struct ls_rows *rows,
	       struct ls_err *err)
{
	int rc = ls_fm_check_labels(o, rows, err);
	if (rc == 0)
		rc = fit_lengths(o, m, rows, err);
	return rc ? rc : fit_weights(o, rows, err);
}

int ls_fm_check_score_rows(const struct ls_fm_model *m, const struct ls_rows *rows,
			   struct ls_err *err)
{
	return fit_lengths(&m->opts, m, rows, err);
}

int ls_fm_check_eval_rows(const struct ls_fm_model *m, const struct ls_rows *rows,
			  struct ls_err *err)
{
	struct ls_fm_opts alike = m->opts;
	alike.n_class_weights = 0;
	return fit(&alike, m, rows, err);
}

int ls_fm_check_train_rows(const struct ls_fm_opts *o, const struct ls_rows *rows,
			   struct ls_err *err)
{
	return fit(o, NULL, rows, err);
}
