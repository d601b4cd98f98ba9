#include "run/verify.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/folder.h"

/* OUT/001, or the first number that is not taken: nothing of an earlier verify is touched. */
static int make_dir(const char *out, char **ret, struct ls_err *err)
{
	int rc = ls_folder_make(out, err);
	for (int i = 1; rc == 0 && i < 100000; i++) {
		char *dir = ls_xasprintf("%s/%03d", out, i);
		if (mkdir(dir, 0777) == 0) {
			*ret = realpath(dir, NULL);
			free(dir);
			return *ret ? 0 : ls_err_errno(err, out, "resolve");
		}
		if (errno != EEXIST)
			rc = ls_err_errno(err, dir, "make the folder");
		free(dir);
	}
	return rc ? rc : ls_err_set(err, LS_EIO, "%s: no free number for a new folder", out);
}

/* The value of "NAME=a,b,c" for a run, as "NAME=b". */
static char *varied(const char *vary, size_t run)
{
	const char *eq = strchr(vary, '='), *p = eq + 1;
	size_t values = 1;
	for (const char *q = p; *q; q++)
		values += *q == ',';
	for (size_t skip = run % values; skip; skip--)
		p = strchr(p, ',') + 1;
	return ls_xasprintf("%.*s=%.*s", (int)(eq - vary), vary, (int)strcspn(p, ","), p);
}

static int check_vary(const struct ls_verify_request *ask, struct ls_err *err)
{
	for (const char *const *v = ask->vary; v && *v; v++) {
		const char *eq = strchr(*v, '=');
		if (!eq || eq == *v || !strchr(eq, ','))
			return ls_err_set(err, LS_EINPUT,
					  "vary \"%.80s\": expected NAME=VALUE,VALUE…", *v);
	}
	return 0;
}

static size_t count(const char *const *list)
{
	size_t n = 0;
	while (list && list[n])
		n++;
	return n;
}

struct plan {
	const char *label;
	size_t number; /* decides the varied values */
	uint64_t seed;
	const char *trace;
};

/* The request's variables and then the varied ones; the texts of the latter are owned by the list's
 * tail. */
static const char **make_vars(const struct ls_verify_request *ask, size_t number,
			      struct ls_str *text)
{
	size_t fixed = count(ask->run.vars), n = count(ask->vary);
	const char **vars = ls_xalloc((fixed + n + 1) * sizeof *vars);
	for (size_t i = 0; i < fixed; i++)
		vars[i] = ask->run.vars[i];
	for (size_t i = 0; i < n; i++) {
		char *v = varied(ask->vary[i], number);
		ls_str_addf(text, "%s%s", i ? " " : "", v);
		vars[fixed + i] = v;
	}
	return vars;
}

static void free_vars(const struct ls_verify_request *ask, const char **vars)
{
	for (const char **v = vars + count(ask->run.vars); *v; v++)
		free((char *)(uintptr_t)*v);
	free(vars);
}

static int open_log(const struct ls_verify_request *ask, const char *kept, int *ret,
		    struct ls_err *err)
{
	*ret = -1;
	if (ask->show_output)
		return 0;
	char *path = ls_xasprintf("%s.log", kept);
	*ret = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int rc = *ret < 0 ? ls_err_errno(err, path, "create") : 0;
	free(path);
	return rc;
}

static void tell(const struct ls_verify_request *ask, const struct ls_verify_run *r)
{
	if (!ask->progress)
		return;
	char *line =
		ls_xasprintf("%-8s seed %llu %s%s%s, %.2f s", r->label, (unsigned long long)r->seed,
			     r->vars, *r->vars ? ", " : "",
			     r->result.child.status ? "failed" : "done", r->result.child.wall_s);
	ask->progress(ask->ctx, line);
	free(line);
}

static double now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* Runs the command in DIR/out, so that every run finds the same path in its settings and writes the
 * same one into its checkpoints, and then moves the folder to where it is kept. */
static int run_and_move(const struct ls_run_request *run, const char *kept,
			struct ls_run_result *ret, struct ls_err *err)
{
	struct ls_run_result result;
	int rc = ls_run(run, &result, err);
	if (rc)
		return rc;
	if (rename(run->out, kept) < 0) {
		rc = ls_err_errno(err, kept, "move the run's folder here");
		ls_run_result_done(&result);
		return rc;
	}
	free(result.path);
	result.path = ls_xasprintf("%s/run_manifest.json", kept);
	*ret = result;
	return 0;
}

