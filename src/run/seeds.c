#include "run/seeds.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "compare/compare.h"
#include "run/collect.h"
#include "run/folder.h"
#include "run/seed_metric.h"
#include "run/verify_run.h"

static size_t count(const char *const *list)
{
	size_t n = 0;
	while (list && list[n])
		n++;
	return n;
}

static int check(const struct ls_seeds_request *ask, struct ls_err *err)
{
	for (const char *const *v = ask->vary; v && *v; v++) {
		const char *eq = strchr(*v, '='), *comma = eq ? strchr(eq, ',') : NULL;
		if (!comma || eq == *v || strchr(comma + 1, ','))
			return ls_err_set(err, LS_EINPUT,
					  "vary \"%.80s\": two configurations are compared, so "
					  "NAME=A,B is expected",
					  *v);
	}
	if (ask->run.policy.seed > (uint64_t)INT64_MAX - ask->seeds)
		return ls_err_set(err, LS_EINPUT, "seed %llu: no %u seeds follow it",
				  (unsigned long long)ask->run.policy.seed, ask->seeds);
	return 0;
}

/* "NAME=b" of "NAME=a,b" for the second configuration. */
static char *varied(const char *vary, size_t config)
{
	const char *eq = strchr(vary, '='), *comma = strchr(eq, ',');
	if (config == 0)
		return ls_xstrndup(vary, (size_t)(comma - vary));
	return ls_xasprintf("%.*s=%s", (int)(eq - vary), vary, comma + 1);
}

static void free_words(char **words)
{
	for (char **w = words; w && *w; w++)
		free(*w);
	free(words);
}

/* The request's variables and then the varied ones. */
static char **variables(const struct ls_seeds_request *ask, size_t config)
{
	size_t fixed = count(ask->run.vars), n = count(ask->vary);
	char **vars = ls_xalloc((fixed + n + 1) * sizeof *vars);
	for (size_t i = 0; i < fixed; i++)
		vars[i] = ls_xstrdup(ask->run.vars[i]);
	for (size_t i = 0; i < n; i++)
		vars[fixed + i] = varied(ask->vary[i], config);
	return vars;
}

static int open_log(const char *path, int *ret, struct ls_err *err)
{
	*ret = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return *ret < 0 ? ls_err_errno(err, path, "create") : 0;
}

static size_t undone(const struct ls_run_result *r)
{
	return json_array_size(json_object_get(json_object_get(r->manifest, "hook"), "undone"));
}

/* What ends everything: a signal, a failure, a policy that did not reach the program or,
 * with strict, did not last. */
static bool failed(const struct ls_seeds_request *ask, struct ls_seeds *s, const char *label,
		   const struct ls_run_result *r)
{
	s->signal = r->child.interrupted;
	s->run_failed = !s->signal && r->child.status;
	if (s->signal)
		s->failed = ls_xasprintf("stopped by a signal in %s", label);
	else if (r->child.status)
		s->failed = ls_xasprintf("%s ended with status %d, see %s/%s.log", label,
					 r->child.status, s->dir, label);
	else if (!r->held || (ask->strict && undone(r)))
		s->failed = ls_xasprintf("%s: %.*s", label, (int)strcspn(r->notices.s, "\n"),
					 r->notices.s);
	if (s->run_failed && !ask->show_output) {
		char *log = ls_xasprintf("%s/%s.log", s->dir, label);
		s->tail = ls_verify_last_lines(log);
		free(log);
	}
	return s->failed != NULL;
}

static void tell(const struct ls_seeds_request *ask, const struct ls_seeds_run *r, double wall_s)
{
	if (!ask->progress)
		return;
	char *line = ls_xasprintf("%s  %s = %.9g, %.2f s", r->label, ask->metric, r->value, wall_s);
	ask->progress(ask->ctx, line);
	free(line);
}

/* Reads the metric of a run that succeeded and keeps it. */
static int keep(const struct ls_seeds_request *ask, struct ls_seeds *s, size_t config,
		const char *label, uint64_t seed, double wall_s, struct ls_err *err)
{
	struct ls_seed_metric m;
	char *out = ls_xasprintf("%s/%s", s->dir, label), *log = ls_xasprintf("%s.log", out);
	int rc = ls_seed_metric_read(out, ask->show_output ? NULL : log, ask->metric, &m, err);
	if (rc == 0) {
		struct ls_seeds_config *c = &s->configs[config];
		c->runs = ls_grow(c->runs, c->n, &c->cap, sizeof *c->runs);
		c->runs[c->n++] = (struct ls_seeds_run){seed, ls_xstrdup(label), m.source, m.value};
		tell(ask, &c->runs[c->n - 1], wall_s);
	}
	free(out);
	free(log);
	return rc;
}

static int launch(const struct ls_seeds_request *ask, struct ls_seeds *s, size_t config,
		  uint64_t seed, const char *label, struct ls_run_result *ret, struct ls_err *err)
{
	struct ls_run_request run = ask->run;
	char **vars = variables(ask, config);
	char *out = ls_xasprintf("%s/%s", s->dir, label), *log = ls_xasprintf("%s.log", out);
	run.argv = config && ask->against ? ask->against : ask->run.argv;
	run.vars = (const char *const *)vars;
	run.out = out;
	run.output = -1;
	run.policy.seed = seed;
	int rc = ask->show_output ? 0 : open_log(log, &run.output, err);
	if (rc == 0)
		rc = ls_run(&run, ret, err);
	if (rc == 0) {
		const char *missing = NULL;
		rc = ls_collect_take(ask->collect, out, &missing, err);
		if (rc)
			ls_run_result_done(ret);
	}
	if (run.output >= 0)
		close(run.output);
	free_words(vars);
	free(out);
	free(log);
	return rc;
}

