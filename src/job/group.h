/* Groups of experiments and the values of one metric in each: what variance tests and
 * list --by shows. A struct ls_group owns its rows and values (ls_group_done). One thread
 * a store. */
#ifndef LS_JOB_GROUP_H
#define LS_JOB_GROUP_H

#include <stdbool.h>

#include "job/store.h"
#include "stats/stats.h"

struct ls_group {
	char *name;
	json_t *rows;   /* those that are done and have the metric; with metrics and artifacts */
	double *values; /* of the metric, one a row */
	size_t n;
	size_t unfinished; /* experiments that are not done: they do not count */
	size_t without;    /* done, and without the metric */
	size_t repeats;    /* done, with the seed and the value of another run: no new evidence */
	struct ls_stats_group stats;
};

/* name: a group, or what the names of experiments begin with. LS_EINPUT where there is
 * none. */
int ls_group_read(struct ls_store *s, const char *name, const char *metric, struct ls_group *ret,
		  struct ls_err *err);
void ls_group_done(struct ls_group *g);

/* The metrics that all finished experiments of the name have, as an array of texts. */
int ls_group_metrics(struct ls_store *s, const char *name, json_t **ret, struct ls_err *err);

/* Whether every run of a has one of b with its seed, and both wrote the same files with
 * the same digests: then there is nothing to test. False where no digests are known. */
bool ls_group_same(const struct ls_group *a, const struct ls_group *b);

/* Rows of a table by the values of a column: {by, "runs", "done", and for each other
 * column the value that all share, "*", or of a metric "mean ± sd (n)"}. Texts. */
json_t *ls_group_table(const json_t *rows, const char *by, const char *const *columns, size_t n);

#endif