static int one_run(const struct ls_verify_request *ask, struct ls_verify *v,
		   const struct plan *plan, struct ls_err *err)
{
	struct ls_run_request run = ask->run;
	struct ls_str text = {0};
	const char **vars = make_vars(ask, plan->number, &text);
	char *kept = ls_xasprintf("%s/%s", v->dir, plan->label);
	char *out = ls_xasprintf("%s/out", v->dir);
	run.vars = vars;
	run.out = out;
	run.policy.seed = plan->seed;
	run.policy.trace = plan->trace;
	struct ls_run_result result;
	int rc = open_log(ask, kept, &run.output, err);
	double begin = now();
	if (rc == 0)
		rc = run_and_move(&run, kept, &result, err);
	if (run.output >= 0)
		close(run.output);
	if (rc == 0) {
		v->runs = ls_grow(v->runs, v->n_runs, &v->cap_runs, sizeof *v->runs);
		v->runs[v->n_runs++] = (struct ls_verify_run){ls_xstrdup(plan->label),
							      kept,
							      ls_str_take(&text),
							      plan->seed,
							      begin,
							      now(),
							      result};
		kept = NULL;
		tell(ask, &v->runs[v->n_runs - 1]);
	}
	free(kept);
	free(out);
	ls_str_done(&text);
	free_vars(ask, vars);
	return rc;
}

/* Sets the verdict and returns true when the last run ends the whole thing. */
static bool run_ends_it(const struct ls_verify_request *ask, struct ls_verify *v)
{
	const struct ls_verify_run *r = &v->runs[v->n_runs - 1];
	const struct ls_launched *c = &r->result.child;
	if (c->interrupted) {
		v->verdict = LS_VERIFY_STOPPED;
		v->signal = c->interrupted;
		v->sentence = ls_xasprintf("stopped by a signal in %s", r->label);
		return true;
	}
	if (c->status == 0 && r->result.held)
		return false;
	v->verdict = LS_VERIFY_FAILED;
	if (c->status)
		v->sentence = ls_xasprintf("%s ended with status %d%s%s%s", r->label, c->status,
					   ask->show_output ? "" : ", see ",
					   ask->show_output ? "" : r->out,
					   ask->show_output ? "" : ".log");
	else
		v->sentence =
			ls_xasprintf("%s: %.*s", r->label, (int)strcspn(r->result.notices.s, "\n"),
				     r->result.notices.s);
	return true;
}

/* When a run was, and its processes as far as the hook has seen them. */
static struct ls_own_run own_run(const struct ls_verify_run *r, int64_t **ret_pids)
{
	const json_t *hook = json_object_get(r->result.manifest, "hook");
	const json_t *list = json_object_get(hook, "interpreters");
	size_t n = json_array_size(list);
	time_t begin = (time_t)r->begin;
	struct tm local;
	*ret_pids = ls_xalloc((n + 1) * sizeof **ret_pids);
	for (size_t i = 0; i < n; i++)
		(*ret_pids)[i] =
			json_integer_value(json_object_get(json_array_get(list, i), "pid"));
	(*ret_pids)[n] = r->result.child.pid;
	localtime_r(&begin, &local);
	return (struct ls_own_run){r->begin, r->end, local.tm_gmtoff, *ret_pids, n + 1};
}

static int compare(const struct ls_verify_request *ask, const struct ls_verify_run *a,
		   const struct ls_verify_run *b, struct ls_comparison **ret, struct ls_err *err)
{
	int64_t *pids_a, *pids_b;
	struct ls_own own = {own_run(a, &pids_a), own_run(b, &pids_b)};
	static const char *const private[] = {"run_manifest.json", "run_trace", "run_trace/*",
					      ".lockstep.*"};
	enum { OWN = sizeof private / sizeof *private };
	size_t n = count(ask->ignore);
	const char **ignore = ls_xalloc((n + OWN) * sizeof *ignore);
	memcpy(ignore, private, sizeof private);
	for (size_t i = 0; i < n; i++)
		ignore[OWN + i] = ask->ignore[i];
	struct ls_cmp_options opt = {.ignore = ignore, .n_ignore = n + OWN, .own = &own};
	int rc = ls_compare(a->out, b->out, &opt, ret, err);
	free(pids_a);
	free(pids_b);
	free(ignore);
	return rc;
}

