/* The metrics that `eval` adds to those of metric.h, as scikit-learn defines them. Sums are
 * in binary64 in the order of the rows, or of the sorted scores, so they too are the same
 * bits everywhere. Borrows its arguments; any thread. */
#ifndef LS_FM_EVAL_MORE_METRICS_H
#define LS_FM_EVAL_MORE_METRICS_H

#include <stdbool.h>

#include "base/err.h"
#include "fm/data/rows.h"
#include "fm/model/model.h"

/* mae, r2: of a regression. precision, recall: of class 1, or the mean over the classes
 * that a label or a prediction has. pr-auc: average precision, over the scores that differ.
 * auc: of a multiclass task, the mean over the classes of each against all others. brier:
 * the mean of (probability - label)^2. calibration: expected calibration error, over ten
 * bins of the probability. ndcg: the mean over groups, equal scores sharing their ranks. */
enum ls_more_metric {
	LS_MORE_MAE,
	LS_MORE_R2,
	LS_MORE_PRECISION,
	LS_MORE_RECALL,
	LS_MORE_PR_AUC,
	LS_MORE_AUC,
	LS_MORE_BRIER,
	LS_MORE_CALIBRATION,
	LS_MORE_NDCG,
	LS_MORE_METRICS
};

struct ls_more_metrics {
	bool has[LS_MORE_METRICS];
	double value[LS_MORE_METRICS];
	/* where the task defines it and these rows do not: why */
	const char *why[LS_MORE_METRICS];
};

const char *ls_more_name(enum ls_more_metric metric);

/* score: n_rows × outputs, finite, with labels of the task. group: a number a row, for
 * ndcg, which then wants labels from 0 on; or NULL. Row weights count in all but ndcg, which
 * leaves rows of weight 0 out. */
int ls_more_compute(const struct ls_fm_model *m, const struct ls_rows *rows, const float *score,
		    const float *group, struct ls_more_metrics *ret, struct ls_err *err);

#endif
