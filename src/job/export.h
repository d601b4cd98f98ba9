/* Experiments as a table for other programs: one row an experiment, or one a point of a
 * curve. The caller frees what is returned. One thread a store. */
#ifndef LS_JOB_EXPORT_H
#define LS_JOB_EXPORT_H

#include "job/store.h"

/* An array of flat objects with equal keys: exp_id, group, state, partition, num_gpus,
 * batch_size …, then a member for each metric, then one for each setting ("set.KEY" where
 * a metric or a column has the name). rows have their metrics attached. */
json_t *ls_export_rows(const json_t *rows);
/* The same, one for each point: exp_id, group, seed, attempt, metric, step, value,
 * source. */
int ls_export_curves(struct ls_store *s, const json_t *rows, json_t **ret, struct ls_err *err);

/* Flat objects as CSV: a heading, then a line for each. */
void ls_export_csv(const json_t *flat, struct ls_str *out);

#endif