static char *verdict_text(const struct ls_comparison *c)
{
	struct ls_str s = {0};
	ls_comparison_verdict(c, &s);
	return ls_str_take(&s);
}

/* Compares run 1 with each other run; the sentence is that of the first that differs, or of the
 * last. */
static int compare_runs(const struct ls_verify_request *ask, struct ls_verify *v,
			struct ls_err *err)
{
	for (size_t i = 1; i < v->n_runs; i++) {
		struct ls_comparison *c;
		int rc = compare(ask, &v->runs[0], &v->runs[i], &c, err);
		if (rc)
			return rc;
		v->comparisons = ls_grow(v->comparisons, v->n_comparisons, &v->cap_comparisons,
					 sizeof(void *));
		v->comparisons[v->n_comparisons++] = c;
		if (c->differs && v->verdict == LS_VERIFY_IDENTICAL) {
			v->verdict = LS_VERIFY_DIFFERS;
			char *text = verdict_text(c);
			v->sentence = ls_xasprintf("run1 and %s: %s", v->runs[i].label, text);
			free(text);
		}
	}
	assert(v->n_comparisons);
	if (v->verdict == LS_VERIFY_IDENTICAL)
		v->sentence = verdict_text(v->comparisons[v->n_comparisons - 1]);
	return 0;
}

static bool wrote_something(const struct ls_verify *v)
{
	return v->runs &&
	       json_array_size(json_object_get(v->runs[0].result.manifest, "outputs")) > 0;
}

static int do_control(const struct ls_verify_request *ask, struct ls_verify *v, struct ls_err *err)
{
	uint64_t seed = ask->run.policy.seed < INT64_MAX ? ask->run.policy.seed + 1 : 0;
	struct plan plan = {"control", 0, seed, NULL};
	int rc = one_run(ask, v, &plan, err);
	if (rc)
		return rc;
	free(v->sentence);
	v->sentence = NULL;
	if (run_ends_it(ask, v))
		return 0;
	rc = compare(ask, &v->runs[0], &v->runs[v->n_runs - 1], &v->control, err);
	if (rc)
		return rc;
	char *same = verdict_text(v->comparisons[0]), *other = verdict_text(v->control);
	if (v->control->differs) {
		v->sentence = ls_xasprintf("%s; with seed %llu: %s", same, (unsigned long long)seed,
					   other);
	} else {
		v->verdict = LS_VERIFY_INSENSIBLE;
		v->sentence = ls_xasprintf("%s, but so it is with seed %llu: the program does not "
					   "follow the seed, and identical "
					   "proves nothing",
					   same, (unsigned long long)seed);
	}
	free(same);
	free(other);
	return 0;
}

/* A program that has PyTorch and leaves no log is a fault of the tracing, never told as the
 * program's. */
static char *no_log(const struct ls_verify *v, const char *why)
{
	for (size_t i = v->n_runs - 2; i < v->n_runs; i++) {
		const struct ls_verify_run *r = &v->runs[i];
		const json_t *hook = json_object_get(r->result.manifest, "hook");
		const char *fault = json_string_value(json_object_get(
			json_array_get(json_object_get(hook, "failed"), 0), "reason"));
		if (r->result.child.status)
			return ls_xasprintf("%s ended with status %d", r->label,
					    r->result.child.status);
		if (fault)
			return ls_xasprintf("%s: the operation log failed: %s", r->label, fault);
	}
	const json_t *modules = json_object_get(v->runs[v->n_runs - 1].result.manifest, "modules");
	return ls_xasprintf(
		"%s: %s", why,
		json_object_get(modules, "torch")
			? "the program loaded PyTorch and called no operation of it, or was killed"
			: "the program did not use PyTorch");
}

