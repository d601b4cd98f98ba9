/* lockstep exp submit, status, cancel, retry, explain, logs. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/table.h"
#include "cmd/exp.h"
#include "job/experiment.h"
#include "job/explain.h"
#include "job/queue.h"

/* --- submit --- */

static const struct ls_opt submit_opts[] = {
	{"engine", 0, "local|slurm", "who runs it: a `lockstep worker` (the default) or Slurm"},
	{"priority", 0, "N", "those with a larger number first (default 0)"},
	{"retries", 0, "N", "new attempts after a lost one before it is dead (default 2)"},
	{"cpus", 0, "N", "processors that it takes of the worker's --cpus (default 1)"},
	{"soft-limit", 0, "S", "seconds until it is told to end by SIGTERM; 0: never"},
	{"hard-limit", 0, "S", "seconds until it is killed with all its processes; 0: never"},
	{"grace", 0, "S", "seconds between SIGTERM and the kill"},
	{"requeue", 0, NULL, "after a time limit go on in a new attempt, with {previous}"},
	{"slurm", 0, NULL, "the same as --engine slurm; --partition means it, too"},
	{"partition", 'p', "P", "Slurm's partition (default: the experiment's own)"},
	{"gres", 0, "GRES",
	 "of each node, as in gpu:h200:2 (default: gpu: and the experiment's GPUs)"},
	{"nodes", 0, "N", "nodes that share the experiment's GPUs (default 1)"},
	{"time", 0, "TIME", "Slurm's time limit, as in 5:30:00 (default: --hard-limit)"},
	{"mem", 0, "SIZE", "memory of each node, as in 64G"},
	{"account", 'A', "A", "Slurm's account"},
	{"qos", 'q', "Q", "Slurm's QOS"},
	{"constraint", 'C', "C", "features of the nodes"},
	{"throttle", 0, "N", "of the seeds of a group at most N run at once"},
	{"sbatch", 0, "OPTION",
	 "any other option of sbatch, as in --sbatch=--nice=5; may be repeated"},
	LS_EXP_ID_OPT,
	{0},
};

static int submit_options(const struct ls_args *args, struct ls_submit *how, struct ls_err *err)
{
	uint64_t retries = 2, slots = 1;
	double priority = 0;
	const char *engine = ls_args_get(args, "engine");
	int rc = ls_args_u64(args, "retries", 0, 1000000, &retries, err);
	if (!rc)
		rc = ls_args_u64(args, "cpus", 1, 1000000, &slots, err);
	if (!rc)
		rc = ls_args_double(args, "priority", -1e9, 1e9, &priority, err);
	/* -1: not given, the worker's own */
	*how = (struct ls_submit){.engine = engine ? engine : "local",
				  .priority = (int64_t)priority,
				  .retries = (int64_t)retries,
				  .slots = (int64_t)slots,
				  .soft = -1,
				  .hard = -1,
				  .grace = -1,
				  .requeue = ls_args_has(args, "requeue")};
	if (!rc)
		rc = ls_args_double(args, "soft-limit", 0, 1e9, &how->soft, err);
	if (!rc)
		rc = ls_args_double(args, "hard-limit", 0, 1e9, &how->hard, err);
	return rc ? rc : ls_args_double(args, "grace", 0, 1e9, &how->grace, err);
}

/* The positional names and --exp-id. */
static size_t names_of(const struct ls_args *args, const char ***ret)
{
	const char *id = ls_args_get(args, "exp-id");
	const char **names = ls_xalloc((args->n_pos + 2) * sizeof *names);
	size_t n = 0;
	for (size_t i = 0; i < args->n_pos; i++)
		names[n++] = args->pos[i];
	if (id)
		names[n++] = id;
	*ret = names;
	return n;
}

static bool is_engine(const char *name)
{
	return strcmp(name, "local") == 0 || strcmp(name, "slurm") == 0;
}

static int run_submit(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	struct ls_submit how;
	struct ls_err err = {0};
	const char **names;
	if (submit_options(args, &how, &err))
		return ls_cmd_usage("submit: %s", err.msg);
	bool slurm = ls_exp_slurm_wanted(args);
	if (!is_engine(how.engine))
		return ls_cmd_usage("submit: --engine: \"%s\" is neither local nor slurm",
				    how.engine);
	if (ls_args_has(args, "engine") && strcmp(how.engine, "local") == 0 &&
	    ls_exp_slurm_only(args))
		return ls_cmd_usage("submit: --%s is for Slurm, and --engine is local",
				    ls_exp_slurm_only(args));
	if (!slurm && ls_exp_slurm_only(args))
		return ls_cmd_usage("submit: --%s is for Slurm: add --slurm",
				    ls_exp_slurm_only(args));
	int status = ls_exp_open(&s);
	if (status)
		return status;
	size_t n = names_of(args, &names);
	if (n == 0)
		status = ls_cmd_usage("submit: which experiments? `lockstep exp list` has all");
	else if (slurm)
		status = ls_exp_slurm_submit(s, args, names, n, &how);
	else if (ls_queue_submit(s, names, n, &how, &err))
		status = ls_cmd_fail(&err);
	else
		ls_exp_json_names(args, names, n);
	free(names);
	ls_store_close(s);
	return status;
}

