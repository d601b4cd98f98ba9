/* lockstep exp variance: the spread of a metric over the seeds of a group, and two
 * groups. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "cmd/exp.h"
#include "job/cells.h"
#include "job/group.h"
#include "stats/plot.h"

static const struct ls_opt variance_opts[] = {
	{"metric", 'm', "NAME", "which metric; NAME:min or NAME:max for an extreme of its curve"},
	{"margin", 0, "SHARE%|VALUE",
	 "what still counts as equal (default 0.5% of the first mean)"},
	{"svg", 0, "FILE", "draw the values and their intervals"},
	{"exp-prefix", 0, "PREFIX", "the group, instead of the first argument; may be repeated"},
	{0},
};

struct ask {
	const char *names[2];
	size_t n;
	const char *metric, *svg;
	struct ls_stats_ask how;
};

static int read_ask(const struct ls_args *args, struct ask *a, struct ls_err *err)
{
	const char *v;
	*a = (struct ask){.metric = ls_args_get(args, "metric"), .svg = ls_args_get(args, "svg")};
	for (size_t i = 0; i < args->n_pos && a->n < 3; i++, a->n++)
		if (a->n < 2)
			a->names[a->n] = args->pos[i];
	for (size_t i = 0; (v = ls_args_nth(args, "exp-prefix", i)) && a->n < 3; i++, a->n++)
		if (a->n < 2)
			a->names[a->n] = v;
	if (a->n == 0 || a->n > 2)
		return ls_err_set(err, LS_EINPUT, "one group or two, not %zu", a->n);
	return ls_stats_margin(ls_args_get(args, "margin"), &a->how, err);
}

/* --- one metric --- */

struct answer {
	struct ls_group groups[2];
	struct ls_stats_pair pair;
};

static void answer_done(struct answer *w)
{
	for (int i = 0; i < 2; i++)
		if (w->groups[i].name)
			ls_group_done(&w->groups[i]);
}

static int answer(struct ls_store *s, const struct ask *a, const char *metric, struct answer *w,
		  struct ls_err *err)
{
	struct ls_stats_ask how = a->how;
	int rc = 0;
	*w = (struct answer){0};
	for (size_t i = 0; i < a->n && !rc; i++)
		rc = ls_group_read(s, a->names[i], metric, &w->groups[i], err);
	if (!rc && a->n == 2) {
		how.same_digests = ls_group_same(&w->groups[0], &w->groups[1]);
		rc = ls_stats_compare(w->groups[0].values, w->groups[0].n, w->groups[1].values,
				      w->groups[1].n, &how, &w->pair, err);
	}
	if (rc)
		answer_done(w);
	return rc;
}

static int status_of(const struct ask *a, const struct answer *w)
{
	enum ls_stats_kind kind = w->groups[0].stats.kind;
	if (a->n == 1 && kind != LS_STATS_SPREAD)
		return kind == LS_STATS_NOT_FINITE ? LS_EXIT_NO : LS_EXIT_UNKNOWN;
	if (a->n == 1)
		return LS_EXIT_YES;
	switch (w->pair.verdict) {
	case LS_STATS_SAME:
	case LS_STATS_EQUIVALENT:
	case LS_STATS_SMALL:
		return LS_EXIT_YES;
	case LS_STATS_DIFFERENT:
		return LS_EXIT_NO;
	default:
		return LS_EXIT_UNKNOWN;
	}
}

/* --- text --- */

static void add_left_out(const struct ls_group *g, struct ls_str *out)
{
	if (g->unfinished)
		ls_str_addf(out, "  %zu not done and left out", g->unfinished);
	if (g->without)
		ls_str_addf(out, "  %zu without the metric", g->without);
	if (g->repeats)
		ls_str_addf(out, "  %zu with seed and value of another, left out", g->repeats);
}

static void sentence(const struct ask *a, const struct answer *w, struct ls_str *out)
{
	if (a->n == 1)
		ls_stats_group_sentence(&w->groups[0].stats, out);
	else
		ls_stats_pair_sentence(&w->pair, w->groups[0].name, w->groups[1].name, out);
}

static void print_answer(const struct ask *a, const char *metric, const struct answer *w)
{
	struct ls_str out = {0};
	ls_str_addf(&out, "%s\n", metric);
	for (size_t i = 0; i < a->n; i++) {
		ls_str_addf(&out, "  %s: ", w->groups[i].name);
		ls_stats_group_text(&w->groups[i].stats, &out);
		add_left_out(&w->groups[i], &out);
		ls_str_add(&out, "\n");
	}
	if (a->n == 2 && w->pair.verdict != LS_STATS_SAME)
		ls_stats_pair_text(&w->pair, &out);
	ls_str_add(&out, "  ");
	sentence(a, w, &out);
	puts(out.s);
	ls_str_done(&out);
}

/* --- JSON --- */

static json_t *runs_json(const struct ls_group *g)
{
	json_t *list = json_array(), *row;
	size_t i;
	json_array_foreach(g->rows, i, row)
	{
		json_t *v = isfinite(g->values[i]) ? json_real(g->values[i]) : json_null();
		json_array_append_new(list, json_pack("{s:O,s:O?,s:o}", "exp_id",
						      json_object_get(row, "name"), "seed",
						      json_object_get(row, "seed"), "value", v));
	}
	return list;
}

