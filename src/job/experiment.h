/* Experiments: what was planned, from which code, on which machine. Rows are JSON objects
 * whose members are the columns of the table (schema.c). One thread a store. */
#ifndef LS_JOB_EXPERIMENT_H
#define LS_JOB_EXPERIMENT_H

#include "job/store.h"

/* Makes all of them, or none. A design is an object:
 *   name, command [words]                          needed
 *   group, description, template, partition, precision            texts
 *   num_gpus, batch_size, accumulation, global_batch, samples, warmup_steps, total_steps, seed,
 *   level                                          numbers
 *   settings {name: text}, harvest [rules], git {}, environment {}, after [names], tags [texts],
 *   notes [texts]
 * What is missing is unknown (num_gpus: 0). diff: the work tree against git's commit, or
 * NULL. */
int ls_experiment_new(struct ls_store *s, const json_t *designs, const char *diff,
		      struct ls_err *err);

/* One experiment with all its columns; command, settings, git, environment and harvest
 * are parsed. LS_EINPUT with a "did you mean" where there is none of that name. */
int ls_experiment_get(struct ls_store *s, const char *name, json_t **ret, struct ls_err *err);
/* Appends the names that a name stands for: of an experiment, or else of all of a
 * group. */
int ls_experiment_resolve(struct ls_store *s, const char *name, json_t *to, struct ls_err *err);
/* {"notes", "tags", "after", "attempts", "history", "artifacts"} of it. */
int ls_experiment_more(struct ls_store *s, const json_t *row, json_t **ret, struct ls_err *err);
/* The difference of the work tree to the commit, "" where there was none; to be freed. */
int ls_experiment_diff(struct ls_store *s, const json_t *row, char **ret, struct ls_err *err);
/* All experiments in the order of their making. state, tag and group filter where they
 * are not NULL. */
int ls_experiment_list(struct ls_store *s, const char *state, const char *tag, const char *group,
		       json_t **ret, struct ls_err *err);

int ls_experiment_note(struct ls_store *s, const char *name, const char *text, struct ls_err *err);
/* Adds a tag, or removes it. */
int ls_experiment_tag(struct ls_store *s, const char *name, const char *tag, bool remove,
		      struct ls_err *err);
/* Refuses one that is queued or running, or that others wait for. Its history stays. */
int ls_experiment_remove(struct ls_store *s, const char *name, struct ls_err *err);

/* The values of the placeholders, {name: text}. out and previous may be NULL, attempt
 * 0. */
json_t *ls_experiment_values(const json_t *row, const char *out, const char *previous,
			     int64_t attempt);
const char *ls_experiment_value(void *values, const char *name); /* an ls_placeholder */

#endif
