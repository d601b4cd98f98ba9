/* One command with several seeds, or two configurations of it: the spread of a metric
 * over the seeds, and whether the two differ by more. A request borrows everything; a
 * result owns all it holds (ls_seeds_done). One at a time a process, as ls_run. */
#ifndef LS_RUN_SEEDS_H
#define LS_RUN_SEEDS_H

#include "run/run.h"
#include "stats/stats.h"

struct ls_seeds_request {
	struct ls_run_request run;  /* out, vars, output, seed are set for each run */
	const char *const *against; /* the second configuration's command, or NULL */
	const char *const *vary;    /* "NAME=a,b": a for the first configuration, b for the second;
				       NULL-terminated, or NULL */
	const char *const *collect; /* paths that the command writes to elsewhere, see collect.h;
				       NULL-terminated, or NULL */
	bool strict;                /* a setting that the program undid ends it */
	const char *out;            /* the folder OUT/001, or the first number that is free */
	unsigned seeds;             /* at least 2; they follow run.policy.seed */
	const char *metric;         /* NAME or FILE:NAME, see seed_metric.h */
	struct ls_stats_ask ask;
	bool show_output; /* the runs' output goes to the caller's, and is not searched */
	void (*progress)(void *ctx, const char *line);
	void *ctx;
};

struct ls_seeds_run {
	uint64_t seed;
	char *label, *source; /* "A-1337"; where the metric was read */
	double value;
};

struct ls_seeds_config {
	char *name; /* "A (OMP_NUM_THREADS=1)", "the command" */
	struct ls_seeds_run *runs;
	size_t n, cap;
	struct ls_stats_group group;
};

struct ls_seeds {
	char *dir, *metric;
	struct ls_seeds_config configs[2];
	size_t n_configs;
	struct ls_stats_pair pair; /* of two configurations */
	char *failed;              /* which run did not succeed, and why; or NULL */
	char *tail;                /* the last lines of its log, or NULL */
	bool run_failed;           /* the program itself did not succeed */
	int signal;
};

/* A run that fails ends it, which is a result. A metric that is not there is an error. */
int ls_seeds(const struct ls_seeds_request *request, struct ls_seeds *ret, struct ls_err *err);
void ls_seeds_done(struct ls_seeds *s);

enum ls_seeds_answer { LS_SEEDS_YES, LS_SEEDS_NO, LS_SEEDS_UNKNOWN };
/* One configuration: yes, its spread is known; no, a run failed or diverged. Two: yes,
 * they agree within the margin; no, they differ by more. */
enum ls_seeds_answer ls_seeds_answer(const struct ls_seeds *s);
void ls_seeds_text(const struct ls_seeds *s, struct ls_str *out); /* all but the sentence */
void ls_seeds_sentence(const struct ls_seeds *s, struct ls_str *out);
json_t *ls_seeds_json(const struct ls_seeds *s); /* new reference */

#endif
