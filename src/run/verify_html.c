/* A verify as one self-contained page: the verdict, then what differs, then what ran. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/verify.h"

static void cell(struct ls_str *out, const char *text)
{
	ls_str_add(out, "<td>");
	ls_str_add_html(out, text);
	ls_str_add(out, "</td>");
}

static void runs_table(struct ls_str *out, const struct ls_verify *v, bool linked)
{
	ls_str_add(out, "<h2>Runs</h2><table><tr><th>run</th><th>seed</th><th>varied</"
			"th><th>status</th><th>policy held</th>"
			"<th>wall</th><th>peak memory</th><th>files</th></tr>\n");
	for (size_t i = 0; i < v->n_runs; i++) {
		const struct ls_verify_run *r = &v->runs[i];
		char text[64];
		ls_str_add(out, "<tr><td>");
		if (linked)
			ls_str_addf(out, "<a href=\"%s/run_manifest.json\">", r->label);
		ls_str_addf(out, "%s%s</td>", r->label, linked ? "</a>" : "");
		snprintf(text, sizeof text, "%llu", (unsigned long long)r->seed);
		cell(out, text);
		cell(out, r->vars);
		snprintf(text, sizeof text, "%d", r->result.child.status);
		cell(out, text);
		cell(out, ls_verify_held(r));
		snprintf(text, sizeof text, "%.2f s", r->result.child.wall_s);
		cell(out, text);
		snprintf(text, sizeof text, "%.0f MiB", (double)r->result.child.peak_rss / 1048576);
		cell(out, text);
		snprintf(text, sizeof text, "%zu",
			 json_array_size(json_object_get(r->result.manifest, "outputs")));
		cell(out, text);
		ls_str_add(out, "</tr>\n");
	}
	ls_str_add(out, "</table>\n");
}

static void notices(struct ls_str *out, const struct ls_verify *v)
{
	bool any = false;
	for (size_t i = 0; i < v->n_runs; i++) {
		if (!v->runs[i].result.notices.s)
			continue;
		ls_str_addf(out, "%s<h3>%s</h3><pre>", any ? "" : "<h2>Notices</h2>\n",
			    v->runs[i].label);
		any = true;
		ls_str_add_html(out, v->runs[i].result.notices.s);
		ls_str_add(out, "</pre>\n");
	}
}

static void comparison(struct ls_str *out, const char *label, const struct ls_comparison *c)
{
	ls_str_addf(out, "<h2>run1 (A) and %s (B)</h2>\n", label);
	ls_comparison_html_verdict(c, out);
	ls_comparison_html_details(c, out);
}

/* Its differences are as they must be, and so they are folded. */
static void control(struct ls_str *out, const struct ls_verify *v)
{
	if (!v->control)
		return;
	ls_str_addf(out, "<h2>The control: run1 (A) and seed %llu (B)</h2>\n<p>",
		    (unsigned long long)v->runs[v->n_runs - 1].seed);
	ls_comparison_verdict(v->control, out);
	ls_str_add(out, "</p>\n<details><summary>what the other seed changes</summary>\n");
	ls_comparison_html_details(v->control, out);
	ls_str_add(out, "</details>\n");
}

static void parting(struct ls_str *out, const struct ls_verify *v)
{
	const struct ls_parting *p = &v->parting;
	if (v->bisect_note) {
		ls_str_add(out, "<h2>Where they part</h2><p>");
		ls_str_add_html(out, v->bisect_note);
		ls_str_add(out, "</p>\n");
	}
	if (p->kind == LS_PART_NONE)
		return;
	ls_str_add(out, "<h2>Where they part</h2><p><b>");
	ls_str_add_html(out, p->where);
	ls_str_addf(out, "</b>: operation %llu, ", (unsigned long long)p->at);
	ls_str_add_html(out, p->name);
	ls_str_add(out, ": ");
	ls_str_add_html(out, p->explanation);
	ls_str_add(out, ".</p><table><tr><th>run</th><th>has</th></tr><tr><td>trace1</td>");
	cell(out, p->a);
	ls_str_addf(out, "</tr><tr><td>%s</td>", v->runs[v->n_runs - 1].label);
	cell(out, p->b);
	ls_str_add(out, "</tr></table><pre>");
	ls_str_add_html(out, p->stack);
	ls_str_add(out, "</pre>\n");
}

static void brief(struct ls_str *out, const struct ls_verify *v)
{
	struct ls_table t;
	ls_verify_brief(v, &t);
	ls_str_add(out, "<table>");
	for (size_t r = 1; r < t.rows; r++) {
		ls_str_addf(out, "<tr><th>%s</th>", t.cells[2 * r]);
		cell(out, t.cells[2 * r + 1]);
		ls_str_add(out, "</tr>\n");
	}
	ls_str_add(out, "</table>\n");
	ls_table_done(&t);
}

static void tail(struct ls_str *out, const struct ls_verify_run *last)
{
	if (!last->tail || !*last->tail)
		return;
	ls_str_addf(out, "<h2>The last lines of %s</h2><pre>", last->label);
	ls_str_add_html(out, last->tail);
	ls_str_add(out, "</pre>\n");
}

void ls_verify_html(const struct ls_verify *v, bool linked, struct ls_str *out)
{
	ls_comparison_html_head(v->sentence, out);
	ls_str_addf(out, "<h1>Twin runs</h1>\n<p class=\"verdict %s\">",
		    v->verdict == LS_VERIFY_IDENTICAL ? "good" : "bad");
	ls_str_add_html(out, v->sentence);
	ls_str_add(out, "</p>\n");
	brief(out, v);
	tail(out, &v->runs[v->n_runs - 1]);
	parting(out, v);
	for (size_t n = 0; n < v->n_comparisons; n++)
		comparison(out, v->runs[n + 1].label, v->comparisons[n]);
	control(out, v);
	runs_table(out, v, linked);
	notices(out, v);
	ls_str_add(out, "</body></html>\n");
}
