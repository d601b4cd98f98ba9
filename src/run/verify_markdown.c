/* A verify for a pull request: the verdict, the run in brief, the differences. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/verify.h"

enum { ROWS_SHOWN = 40 };

static void add_brief(struct ls_str *out, const struct ls_verify *v)
{
	struct ls_table t;
	ls_verify_brief(v, &t);
	for (size_t r = 1; r < t.rows; r++) {
		ls_str_addf(out, "| %s | ", t.cells[2 * r]);
		ls_str_add_markdown(out, t.cells[2 * r + 1]);
		ls_str_add(out, " |\n");
	}
	ls_table_done(&t);
}

static void add_notices(struct ls_str *out, const struct ls_verify *v)
{
	const char *first = v->runs[0].result.notices.s;
	for (size_t i = 0; i < v->n_runs; i++) {
		const char *text = v->runs[i].result.notices.s;
		if (!text || (i && first && strcmp(first, text) == 0))
			continue;
		char *copy = ls_xstrdup(text), *save = NULL;
		ls_str_add(out, "\n");
		for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
			ls_str_addf(out, "- %s: ", v->runs[i].label);
			ls_str_add_markdown(out, l);
			ls_str_add(out, "\n");
		}
		free(copy);
	}
}

static void add_comparison(struct ls_str *out, const char *label, const struct ls_comparison *c)
{
	if (!c->differs)
		return;
	ls_str_addf(out, "\n#### run1 (A) and %s (B)\n\n", label);
	ls_comparison_verdict(c, out);
	ls_str_add(out, "\n");
	ls_comparison_markdown_table(c, ROWS_SHOWN, out);
}

static void add_parting(struct ls_str *out, const struct ls_verify *v)
{
	const struct ls_parting *p = &v->parting;
	if (v->bisect_note) {
		ls_str_add(out, "\nbisect: ");
		ls_str_add_markdown(out, v->bisect_note);
		ls_str_add(out, "\n");
	}
	if (p->kind == LS_PART_NONE)
		return;
	ls_str_add(out, "\nThey part at **");
	ls_str_add_markdown(out, p->where);
	ls_str_addf(out, "**, operation %llu, ", (unsigned long long)p->at);
	ls_str_add_markdown(out, p->name);
	ls_str_add(out, ": ");
	ls_str_add_markdown(out, p->explanation);
	ls_str_add(out, "\n");
}

static void add_tail(struct ls_str *out, const char *lines)
{
	if (!lines || !*lines)
		return;
	ls_str_add(out, "\n<pre>\n");
	ls_str_add_html(out, lines);
	ls_str_add(out, "</pre>\n");
}

void ls_verify_markdown(const struct ls_verify *v, struct ls_str *out)
{
	ls_str_add(out, "**");
	ls_str_add_markdown(out, v->sentence);
	ls_str_add(out, "**\n\n| | |\n|---|---|\n");
	add_brief(out, v);
	add_notices(out, v);
	add_parting(out, v);
	for (size_t i = 0; i < v->n_comparisons; i++)
		add_comparison(out, v->runs[i + 1].label, v->comparisons[i]);
	add_tail(out, v->runs[v->n_runs - 1].tail);
}