static json_t *group_json(const struct ls_group *g)
{
	json_t *v = ls_stats_group_json(&g->stats);
	json_object_set_new(v, "name", ls_json_lossy(g->name));
	json_object_set_new(v, "runs", runs_json(g));
	json_object_set_new(v, "unfinished", json_integer((json_int_t)g->unfinished));
	json_object_set_new(v, "without_metric", json_integer((json_int_t)g->without));
	json_object_set_new(v, "repeats", json_integer((json_int_t)g->repeats));
	return v;
}

static json_t *answer_json(const struct ask *a, const char *metric, const struct answer *w)
{
	struct ls_str text = {0};
	json_t *groups = json_array();
	for (size_t i = 0; i < a->n; i++)
		json_array_append_new(groups, group_json(&w->groups[i]));
	sentence(a, w, &text);
	json_t *v = json_pack("{s:o,s:o,s:o}", "metric", ls_json_lossy(metric), "groups", groups,
			      "sentence", ls_json_lossy(text.s));
	if (a->n == 2)
		json_object_set_new(
			v, "comparison",
			ls_stats_pair_json(&w->pair, w->groups[0].name, w->groups[1].name));
	ls_str_done(&text);
	return v;
}

/* --- SVG --- */

static int write_svg(const struct ask *a, const char *metric, const struct answer *w,
		     struct ls_err *err)
{
	struct ls_plot_group plot[2];
	const char **labels[2] = {0};
	struct ls_str out = {0};
	for (size_t i = 0; i < a->n; i++) {
		const struct ls_group *g = &w->groups[i];
		labels[i] = ls_xalloc((g->n + 1) * sizeof **labels);
		for (size_t k = 0; k < g->n; k++)
			labels[i][k] = ls_col_text(json_array_get(g->rows, k), "name");
		plot[i] = (struct ls_plot_group){g->name, g->values, labels[i], g->n, &g->stats};
	}
	ls_plot_strip(plot, a->n, metric, &out);
	int rc = ls_file_write_atomic(a->svg, out.s, out.len, err);
	ls_str_done(&out);
	free(labels[0]);
	free(labels[1]);
	return rc;
}

/* --- the command --- */

/* The one that was asked for, or all that every run has. */
static int metrics_of(struct ls_store *s, const struct ask *a, json_t **ret, struct ls_err *err)
{
	json_t *list = NULL;
	if (a->metric) {
		*ret = json_pack("[o]", ls_json_lossy(a->metric));
		return 0;
	}
	int rc = ls_group_metrics(s, a->names[0], &list, err);
	size_t n = json_array_size(list);
	if (!rc && n == 0)
		rc = ls_err_set(err, LS_EINPUT,
				"no finished run of %s has a metric; `lockstep exp harvest %s` "
				"reads them",
				a->names[0], a->names[0]);
	if (!rc && n > 1 && (a->n == 2 || a->svg)) {
		char *names = json_dumps(list, JSON_COMPACT);
		rc = ls_err_set(err, LS_EINPUT, "which metric? --metric names one of %s", names);
		free(names);
	}
	if (rc)
		json_decref(list);
	else
		*ret = list;
	return rc;
}

static int variance(struct ls_store *s, const struct ask *a, bool as_json)
{
	struct ls_err err = {0};
	json_t *metrics = NULL, *m, *all = json_array();
	int rc = metrics_of(s, a, &metrics, &err), status = 0;
	size_t i;
	json_array_foreach(metrics, i, m)
	{
		struct answer w = {0};
		const char *metric = json_string_value(m);
		rc = rc ? rc : answer(s, a, metric, &w, &err);
		if (!rc && a->svg)
			rc = write_svg(a, metric, &w, &err);
		if (!rc && as_json)
			json_array_append_new(all, answer_json(a, metric, &w));
		else if (!rc)
			print_answer(a, metric, &w);
		if (!rc && status_of(a, &w) > status)
			status = status_of(a, &w);
		answer_done(&w);
	}
	if (rc)
		status = ls_cmd_fail(&err);
	else if (as_json)
		ls_cmd_print_json_take(json_pack("{s:O}", "metrics", all));
	json_decref(metrics);
	json_decref(all);
	return status;
}

static int run_variance(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	struct ls_err err = {0};
	struct ask a;
	if (read_ask(args, &a, &err))
		return ls_cmd_usage("variance: %s", err.msg);
	int status = ls_exp_open(&s);
	if (status)
		return status;
	status = variance(s, &a, ls_args_has(args, "json"));
	ls_store_close(s);
	return status;
}

const struct ls_cmd ls_cmd_exp_variance = {
	.name = "variance",
	.summary = "the spread of a metric over seeds, and whether two groups differ",
	.synopsis = "[--metric NAME] [--margin SHARE%|VALUE] [--svg FILE] PREFIX [PREFIX2]",
	.details =
		"PREFIX is a group, or what names of experiments begin with. Only experiments that "
		"are done count.\n"
		"Two groups: Welch's test, equivalence within the margin (TOST), a bootstrap "
		"interval, and what so many\n"
		"seeds can and cannot show. Exit status of two groups: 0 equal within the margin, "
		"1 different,\n"
		"3 these seeds cannot tell. Of one: 1 a value is not finite, 3 there is no spread.",
	.opts = variance_opts,
	.max_pos = 2,
	.run = run_variance,
};