const struct ls_cmd ls_cmd_exp_submit = {
	.name = "submit",
	.summary = "put experiments or groups into the queue",
	.synopsis = "[--engine local|slurm] [--slurm] [--partition P] [--priority N] [--retries N] "
		    "[--soft-limit S] [--hard-limit S] [--requeue] NAME…",
	.details = "When it returns 0, all of them are in the queue and on the disk; otherwise "
		   "none is.\n"
		   "With Slurm, the seeds of a group become one array, and the scripts stay in the "
		   "run folders.",
	.opts = submit_opts,
	.max_pos = -1,
	.run = run_submit,
};

/* --- cancel and retry --- */

static const struct ls_opt cancel_opts[] = {LS_EXP_ID_OPT, {0}};

static int run_cancel(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	struct ls_err err = {0};
	const char **names;
	int status = ls_exp_open(&s);
	if (status)
		return status;
	size_t n = names_of(args, &names);
	if (n == 0)
		status = ls_cmd_usage("cancel: which experiments?");
	else if (ls_queue_cancel(s, names, n, &err))
		status = ls_cmd_fail(&err);
	else if (!(status = ls_exp_refresh(s)))
		ls_exp_json_names(args, names, n);
	free(names);
	ls_store_close(s);
	return status;
}

const struct ls_cmd ls_cmd_exp_cancel = {
	.name = "cancel",
	.summary = "take experiments out of the queue, or end them where they run",
	.synopsis = "NAME…",
	.details = "One that runs gets SIGTERM, after its grace period SIGKILL.",
	.opts = cancel_opts,
	.max_pos = -1,
	.run = run_cancel,
};

static const struct ls_opt retry_opts[] = {
	{"failed", 0, NULL, "only those that failed, died or were cancelled; no NAME: all of them"},
	{"seed", 0, "N", "with this seed instead of the same"},
	LS_EXP_ID_OPT,
	{0},
};

static void print_names(json_t *names, const struct ls_args *args)
{
	const json_t *name;
	size_t i;
	if (ls_args_has(args, "json")) {
		ls_cmd_print_json_take(json_pack("{s:O}", "experiments", names));
		return;
	}
	json_array_foreach(names, i, name) printf("%s\n", json_string_value(name));
}

static int run_retry(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	struct ls_err err = {0};
	const char **names;
	json_t *done = NULL;
	uint64_t seed = 0;
	bool failed = ls_args_has(args, "failed");
	if (ls_args_u64(args, "seed", 0, INT64_MAX, &seed, &err))
		return ls_cmd_usage("retry: %s", err.msg);
	int64_t new_seed = (int64_t)seed;
	int status = ls_exp_open(&s);
	if (status)
		return status;
	size_t n = names_of(args, &names);
	if ((status = ls_exp_refresh(s)))
		;
	else if (n == 0 && !failed)
		status = ls_cmd_usage("retry: which experiments? --failed stands for all that "
				      "failed");
	else if (ls_queue_retry(s, names, n, failed, ls_args_has(args, "seed") ? &new_seed : NULL,
				&done, &err))
		status = ls_cmd_fail(&err);
	else if (!(status = ls_exp_slurm_retry(s, done)))
		print_names(done, args);
	json_decref(done);
	free(names);
	ls_store_close(s);
	return status;
}

const struct ls_cmd ls_cmd_exp_retry = {
	.name = "retry",
	.summary = "run ended experiments again, each in a new attempt folder",
	.synopsis = "[--failed] [--seed N] [NAME…]",
	.details = "Prints the names of those that are queued again.\n"
		   "What earlier attempts have written stays.",
	.opts = retry_opts,
	.max_pos = -1,
	.run = run_retry,
};

/* --- explain --- */

static int explain(struct ls_store *s, const char *name, const struct ls_args *args)
{
	struct ls_err err = {0};
	json_t *row, *reasons = json_array();
	const json_t *r;
	size_t i;
	int rc = ls_experiment_get(s, name, &row, &err);
	if (!rc)
		rc = ls_explain(s, row, reasons, &err);
	if (!rc && ls_args_has(args, "json")) {
		ls_cmd_print_json_take(json_pack("{s:s,s:O,s:O}", "name", name, "state",
						 json_object_get(row, "state"), "reasons",
						 reasons));
	} else if (!rc) {
		printf("%s is %s\n", name, ls_col_text(row, "state"));
		json_array_foreach(reasons, i, r)
		{
			fputs("  ", stdout);
			ls_cmd_print_name(json_string_value(r));
			puts("");
		}
	}
	json_decref(reasons);
	if (rc)
		return ls_cmd_fail(&err);
	json_decref(row);
	return 0;
}

