/* Whether rows can be trained on, measured on or scored with a model's options: labels, weights, and lengths where rows
 * are normalised. Borrows its arguments; any thread. */
#ifndef LS_FM_FIT_H
#define LS_FM_FIT_H

#include "base/err.h"
#include "fm/model.h"
#include "fm/rows.h"

/* name: of the file, for messages; NULL: none. The last two refuse rows that ls_fm_fit_rows refuses. */
int ls_fm_fit_rows(const struct ls_fm_opts *o, const struct ls_rows *rows, const char *name, struct ls_err *err);
/* To measure on: there are rows, their labels are of the task, not all weights are 0. */
int ls_fm_fit_measure(const struct ls_fm_opts *o, const struct ls_rows *rows, const char *name, struct ls_err *err);
/* To train on: class weights count, too. */
int ls_fm_fit_train(const struct ls_fm_opts *o, const struct ls_rows *rows, const char *name, struct ls_err *err);

#endif