/* The first trace against the last one. */
static int part_traces(struct ls_verify *v, size_t first, struct ls_err *err)
{
	const struct ls_verify_run *a = &v->runs[first], *b = &v->runs[v->n_runs - 1];
	char *ta = ls_xasprintf("%s/run_trace", a->out), *tb = ls_xasprintf("%s/run_trace", b->out);
	int rc = ls_optrace_part_folders(ta, tb, &v->parting, err);
	if (rc == LS_EUNKNOWN) {
		v->bisect_note = no_log(v, err->msg);
		rc = 0;
	}
	free(ta);
	free(tb);
	return rc;
}

enum { TRACES = 4 };

/* Traces the two environments that differed, the second one again while it does not part from the
 * first. */
static int do_bisect(const struct ls_verify_request *ask, struct ls_verify *v, struct ls_err *err)
{
	size_t other = 0, first = v->n_runs;
	while (other < v->n_comparisons && !v->comparisons[other]->differs)
		other++;
	for (int i = 0; i < TRACES; i++) {
		char label[32];
		snprintf(label, sizeof label, "trace%d", i + 1);
		struct plan plan = {label, i ? other + 1 : 0, ask->run.policy.seed, "ops"};
		int rc = one_run(ask, v, &plan, err);
		if (rc == 0 && (v->signal = v->runs[v->n_runs - 1].result.child.interrupted))
			v->bisect_note = ls_xasprintf("stopped by a signal in %s", label);
		else if (rc == 0 && i)
			rc = part_traces(v, first, err);
		if (rc || v->bisect_note || v->parting.kind != LS_PART_NONE)
			return rc;
	}
	v->bisect_note = ls_xasprintf(
		"no PyTorch operation differed in %d traced runs: what differs is made outside of "
		"PyTorch, or does not differ every time",
		TRACES);
	return 0;
}

static int do_runs(const struct ls_verify_request *ask, struct ls_verify *v, bool *ret_ended,
		   struct ls_err *err)
{
	for (size_t i = 0; i < ask->runs && !*ret_ended; i++) {
		char label[32];
		snprintf(label, sizeof label, "run%zu", i + 1);
		struct plan plan = {label, i, ask->run.policy.seed, NULL};
		int rc = one_run(ask, v, &plan, err);
		if (rc)
			return rc;
		*ret_ended = run_ends_it(ask, v);
	}
	return 0;
}

static int verify(const struct ls_verify_request *ask, struct ls_verify *v, struct ls_err *err)
{
	bool ended = false;
	int rc = do_runs(ask, v, &ended, err);
	if (rc || ended)
		return rc;
	if (!wrote_something(v)) {
		v->verdict = LS_VERIFY_NOTHING;
		v->sentence = ls_xstrdup("the runs wrote nothing under {out} or $LOCKSTEP_OUT: "
					 "there is nothing to compare");
		return 0;
	}
	rc = compare_runs(ask, v, err);
	if (rc == 0 && v->verdict == LS_VERIFY_DIFFERS && ask->bisect)
		return do_bisect(ask, v, err);
	if (rc == 0 && v->verdict == LS_VERIFY_IDENTICAL && ask->control)
		return do_control(ask, v, err);
	return rc;
}

int ls_verify(const struct ls_verify_request *request, struct ls_verify *ret, struct ls_err *err)
{
	struct ls_verify v = {.verdict = LS_VERIFY_IDENTICAL};
	int rc = check_vary(request, err);
	if (rc == 0)
		rc = make_dir(request->out, &v.dir, err);
	if (rc == 0)
		rc = verify(request, &v, err);
	if (rc) {
		if (v.dir && v.n_runs == 0)
			ls_folder_remove(v.dir); /* nothing ran */
		ls_verify_done(&v);
	} else {
		*ret = v;
	}
	return rc;
}

void ls_verify_done(struct ls_verify *v)
{
	for (size_t i = 0; i < v->n_runs; i++) {
		free(v->runs[i].label);
		free(v->runs[i].out);
		free(v->runs[i].vars);
		ls_run_result_done(&v->runs[i].result);
	}
	free(v->runs);
	for (size_t i = 0; i < v->n_comparisons; i++)
		ls_comparison_free(v->comparisons[i]);
	free(v->comparisons);
	ls_comparison_free(v->control);
	ls_parting_done(&v->parting);
	free(v->bisect_note);
	free(v->sentence);
	free(v->dir);
	*v = (struct ls_verify){0};
}
