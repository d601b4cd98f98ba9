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

static char *difference_text(const struct ls_versus_metric *m)
{
	double d = m->value[1] - m->value[0];
	if (!m->has[0] || !m->has[1])
		return ls_xstrdup("");
	if (m->equal)
		return ls_xstrdup("equal");
	if (m->measured)
		return ls_xstrdup("measures the run, not judged");
	if (!isfinite(d))
		return ls_xstrdup("not finite");
	if (m->value[0] == 0)
		return ls_xasprintf("%+.3g", d);
	return ls_xasprintf("%+.3g (%+.2g %%)", d, 100 * d / fabs(m->value[0]));
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
			json_pack("{s:o,s:o,s:b}", "a",
				  m->has[0] ? ls_metric_to_json(m->value[0]) : json_null(), "b",
				  m->has[1] ? ls_metric_to_json(m->value[1]) : json_null(), "equal",
				  m->equal));
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
	":root{--fg:#1a1f24;--bg:#fff;--soft:#59636e;--line:#d8dee4}"
	"@media(prefers-color-scheme:dark){:root{--fg:#e6edf3;--bg:#0d1117;--soft:#9198a1;--line:"
	"#30363d}}"
	"body{margin:2rem auto;max-width:64rem;padding:0 1rem;font:15px/1.5 "
	"system-ui,sans-serif;color:var(--fg);background:var(--bg)}"
	"h1{font-size:1.5rem;margin:0 0 .3rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}"
	".verdict{font-size:1.1rem}table{border-collapse:collapse;width:100%;"
	"font-variant-numeric:tabular-nums}th,td{text-align:left;padding:.3rem .6rem;"
	"border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}"
	"th{color:var(--soft);font-weight:600}td.v{font-family:ui-monospace,monospace;font-size:"
	"13px}"
	"body>svg{max-width:100%;height:auto;display:block;margin:.6rem 0}";

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
		cell(out, "", json_string_value(how));
		ls_str_add(out, "</tr>\n");
	}
	ls_str_add(out, "</table>\n");
}

/* Takes the list of [step, value]. */
static void series_of(json_t *points, const char *name, struct ls_plot_series *ret)
{
	size_t n = json_array_size(points);
	double *x = ls_xalloc((n + 1) * sizeof *x), *y = ls_xalloc((n + 1) * sizeof *y);
	bool is;
	for (size_t i = 0; i < n; i++) {
		const json_t *p = json_array_get(points, i);
		x[i] = json_number_value(json_array_get(p, 0));
		y[i] = ls_metric_of_json(json_array_get(p, 1), &is);
	}
	*ret = (struct ls_plot_series){name, x, y, n};
	json_decref(points);
}

static int curve(struct ls_store *s, const struct ls_versus *v, const char *metric,
		 struct ls_str *out, struct ls_err *err)
{
	struct ls_plot_series series[2] = {0};
	int rc = 0;
	for (int i = 0; i < 2 && !rc; i++) {
		json_t *points = NULL;
		rc = ls_metric_curve(s, v->row[i], metric, &points, err);
		if (!rc)
			series_of(points, ls_col_text(v->row[i], "name"), &series[i]);
	}
	if (!rc && (series[0].n > 1 || series[1].n > 1))
		ls_plot_curves(series, 2, metric, out);
	for (int i = 0; i < 2; i++) {
		free((double *)(uintptr_t)series[i].x);
		free((double *)(uintptr_t)series[i].y);
	}
	return rc;
}

static int curves(struct ls_store *s, const struct ls_versus *v, struct ls_str *out,
		  struct ls_err *err)
{
	size_t drawn = 0;
	int rc = 0;
	struct ls_str plots = {0};
	for (size_t i = 0; i < v->n_metrics && !rc && drawn < CURVES_MOST; i++) {
		const struct ls_versus_metric *m = &v->metrics[i];
		size_t before = plots.len;
		if (m->has[0] && m->has[1])
			rc = curve(s, v, m->name, &plots, err);
		drawn += plots.len > before;
	}
	if (drawn)
		ls_str_addf(out, "<h2>Curves</h2>\n%s", plots.s);
	if (drawn == CURVES_MOST)
		ls_str_addf(out, "<p>The first %d.</p>\n", CURVES_MOST);
	ls_str_done(&plots);
	return rc;
}

int ls_versus_html(struct ls_store *s, const struct ls_versus *v, struct ls_str *out,
		   struct ls_err *err)
{
	ls_str_addf(out,
		    "<!doctype html>\n<html lang=en><meta charset=utf-8>"
		    "<meta name=viewport content=\"width=device-width\"><title>%s and %s</title>"
		    "<style>%s</style>\n<h1>%s and %s</h1>\n<p class=verdict>",
		    ls_col_text(v->row[0], "name"), ls_col_text(v->row[1], "name"), style,
		    ls_col_text(v->row[0], "name"), ls_col_text(v->row[1], "name"));
	ls_str_add_html(out, v->sentence);
	ls_str_addf(out, "</p>\n<p>A is %s, B is %s.</p>\n", ls_col_text(v->row[0], "name"),
		    ls_col_text(v->row[1], "name"));
	differences_html(v, out);
	metrics_html(v, out);
	files_html(v, out);
	int rc = curves(s, v, out, err);
	ls_str_add(out, "</html>\n");
	return rc;
}
