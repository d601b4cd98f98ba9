/* How two experiments beside each other are told: text, JSON, a page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "job/metrics.h"
#include "job/row.h"
#include "job/versus.h"
#include "stats/plot.h"

enum { CURVES_MOST = 24 };

/* --- text --- */

static char *value_text(const struct ls_versus_metric *m, int side)
{
	return m->has[side] ? ls_xasprintf("%.9g", m->value[side]) : ls_xstrdup("-");
}

/* Where curves part, and what only one of them has. */
static void add_steps(const struct ls_versus_metric *m, struct ls_str *out)
{
	size_t a = m->points[0], b = m->points[1];
	if (m->steps_differ && m->steps > 1)
		ls_str_addf(out, ", first at step %lld", (long long)m->first);
	if (a != b)
		ls_str_addf(out, ", %s has %zu more value%s", a > b ? "A" : "B",
			    a > b ? a - b : b - a, a - b == 1 || b - a == 1 ? "" : "s");
}

static void add_distance(const struct ls_versus_metric *m, struct ls_str *out)
{
	double a = m->value[0], d = m->value[1] - a;
	if (m->equal)
		ls_str_add(out, "equal");
	else if (m->steps && !m->steps_differ)
		ls_str_addf(out, "equal at %zu steps", m->steps);
	else if (d == 0 || (isnan(a) && isnan(m->value[1])))
		ls_str_add(out, "equal at the end");
	else if (!isfinite(d))
		ls_str_add(out, "not finite");
	else if (a == 0)
		ls_str_addf(out, "%+.3g", d);
	else
		ls_str_addf(out, "%+.3g (%+.2g %%)", d, 100 * d / fabs(a));
}

static char *difference_text(const struct ls_versus_metric *m)
{
	struct ls_str out = {0};
	if (!m->has[0] || !m->has[1])
		return ls_xstrdup("");
	if (m->measured && !m->equal)
		return ls_xstrdup("measures the run, not judged");
	add_distance(m, &out);
	add_steps(m, &out);
	return ls_str_take(&out);
}

static void add_table(const struct ls_table *t, struct ls_str *out)
{
	if (t->rows > 1)
		ls_table_text(t, out);
}

static void metrics_text(const struct ls_versus *v, struct ls_str *out)
{
	const char *const heading[] = {"METRIC", "A", "B", "DIFFERENCE"};
	struct ls_table t;
	ls_table_init(&t, 4, heading);
	for (size_t i = 0; i < v->n_metrics; i++) {
		const struct ls_versus_metric *m = &v->metrics[i];
		char *a = value_text(m, 0), *b = value_text(m, 1), *d = difference_text(m);
		const char *const cells[] = {m->name, a, b, d};
		ls_table_row(&t, cells);
		free(a);
		free(b);
		free(d);
	}
	if (v->n_metrics) {
		add_table(&t, out);
		ls_str_add(out, "\n");
	}
	ls_table_done(&t);
}

static void files_text(const struct ls_versus *v, struct ls_str *out)
{
	const char *path;
	json_t *how;
	bool any = false;
	json_object_foreach(v->files, path, how)
	{
		ls_str_addf(out, "%-10s ", json_string_value(how));
		ls_str_add_printable(out, path);
		ls_str_add(out,
			   strcmp(json_string_value(how), "log") ? "\n" : " (by its metrics)\n");
		any = true;
	}
	if (any)
		ls_str_add(out, "\n");
}

void ls_versus_text(const struct ls_versus *v, struct ls_str *out)
{
	for (int i = 0; i < 2; i++)
		ls_str_addf(out, "%s  %s (%s, attempt %lld)\n", i ? "B" : "A",
			    ls_col_text(v->row[i], "name"), ls_col_text(v->row[i], "state"),
			    (long long)ls_col_int(v->row[i], "attempt", 0));
	ls_str_add(out, "\n");
	ls_differences_text(&v->d, out);
	metrics_text(v, out);
	files_text(v, out);
	ls_str_addf(out, "%s\n", v->sentence);
}

/* --- JSON --- */

static const char *const verdicts[] = {"same", "differ", "unknown"};

