/* Whether rows can be trained on, measured on or scored with a model's options: labels,
 * weights, and lengths where rows are normalised. Borrows its arguments; any thread. */
#ifndef LS_FM_EVAL_CHECK_ROWS_H
#define LS_FM_EVAL_CHECK_ROWS_H

#include "base/err.h"
#include "fm/data/rows.h"
#include "fm/model/model.h"

/* There are rows, and all have a label of the task. */
int ls_fm_check_labels(const struct ls_fm_opts *o, const struct ls_rows *rows, struct ls_err *err);
/* To score: what the model does not know has no length. */
int ls_fm_check_score_rows(const struct ls_fm_model *m, const struct ls_rows *rows,
			   struct ls_err *err);
/* To measure on: both, and not all weights are 0. */
int ls_fm_check_eval_rows(const struct ls_fm_model *m, const struct ls_rows *rows,
			  struct ls_err *err);
/* To train on: all of a row counts, and class weights, too. */
int ls_fm_check_train_rows(const struct ls_fm_opts *o, const struct ls_rows *rows,
			   struct ls_err *err);

#endif
