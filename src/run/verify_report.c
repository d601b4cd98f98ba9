/* A verify told as JSON and as one self-contained page. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/verify.h"

static const char *const verdicts[] = {
	[LS_VERIFY_IDENTICAL] = "identical",
	[LS_VERIFY_DIFFERS] = "differs",
	[LS_VERIFY_FAILED] = "failed",
	[LS_VERIFY_UNHELD] = "policy not held",
	[LS_VERIFY_NOTHING] = "nothing to compare",
	[LS_VERIFY_INSENSIBLE] = "insensible to the seed",
	[LS_VERIFY_UNDECIDED] = "undecided",
	[LS_VERIFY_STOPPED] = "stopped",
};

static json_t *run_json(const struct ls_verify_run *r)
{
	char *manifest = ls_xasprintf("%s/run_manifest.json", r->out);
	json_t *o = json_pack("{s:s,s:I,s:o,s:o,s:i,s:b,s:f,s:o}", "label", r->label, "seed",
			      (json_int_t)r->seed, "vary", ls_json_lossy(r->vars), "out",
			      ls_json_lossy(r->out), "status", r->result.child.status, "held",
			      r->result.held, "wall_s", r->result.child.wall_s, "manifest",
			      ls_json_lossy(manifest));
	free(manifest);
	json_object_set_new(o, "last_lines", r->tail ? ls_json_lossy(r->tail) : json_null());
	return o;
}

json_t *ls_verify_json(const struct ls_verify *v)
{
	json_t *runs = json_array(), *comparisons = json_array();
	for (size_t i = 0; i < v->n_runs; i++)
		json_array_append_new(runs, run_json(&v->runs[i]));
	for (size_t i = 0; i < v->n_comparisons; i++)
		json_array_append_new(comparisons, ls_comparison_json(v->comparisons[i]));
	return json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "verdict", verdicts[v->verdict],
			 "sentence", ls_json_lossy(v->sentence), "dir", ls_json_lossy(v->dir),
			 "runs", runs, "comparisons", comparisons, "control",
			 v->control ? ls_comparison_json(v->control) : json_null(), "parting",
			 ls_parting_json(&v->parting), "bisect_note",
			 v->bisect_note ? ls_json_lossy(v->bisect_note) : json_null());
}

static void cell(struct ls_str *out, const char *text)
{
	ls_str_add(out, "<td>");
	ls_str_add_html(out, text);
	ls_str_add(out, "</td>");
}

static void runs_table(struct ls_str *out, const struct ls_verify *v)
{
	ls_str_add(out, "<h2>Runs</h2><table><tr><th>run</th><th>seed</th><th>varied</"
			"th><th>status</th><th>policy held</th>"
			"<th>wall</th><th>peak memory</th><th>files</th></tr>\n");
	for (size_t i = 0; i < v->n_runs; i++) {
		const struct ls_verify_run *r = &v->runs[i];
		char text[64];
		ls_str_addf(out, "<tr><td><a href=\"%s/run_manifest.json\">%s</a></td>", r->label,
			    r->label);
		snprintf(text, sizeof text, "%llu", (unsigned long long)r->seed);
		cell(out, text);
		cell(out, r->vars);
		snprintf(text, sizeof text, "%d", r->result.child.status);
		cell(out, text);
		cell(out, r->result.held ? "yes" : "NO");
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
	for (size_t i = 0; i < v->n_runs; i++) {
		if (!v->runs[i].result.notices.s)
			continue;
		ls_str_addf(out, "<h3>%s</h3><pre>", v->runs[i].label);
		ls_str_add_html(out, v->runs[i].result.notices.s);
		ls_str_add(out, "</pre>\n");
	}
}

static void comparison(struct ls_str *out, const char *a, const char *b,
		       const struct ls_comparison *c)
{
	struct ls_str text = {0};
	enum { LINES = 200 };
	ls_comparison_text(c, LINES, &text);
	ls_str_addf(out, "<h3>%s and %s</h3><pre>", a, b);
	ls_str_add_html(out, text.s ? text.s : "");
	ls_str_add(out, "</pre>\n");
	ls_str_done(&text);
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

void ls_verify_html(const struct ls_verify *v, struct ls_str *out)
{
	ls_str_add(out, "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>lockstep "
			"verify</title><style>"
			"body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em "
			"auto;padding:0 1em}"
			"table{border-collapse:collapse}td,th{border:1px solid #8886;padding:.2em "
			".7em;text-align:left}"
			"pre{overflow-x:auto;background:#8881;padding:.7em}.v{font-size:1.3em;"
			"padding:.5em .8em;"
			"border-left:.4em solid}.yes{border-color:#2a7}.no{border-color:#c33}"
			"@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}a{color:"
			"#8cf}}</style>\n"
			"<h1>lockstep verify</h1>\n");
	ls_str_addf(out, "<p class=\"v %s\">", v->verdict == LS_VERIFY_IDENTICAL ? "yes" : "no");
	ls_str_add_html(out, v->sentence);
	ls_str_add(out, "</p>\n<pre>");
	size_t i;
	json_t *w;
	json_array_foreach(json_object_get(v->runs[0].result.manifest, "command"), i, w)
	{
		ls_str_add_html(out, json_string_value(w));
		ls_str_add(out, " ");
	}
	ls_str_add(out, "</pre>\n");
	parting(out, v);
	runs_table(out, v);
	notices(out, v);
	ls_str_add(out, "<h2>What they wrote</h2>\n");
	for (size_t n = 0; n < v->n_comparisons; n++)
		comparison(out, "run1", v->runs[n + 1].label, v->comparisons[n]);
	if (v->control)
		comparison(out, "run1", "control", v->control);
	ls_str_add(out, "</html>\n");
}