json_t *ls_versus_json(const struct ls_versus *v)
{
	json_t *metrics = json_object();
	for (size_t i = 0; i < v->n_metrics; i++) {
		const struct ls_versus_metric *m = &v->metrics[i];
		json_object_set_new(
			metrics, m->name,
			json_pack("{s:o,s:o,s:b,s:I,s:I,s:o}", "a",
				  m->has[0] ? ls_metric_to_json(m->value[0]) : json_null(), "b",
				  m->has[1] ? ls_metric_to_json(m->value[1]) : json_null(), "equal",
				  m->equal, "steps", (json_int_t)m->steps, "steps_differ",
				  (json_int_t)m->steps_differ, "first_step",
				  m->steps_differ ? json_integer(m->first) : json_null()));
	}
	json_t *d = ls_differences_json(&v->d);
	json_t *all = json_pack(
		"{s:O,s:O,s:s,s:s,s:O,s:o,s:O,s:b}", "a", json_object_get(v->row[0], "name"), "b",
		json_object_get(v->row[1], "name"), "verdict", verdicts[v->verdict], "sentence",
		v->sentence, "differences", json_object_get(d, "differences"), "metrics", metrics,
		"files", v->files, "manifests", v->manifests);
	json_decref(d);
	return all;
}

/* --- a page --- */

static const char style[] =
	":root{color-scheme:light dark;--fg:#1a1f24;--bg:#fff;--soft:#59636e;--line:#d8dee4;"
	"--bad:#b3261e;--good:#1a7f37}"
	"@media(prefers-color-scheme:dark){:root{--fg:#e6edf3;--bg:#0d1117;--soft:#9198a1;"
	"--line:#30363d;--bad:#ff7b72;--good:#3fb950}}"
	"body{margin:2rem auto;max-width:64rem;padding:0 1rem;font:15px/1.5 "
	"system-ui,sans-serif;color:var(--fg);background:var(--bg)}"
	"h1{font-size:1.5rem;margin:0 0 .3rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}"
	".verdict{font-size:1.1rem}.differ{color:var(--bad)}.same{color:var(--good)}"
	"table{border-collapse:collapse;width:100%;"
	"font-variant-numeric:tabular-nums}th,td{text-align:left;padding:.3rem .6rem;"
	"border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}"
	"th{color:var(--soft);font-weight:600}td.v{font-family:ui-monospace,monospace;font-size:"
	"13px}figure{margin:.6rem 0 1.6rem}figcaption{color:var(--soft)}"
	"figure>svg{width:100%;height:auto;display:block}";

static void cell(struct ls_str *out, const char *class, const char *text)
{
	ls_str_addf(out, "<td%s>", class);
	ls_str_add_html(out, text);
	ls_str_add(out, "</td>");
}

static void differences_html(const struct ls_versus *v, struct ls_str *out)
{
	ls_str_add(out, "<h2>What was different</h2>\n");
	if (v->d.n == 0) {
		ls_str_add(out, "<p>Nothing that was recorded.</p>\n");
		return;
	}
	ls_str_add(out, "<table><tr><th>What<th>A<th>B<th>What it does</tr>\n");
	for (size_t i = 0; i < v->d.n; i++) {
		const struct ls_difference *d = &v->d.items[i];
		ls_str_add(out, "<tr>");
		cell(out, " class=v", d->what);
		cell(out, " class=v", d->a);
		cell(out, " class=v", d->b);
		ls_str_addf(out, "<td>%s", ls_weight_name(d->weight));
		ls_str_add(out, d->why ? ": " : "");
		ls_str_add_html(out, d->why);
		ls_str_add(out, "</td></tr>\n");
	}
	ls_str_add(out, "</table>\n");
}

static void metrics_html(const struct ls_versus *v, struct ls_str *out)
{
	ls_str_add(out, "<h2>What came out</h2>\n");
	if (v->n_metrics)
		ls_str_add(out, "<table><tr><th>Metric<th>A<th>B<th>Difference</tr>\n");
	for (size_t i = 0; i < v->n_metrics; i++) {
		const struct ls_versus_metric *m = &v->metrics[i];
		char *a = value_text(m, 0), *b = value_text(m, 1), *d = difference_text(m);
		ls_str_add(out, "<tr>");
		cell(out, "", m->name);
		cell(out, " class=v", a);
		cell(out, " class=v", b);
		cell(out, " class=v", d);
		ls_str_add(out, "</tr>\n");
		free(a);
		free(b);
		free(d);
	}
	ls_str_add(out, v->n_metrics ? "</table>\n" : "<p>No metric was harvested.</p>\n");
}

static void files_html(const struct ls_versus *v, struct ls_str *out)
{
	const char *path;
	json_t *how;
	if (json_object_size(v->files) == 0)
		return;
	ls_str_add(out, "<h2>Files</h2>\n<table><tr><th>File<th>Digest</tr>\n");
	json_object_foreach(v->files, path, how)
	{
		ls_str_add(out, "<tr>");
		cell(out, " class=v", path);
		cell(out, "",
		     strcmp(json_string_value(how), "log") == 0 ? "by its metrics"
								: json_string_value(how));
		ls_str_add(out, "</tr>\n");
	}
	ls_str_add(out, "</table>\n");
}

