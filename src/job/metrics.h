/* Metrics in the store, as they are shown: of the last attempt of each experiment. Rows
 * are JSON objects of the caller's. One thread a store. */
#ifndef LS_JOB_METRICS_H
#define LS_JOB_METRICS_H

#include <stdbool.h>

#include "job/store.h"

/* Sets "metrics" of each row (of ls_experiment_list or _get) to {name: {"last", "step",
 * "points", "least", "most"}}: the value at the largest step, and the extremes of all
 * that are finite. */
int ls_metrics_attach(struct ls_store *s, json_t *rows, struct ls_err *err);

/* JSON has no NaN and no infinity: they are the texts "nan", "inf" and "-inf" there. */
json_t *ls_metric_to_json(double value);
/* NaN for what is no number, too; *ret_is: it is a number or one of these texts. */
double ls_metric_of_json(const json_t *v, bool *ret_is);

/* The value of a metric in an attached row, as NAME (the last value), NAME:min or
 * NAME:max; NULL where it has none. Borrowed. */
const json_t *ls_metric_value(const json_t *row, const char *name);

/* Points of one metric of the row's attempt by step; both arrays are to be freed. */
int ls_metric_curve(struct ls_store *s, const json_t *row, const char *name, double **ret_steps,
		    double **ret_values, size_t *ret_n, struct ls_err *err);

#endif
