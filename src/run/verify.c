#include "run/verify.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/folder.h"
#include "base/mem.h"
#include "gpu/driver.h"
#include "run/collect.h"
#include "run/folder.h"
#include "run/verify_run.h"

/* "cpu,cuda": known words, and a GPU where one is wanted. */
static int check_devices(const char *values, struct ls_err *err)
{
	int devices = 0, version, rc = 0;
	struct ls_err none;
	for (const char *v = values; *v && rc == 0; v += *v == ',') {
		size_t n = strcspn(v, ",");
		bool cuda = n == 4 && memcmp(v, "cuda", 4) == 0;
		if (!cuda && !(n == 3 && memcmp(v, "cpu", 3) == 0))
			return ls_err_set(err, LS_EINPUT,
					  "vary device: \"%.*s\" is not cpu or cuda",
					  (int)(n < 80 ? n : 80), v);
		if (cuda && (ls_gpu_count(NULL, &devices, &version, &none) || devices == 0))
			rc = ls_err_set(err, LS_EUNKNOWN,
					"vary device: there is no GPU here that the run on cuda "
					"could use; nothing was started");
		v += n;
	}
	return rc;
}

static int check_vary(const struct ls_verify_request *ask, struct ls_err *err)
{
	for (const char *const *v = ask->vary; v && *v; v++) {
		const char *eq = strchr(*v, '=');
		if (!eq || eq == *v || !strchr(eq, ','))
			return ls_err_set(err, LS_EINPUT,
					  "vary \"%.80s\": expected NAME=VALUE,VALUE…", *v);
		if (ls_str_starts(*v, LS_VARY_DEVICE) && ask->bisect)
			return ls_err_set(
				err, LS_EINPUT,
				"vary device: --bisect compares operations on one device; "
				"leave one of the two out");
		int rc = ls_str_starts(*v, LS_VARY_DEVICE)
				 ? check_devices(*v + strlen(LS_VARY_DEVICE), err)
				 : 0;
		if (rc)
			return rc;
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

static char *failure(const struct ls_verify_request *ask, const struct ls_verify_run *r)
{
	char *ended = ls_verify_how_it_ended(r);
	if (ask->show_output)
		return ended;
	char *s = ls_xasprintf("%s, see %s.log", ended, r->out);
	free(ended);
	return s;
}

/* Why a run's policy does not count as held, or NULL. */
static char *not_held(const struct ls_verify_request *ask, const struct ls_verify_run *r)
{
	const char *why = r->result.notices.s ? r->result.notices.s : "";
	const json_t *hook = json_object_get(r->result.manifest, "hook");
	const json_t *undone = json_array_get(json_object_get(hook, "undone"), 0);
	if (!r->result.held)
		return ls_xasprintf("%s: %.*s", r->label, (int)strcspn(why, "\n"), why);
	if (!ask->strict || !undone)
		return NULL;
	const char *setting = json_string_value(json_object_get(undone, "setting"));
	const char *where = json_string_value(json_object_get(undone, "where"));
	return ls_xasprintf("%s: the program changed %s at %s, which --strict does not allow",
			    r->label, setting ? setting : "a setting",
			    where && *where ? where : "a place that is not known");
}

/* Sets the verdict and returns true when the last run ends the whole thing. */
static bool run_ends_it(const struct ls_verify_request *ask, struct ls_verify *v)
{
	const struct ls_verify_run *r = &v->runs[v->n_runs - 1];
	const struct ls_launched *c = &r->result.child;
	char *sentence;
	if (c->interrupted) {
		v->verdict = LS_VERIFY_STOPPED;
		v->signal = c->interrupted;
		sentence = ls_xasprintf("stopped by a signal in %s", r->label);
	} else if (c->status) {
		v->verdict = LS_VERIFY_FAILED;
		sentence = failure(ask, r);
	} else if ((sentence = not_held(ask, r))) {
		v->verdict = LS_VERIFY_UNHELD;
	} else if (r->missing) {
		v->verdict = LS_VERIFY_NOTHING;
		sentence = ls_xasprintf("%s did not write %s, which --collect names", r->label,
					r->missing);
	}
	if (sentence) {
		free(v->sentence);
		v->sentence = sentence;
	}
	return sentence != NULL;
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
	if (ask->tolerance && ask->tolerance->n) {
		opt.tolerance = ask->tolerance->items;
		opt.n_tolerance = ask->tolerance->n;
		opt.tolerance_text = ask->tolerance->text.s;
	}
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

/* A difference outweighs what could not be read, whichever came first. */
static void judge(struct ls_verify *v, const struct ls_comparison *c, const char *label)
{
	enum ls_verdict_of_runs verdict = c->undecided ? LS_VERIFY_UNDECIDED : LS_VERIFY_DIFFERS;
	if (!c->differs || v->verdict == LS_VERIFY_DIFFERS || v->verdict == verdict)
		return;
	v->verdict = verdict;
	char *text = verdict_text(c);
	free(v->sentence);
	v->sentence = ls_xasprintf("run1 and %s: %s", label, text);
	free(text);
}

/* Compares run 1 with each other run; the sentence is that of the first that differs, or
 * of the last. */
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
		judge(v, c, v->runs[i].label);
	}
	assert(v->n_comparisons);
	if (v->verdict == LS_VERIFY_IDENTICAL)
		v->sentence = verdict_text(v->comparisons[v->n_comparisons - 1]);
	return 0;
}

static int wrote_something(const struct ls_verify_run *r, bool *ret, struct ls_err *err)
{
	struct ls_tree tree;
	int rc = ls_tree_read(r->out, &tree, err);
	if (rc == 0) {
		*ret = tree.n > 0;
		ls_tree_done(&tree);
	}
	return rc;
}

static int do_control(const struct ls_verify_request *ask, struct ls_verify *v, struct ls_err *err)
{
	uint64_t seed = ask->run.policy.seed < INT64_MAX ? ask->run.policy.seed + 1 : 0;
	struct ls_verify_plan plan = {"control", 0, seed, NULL};
	int rc = ls_verify_one(ask, v, &plan, err);
	if (rc)
		return rc;
	if (run_ends_it(ask, v))
		return 0;
	free(v->sentence);
	v->sentence = NULL;
	rc = compare(ask, &v->runs[0], &v->runs[v->n_runs - 1], &v->control, err);
	if (rc)
		return rc;
	char *same = verdict_text(v->comparisons[0]), *other = verdict_text(v->control);
	if (v->control->undecided) {
		v->verdict = LS_VERIFY_UNDECIDED;
		v->sentence = ls_xasprintf("%s; with seed %llu: %s", same, (unsigned long long)seed,
					   other);
	} else if (v->control->differs) {
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

/* A program that has PyTorch and leaves no log is a fault of the tracing, never told as
 * the program's. */
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

/* Traces the two environments that differed, the second one again while it does not part
 * from the first. */
static int do_bisect(const struct ls_verify_request *ask, struct ls_verify *v, struct ls_err *err)
{
	size_t other = 0, first = v->n_runs;
	while (other < v->n_comparisons && !v->comparisons[other]->differs)
		other++;
	for (int i = 0; i < TRACES; i++) {
		char label[32];
		snprintf(label, sizeof label, "trace%d", i + 1);
		struct ls_verify_plan plan = {label, i ? other + 1 : 0, ask->run.policy.seed,
					      "ops"};
		int rc = ls_verify_one(ask, v, &plan, err);
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
		struct ls_verify_plan plan = {label, i, ask->run.policy.seed, NULL};
		int rc = ls_verify_one(ask, v, &plan, err);
		if (rc)
			return rc;
		*ret_ended = run_ends_it(ask, v);
	}
	return 0;
}

static int verify(const struct ls_verify_request *ask, struct ls_verify *v, struct ls_err *err)
{
	bool ended = false, wrote = false;
	int rc = do_runs(ask, v, &ended, err);
	if (rc || ended)
		return rc;
	rc = wrote_something(&v->runs[0], &wrote, err);
	if (rc)
		return rc;
	if (!wrote) {
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
		rc = ls_folder_make_numbered(request->out, &v.dir, err);
	if (rc == 0)
		rc = ls_collect_check(request->collect, v.dir, err);
	if (rc == 0 && request->warning && request->progress)
		request->progress(request->ctx, request->warning);
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
	for (size_t i = 0; i < v->n_runs; i++)
		ls_verify_run_done(&v->runs[i]);
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