static int run_explain(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	const char *name = ls_exp_name("explain", args);
	int status = name ? ls_exp_open(&s) : LS_EXIT_INPUT;
	if (status)
		return status;
	status = ls_exp_refresh(s);
	if (!status)
		status = explain(s, name, args);
	ls_store_close(s);
	return status;
}

static const struct ls_opt explain_opts[] = {LS_EXP_ID_OPT, {0}};

const struct ls_cmd ls_cmd_exp_explain = {
	.name = "explain",
	.summary = "why it is not running: which resource, limit or dependency",
	.synopsis = "NAME",
	.opts = explain_opts,
	.max_pos = 1,
	.run = run_explain,
};

/* --- status --- */

static const struct ls_opt status_opts[] = {
	{"follow", 'f', NULL, "again every second, until nothing is queued or running"},
	{"window", 0, "S", "count the attempts that ended in these last seconds (default 3600)"},
	{0},
};

static void print_active(const json_t *rows)
{
	static const char *const heading[] = {"name", "state", "attempt", "gpus", "reason"};
	struct ls_table t;
	struct ls_str out = {0};
	const json_t *row;
	size_t i;
	ls_table_init(&t, 5, heading);
	json_array_foreach(rows, i, row)
	{
		const char *state = ls_col_text(row, "state"), *gpus = ls_col_text(row, "gpus");
		char *attempt = ls_xasprintf("%lld", (long long)ls_col_int(row, "attempt", 0));
		const char *const cells[] = {ls_col_text(row, "name"), state, attempt,
					     gpus && strcmp(gpus, "[]") != 0 ? gpus : "",
					     ls_col_text(row, "reason")};
		if (strcmp(state, "queued") == 0 || strcmp(state, "running") == 0)
			ls_table_row(&t, cells);
		free(attempt);
	}
	if (t.rows > 1)
		ls_table_text(&t, &out);
	if (out.s)
		fputs(out.s, stdout);
	ls_str_done(&out);
	ls_table_done(&t);
}

static void print_counts(const json_t *counts, const json_t *workers)
{
	const json_t *window = json_object_get(counts, "window");
	const char *key;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)counts, key, v) if (json_is_integer(v))
		printf("%s %lld  ", key, (long long)json_integer_value(v));
	printf("workers %zu\n", json_array_size(workers));
	if (ls_col_int(window, "ended", 0))
		printf("%lld of %lld attempts succeeded in the last %.0f s\n",
		       (long long)ls_col_int(window, "done", 0),
		       (long long)ls_col_int(window, "ended", 0),
		       ls_col_real(window, "seconds", 0));
}

/* active: whether anything is queued or running. */
static int status_once(struct ls_store *s, const struct ls_args *args, double window, double *next,
		       bool *ret_active)
{
	struct ls_err err = {0};
	json_t *counts = NULL, *rows = NULL, *workers = NULL;
	int status = ls_exp_refresh_sometimes(s, next);
	if (status)
		return status;
	int rc = ls_queue_counts(s, window, &counts, &err);
	if (!rc)
		rc = ls_queue_workers(s, &workers, &err);
	if (!rc)
		rc = ls_experiment_list(s, NULL, NULL, NULL, &rows, &err);
	if (!rc) {
		*ret_active = ls_col_int(counts, "queued", 0) + ls_col_int(counts, "running", 0);
		if (ls_args_has(args, "json")) {
			ls_cmd_print_json_take(
				json_pack("{s:O,s:O}", "counts", counts, "workers", workers));
		} else {
			print_active(rows);
			print_counts(counts, workers);
		}
	}
	json_decref(counts);
	json_decref(rows);
	json_decref(workers);
	return rc ? ls_cmd_fail(&err) : 0;
}

static int run_status(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	struct ls_err err = {0};
	double window = 3600, next = 0;
	bool active = false;
	if (ls_args_double(args, "window", 1, 1e9, &window, &err))
		return ls_cmd_usage("status: %s", err.msg);
	int status = ls_exp_open(&s);
	if (status)
		return status;
	status = status_once(s, args, window, &next, &active);
	while (!status && active && ls_args_has(args, "follow")) {
		sleep(1);
		if (ls_cmd_can_draw(stdout))
			fputs("\033[H\033[2J", stdout);
		status = status_once(s, args, window, &next, &active);
		fflush(stdout);
	}
	ls_store_close(s);
	return status;
}

const struct ls_cmd ls_cmd_exp_status = {
	.name = "status",
	.summary = "what is queued and running, and how the last ones ended",
	.synopsis = "[-f] [--window S]",
	.opts = status_opts,
	.run = run_status,
};