static size_t not_finite(const struct ls_plot_series *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		n += isfinite(s->y[i]) ? 0 : 1;
	return n;
}

static void caption(const struct ls_versus_metric *m, const struct ls_plot_series *series,
		    struct ls_str *out)
{
	ls_str_add(out, "<figcaption>");
	if (m->steps == 0)
		ls_str_add(out, "They have no step in common.");
	else if (m->steps_differ == 0)
		ls_str_addf(out, "Equal at all %zu common steps.", m->steps);
	else
		ls_str_addf(out, "Different at %zu of %zu common steps, first at step %lld.",
			    m->steps_differ, m->steps, (long long)m->first);
	if (m->measured)
		ls_str_add(out, " It measures the run and is not judged.");
	for (size_t i = 0; i < 2; i++)
		if (not_finite(&series[i]))
			ls_str_addf(out, " Not finite in %s: %zu.", i ? "B" : "A",
				    not_finite(&series[i]));
	ls_str_add(out, "</figcaption>");
}

static int curve(struct ls_store *s, const struct ls_versus *v, const struct ls_versus_metric *m,
		 struct ls_str *out, struct ls_err *err)
{
	double *x[2] = {0}, *y[2] = {0};
	size_t n[2] = {0};
	int rc = 0;
	for (int i = 0; i < 2 && !rc; i++)
		rc = ls_metric_curve(s, v->row[i], m->name, &x[i], &y[i], &n[i], err);
	if (!rc) {
		const struct ls_plot_series series[2] = {
			{ls_col_text(v->row[0], "name"), x[0], y[0], n[0]},
			{ls_col_text(v->row[1], "name"), x[1], y[1], n[1]}};
		ls_str_add(out, "<figure>");
		ls_plot_curves(series, 2, m->name, m->steps_differ ? (double)m->first : NAN, out);
		caption(m, series, out);
		ls_str_add(out, "</figure>\n");
	}
	for (int i = 0; i < 2; i++) {
		free(x[i]);
		free(y[i]);
	}
	return rc;
}

/* 0: judged and different, 1: judged and equal, 2: measures the run; -1: no curve of
 * both. */
static int curve_rank(const struct ls_versus_metric *m)
{
	if (!m->has[0] || !m->has[1] || (m->points[0] < 2 && m->points[1] < 2))
		return -1;
	return m->measured ? 2 : m->equal;
}

/* What differs comes first, so that it is there where not all are drawn. */
static int curves(struct ls_store *s, const struct ls_versus *v, struct ls_str *out,
		  struct ls_err *err)
{
	size_t all = 0, drawn = 0;
	int rc = 0;
	for (size_t i = 0; i < v->n_metrics; i++)
		all += curve_rank(&v->metrics[i]) >= 0;
	if (all)
		ls_str_add(out, "<h2>Curves</h2>\n");
	for (int rank = 0; rank < 3; rank++)
		for (size_t i = 0; i < v->n_metrics && !rc && drawn < CURVES_MOST; i++) {
			if (curve_rank(&v->metrics[i]) != rank)
				continue;
			rc = curve(s, v, &v->metrics[i], out, err);
			drawn++;
		}
	if (drawn < all)
		ls_str_addf(out,
			    "<p>These are %zu of %zu curves; <code>lockstep exp export "
			    "--curves</code> has the values of all.</p>\n",
			    drawn, all);
	return rc;
}

static void heading(const struct ls_versus *v, struct ls_str *out)
{
	const char *a = ls_col_text(v->row[0], "name"), *b = ls_col_text(v->row[1], "name");
	ls_str_addf(out,
		    "<!doctype html>\n<html lang=en><meta charset=utf-8>"
		    "<meta name=viewport content=\"width=device-width\"><title>%s and %s</title>"
		    "<style>%s</style>\n<h1>%s and %s</h1>\n<p class=\"verdict %s\">",
		    a, b, style, a, b, verdicts[v->verdict]);
	ls_str_add_html(out, v->sentence);
	ls_str_add(out, "</p>\n<p>");
	for (int i = 0; i < 2; i++)
		ls_str_addf(out, "%s is %s (%s, attempt %lld)%s", i ? "B" : "A", i ? b : a,
			    ls_col_text(v->row[i], "state"),
			    (long long)ls_col_int(v->row[i], "attempt", 0), i ? ".</p>\n" : ", ");
}

int ls_versus_html(struct ls_store *s, const struct ls_versus *v, struct ls_str *out,
		   struct ls_err *err)
{
	heading(v, out);
	differences_html(v, out);
	metrics_html(v, out);
	int rc = curves(s, v, out, err);
	files_html(v, out);
	ls_str_add(out, "</html>\n");
	return rc;
}
