/* Whether rows can be trained on, measured on or scored with a model's options: labels,
 * weights, and lengths where rows are normalised. Borrows its arguments; any thread. */
#ifndef LS_FM_EVAL_CHECK_ROWS_H
#define LS_FM_EVAL_CHECK_ROWS_H

#include "base/err.h"
#include "fm/data/rows.h"
#include "fm/model/model.h"

/* Checks that there are rows, and that each has a label of the task. */
int ls_fm_check_labels(const struct ls_fm_opts *o, const struct ls_rows *rows, struct ls_err *err);
/* Checks rows that are to be scored. Entries that the model does not know have no
 * length. */
int ls_fm_check_score_rows(const struct ls_fm_model *m, const struct ls_rows *rows,
			   struct ls_err *err);
/* Checks rows that a model is evaluated on: both of the above, and not all weights are
 * 0. */
int ls_fm_check_eval_rows(const struct ls_fm_model *m, const struct ls_rows *rows,
			  struct ls_err *err);
/* Checks rows that are to be trained on: all entries count, and class weights, too. */
int ls_fm_check_train_rows(const struct ls_fm_opts *o, const struct ls_rows *rows,
			   struct ls_err *err);

#endif
