/* Twin runs: the same command several times in fresh folders of one path, everything they
 * wrote compared, and where they part. A request borrows everything; a result owns all it
 * holds (ls_verify_done). One at a time a process, as ls_run. */
#ifndef LS_RUN_VERIFY_H
#define LS_RUN_VERIFY_H

#include "base/table.h"
#include "compare/compare.h"
#include "run/optrace.h"
#include "run/run.h"

struct ls_verify_request {
	struct ls_run_request
		run; /* out, vars, output and policy.trace are set for each run; vars come first */
	const char *out; /* the folder OUT/001, or the first number that is free, gets everything:
			    each run writes to OUT/001/out, which is then moved to OUT/001/run1 */
	unsigned runs;   /* at least 2 */
	const char *const *vary;    /* "NAME=a,b": run i has the value of i modulo their number;
				       NULL-terminated, or NULL */
	const char *const *ignore;  /* patterns of names not to compare; NULL-terminated, or NULL */
	const char *const *collect; /* paths that the command writes to elsewhere, see collect.h;
				       NULL-terminated, or NULL */
	const struct ls_tolerance_rules *tolerance; /* for a second verdict beside the exact one */
	bool strict;  /* a setting that the program undid counts as a policy that did not hold */
	bool control; /* one more run with another seed, which must differ */
	bool bisect; /* when runs differ, two more with --trace ops, and the operation at which they
			part */
	bool show_output;    /* the runs' output goes to the caller's, not to OUT/001/run1.log */
	const char *warning; /* a line for progress before the first run, or NULL */
	void (*progress)(void *ctx, const char *line);
	void *ctx;
};

enum ls_verdict_of_runs {
	LS_VERIFY_IDENTICAL,
	LS_VERIFY_DIFFERS,
	LS_VERIFY_FAILED,     /* a run did not succeed */
	LS_VERIFY_UNHELD,     /* the policy did not hold in a run */
	LS_VERIFY_NOTHING,    /* the runs wrote nothing that could be compared */
	LS_VERIFY_INSENSIBLE, /* another seed gave the same bits: identical proves nothing */
	LS_VERIFY_UNDECIDED,  /* nothing differs, and something was not read */
	LS_VERIFY_STOPPED,    /* by a signal */
};

struct ls_verify_run {
	char *label; /* "run1", "control", "trace1" */
	char *out,
		*vars; /* folder after the run, and what was varied ("OMP_NUM_THREADS=4"), or "" */
	char *tail;    /* the last lines of its log when it failed, or NULL */
	char *missing; /* the first path to collect that it did not write, or NULL */
	uint64_t seed;
	double begin, end; /* seconds since 1970 */
	struct ls_run_result result;
};

struct ls_verify {
	char *dir;
	struct ls_verify_run *runs; /* the runs proper first, then control, then traces */
	size_t n_runs, cap_runs;
	struct ls_comparison **comparisons; /* run 1 with run 2, 3, … */
	size_t n_comparisons, cap_comparisons;
	struct ls_comparison *control;
	struct ls_parting parting;
	char *bisect_note; /* why no parting can be told, or NULL */
	enum ls_verdict_of_runs verdict;
	char *sentence; /* the verdict in one line */
	int signal;
};

int ls_verify(const struct ls_verify_request *request, struct ls_verify *ret, struct ls_err *err);
void ls_verify_done(struct ls_verify *v);
json_t *ls_verify_json(const struct ls_verify *v);         /* new reference */
const char *ls_verify_held(const struct ls_verify_run *r); /* "yes", "NO", "nothing to hold" */
/* Name and value of what ran: command, runs, control, policy, code, environment; plain
 * text in two columns below an empty heading. */
void ls_verify_brief(const struct ls_verify *v, struct ls_table *ret);
/* "run1 and run2: within the tolerance: …" of the pair that is furthest apart, and the
 * same of the control: a tolerance that another seed is within shows nothing. Nothing
 * where no tolerance was given or nothing was compared. */
void ls_verify_second_verdict(const struct ls_verify *v, struct ls_str *out);
/* linked: with links to the manifests, for a page that lies beside the folders of the
 * runs. */
void ls_verify_html(const struct ls_verify *v, bool linked, struct ls_str *out);
void ls_verify_markdown(const struct ls_verify *v, struct ls_str *out); /* for a pull request */

#endif
