/* How good scores are: logloss, rmse, accuracy, AUC, macro-F1. Sums are order-free, and
 * AUC and macro-F1 are counted in integers, so a metric is the same bits everywhere.
 * Borrows its arguments; any thread. */
#ifndef LS_FM_EVAL_METRIC_H
#define LS_FM_EVAL_METRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "fm/data/rows.h"
#include "fm/model/model.h"

bool ls_metric_more_is_better(enum ls_metric metric);
enum ls_metric ls_metric_default(enum ls_fm_task task);

/* Whether a metric can be had of labelled rows: auc is of two classes that count. */
int ls_metric_check(enum ls_metric metric, const struct ls_rows *rows, struct ls_err *err);
/* Refuses scores (n_rows × outputs) of which one is not finite, with its row. */
int ls_scores_finite(const struct ls_fm_model *m, const struct ls_rows *rows, const float *score,
		     struct ls_err *err);
/* score: n_rows × outputs. Row weights count in all of them; rows with a weight of 0
 * might as well not be there. */
int ls_metrics_compute(const struct ls_fm_model *m, const struct ls_rows *rows, const float *score,
		       struct ls_metrics *ret, struct ls_err *err);

/* Scores to what predict prints: probabilities for binary and multiclass, the score
 * itself for regression; in place. */
void ls_fm_link(const struct ls_fm_model *m, float *score, uint64_t n_rows);

#endif
