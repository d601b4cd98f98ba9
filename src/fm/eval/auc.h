/* The area under the ROC curve, counted in integers: the same bits in whatever order rows
 * come. Borrows its arguments; any thread. Takes 8 bytes a row while it works. */
#ifndef LS_FM_EVAL_AUC_H
#define LS_FM_EVAL_AUC_H

#include <stdbool.h>

#include "fm/data/rows.h"

/* The AUC of finite scores, one a row, with labels above 0 or not. *has is false if the
 * rows that count are of one class: then there is none. Returns false: no memory. */
bool ls_auc(const struct ls_rows *rows, const float *score, bool *has, double *ret);

#endif