static int one_run(const struct ls_seeds_request *ask, struct ls_seeds *s, size_t config,
		   uint64_t seed, struct ls_err *err)
{
	struct ls_run_result result;
	char *label = s->n_configs == 1
			      ? ls_xasprintf("seed-%llu", (unsigned long long)seed)
			      : ls_xasprintf("%c-%llu", "AB"[config], (unsigned long long)seed);
	int rc = launch(ask, s, config, seed, label, &result, err);
	if (rc == 0) {
		if (!failed(ask, s, label, &result))
			rc = keep(ask, s, config, label, seed, result.child.wall_s, err);
		ls_run_result_done(&result);
	}
	free(label);
	return rc;
}

/* The configurations take turns, so that what changes on the machine meanwhile meets
 * both. */
static int all_runs(const struct ls_seeds_request *ask, struct ls_seeds *s, struct ls_err *err)
{
	for (unsigned i = 0; i < ask->seeds; i++)
		for (size_t c = 0; c < s->n_configs; c++) {
			int rc = one_run(ask, s, c, ask->run.policy.seed + i, err);
			if (rc || s->failed)
				return rc;
		}
	return 0;
}

/* Whether both runs of a seed wrote the same, and wrote something. */
static bool wrote_the_same(const struct ls_seeds *s, size_t i)
{
	static const char *const own[] = {"run_manifest.json", "run_trace", "run_trace/*",
					  ".lockstep.*"};
	struct ls_cmp_options opt = {.ignore = own, .n_ignore = sizeof own / sizeof *own};
	char *a = ls_xasprintf("%s/%s", s->dir, s->configs[0].runs[i].label);
	char *b = ls_xasprintf("%s/%s", s->dir, s->configs[1].runs[i].label);
	struct ls_comparison *c;
	struct ls_err err;
	bool same = ls_compare(a, b, &opt, &c, &err) == 0;
	if (same) {
		same = !c->differs && c->n_files > 0;
		ls_comparison_free(c);
	}
	free(a);
	free(b);
	return same;
}

static bool all_the_same(const struct ls_seeds *s)
{
	for (size_t i = 0; i < s->configs[0].n; i++)
		if (!wrote_the_same(s, i))
			return false;
	return true;
}

static double *values(const struct ls_seeds_config *c)
{
	double *v = ls_xalloc((c->n + 1) * sizeof *v);
	for (size_t i = 0; i < c->n; i++)
		v[i] = c->runs[i].value;
	return v;
}

static int judge(const struct ls_seeds_request *ask, struct ls_seeds *s, struct ls_err *err)
{
	double *a = values(&s->configs[0]), *b = values(&s->configs[1]);
	int rc = ls_stats_describe(a, s->configs[0].n, &s->configs[0].group, err);
	if (rc == 0 && s->n_configs == 2) {
		struct ls_stats_ask how = ask->ask;
		how.same_digests = !s->failed && all_the_same(s);
		how.seed = ask->run.policy.seed;
		rc = ls_stats_describe(b, s->configs[1].n, &s->configs[1].group, err);
		if (rc == 0)
			rc = ls_stats_compare(a, s->configs[0].n, b, s->configs[1].n, &how,
					      &s->pair, err);
	}
	free(a);
	free(b);
	return rc;
}

/* "A (LR=1)" after what was varied, or "A" alone. */
static char *config_name(const struct ls_seeds_request *ask, size_t config)
{
	struct ls_str s = {0};
	ls_str_addf(&s, "%c", "AB"[config]);
	for (size_t i = 0; i < count(ask->vary); i++) {
		char *v = varied(ask->vary[i], config);
		ls_str_add(&s, i ? " " : " (");
		ls_str_add_printable(&s, v);
		free(v);
	}
	ls_str_add(&s, count(ask->vary) ? ")" : "");
	return ls_str_take(&s);
}

int ls_seeds(const struct ls_seeds_request *request, struct ls_seeds *ret, struct ls_err *err)
{
	struct ls_seeds s = {.metric = ls_xstrdup(request->metric), .n_configs = 1};
	if (request->against || count(request->vary))
		s.n_configs = 2;
	for (size_t i = 0; i < 2; i++)
		s.configs[i].name = config_name(request, i);
	int rc = check(request, err);
	if (rc == 0)
		rc = ls_folder_make_numbered(request->out, &s.dir, err);
	if (rc == 0)
		rc = ls_collect_check(request->collect, s.dir, err);
	if (rc == 0)
		rc = all_runs(request, &s, err);
	if (rc == 0)
		rc = judge(request, &s, err);
	if (rc)
		ls_seeds_done(&s);
	else
		*ret = s;
	return rc;
}

void ls_seeds_done(struct ls_seeds *s)
{
	for (size_t c = 0; c < 2; c++) {
		for (size_t i = 0; i < s->configs[c].n; i++) {
			free(s->configs[c].runs[i].label);
			free(s->configs[c].runs[i].source);
		}
		free(s->configs[c].runs);
		free(s->configs[c].name);
	}
	free(s->dir);
	free(s->metric);
	free(s->failed);
	free(s->tail);
	*s = (struct ls_seeds){0};
}
