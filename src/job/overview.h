/* The experiments of a store at a glance, for pages that show them over and over: what is
 * asked for is bounded, whatever the store holds. Rows are JSON objects of the caller's.
 * One thread a store. */
#ifndef LS_JOB_OVERVIEW_H
#define LS_JOB_OVERVIEW_H

#include "job/store.h"

/* {"counts": {state: number}, "workers": […], "experiments": [rows]}: those that run,
 * then those that wait in the order of the queue, then the newest, at most `most`. Each
 * row has name, group, state, reason, engine, partition, gpus, seed, attempt, started,
 * ended, wall and metrics. Those of what runs come from the files that it writes. */
int ls_overview(struct ls_store *s, size_t most, json_t **ret, struct ls_err *err);

/* {"experiment", "metric", "points": [[step, value], …]} of its last attempt, evenly
 * thinned to about `most` points; the last one is always there. LS_EINPUT when there is
 * no such experiment. */
int ls_overview_curve(struct ls_store *s, const char *name, const char *metric, size_t most,
		      json_t **ret, struct ls_err *err);

#endif
