/* A comparison for a pull request. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"

static const char *status_text(enum ls_cmp_status s)
{
	static const char *const texts[] = {"differs",      "only in A",     "only in B",
					    "type changed", "shape changed", "size changed"};
	return texts[s];
}

static void add_what(struct ls_str *out, const struct ls_cmp_item *item)
{
	const struct ls_stats *s = item->stats;
	if (!s->elements) {
		ls_str_add(out, status_text(item->status));
		ls_str_add(out, item->a || item->b ? ": " : "");
		ls_str_add_markdown(out, item->a);
		ls_str_add(out, item->a && item->b ? " → " : "");
		ls_str_add_markdown(out, item->b);
		return;
	}
	ls_str_addf(out, "%" PRIu64 "/%" PRIu64 " from ", s->differing, s->elements);
	ls_str_add_markdown(out, item->first);
	if (ls_dtype_is_number(item->dtype) && s->max_abs > 0 && item->kind != LS_CMP_BYTES)
		ls_str_addf(out, ", max abs %.6g", s->max_abs);
	if (ls_dtype_is_float(item->dtype) && s->max_ulp)
		ls_str_addf(out, ", max ULP %" PRIu64, s->max_ulp);
}

static void add_item(struct ls_str *out, const struct ls_cmp_file *f,
		     const struct ls_cmp_item *item, bool tolerance)
{
	ls_str_add(out, "| ");
	if (*f->name && item->kind != LS_CMP_FILE) {
		ls_str_add_markdown(out, f->name);
		ls_str_add(out, ": ");
	}
	ls_str_add_markdown(out, item->name);
	ls_str_add(out, " | ");
	add_what(out, item);
	if (tolerance)
		ls_str_add(out, item->within ? " | within" : " | beyond");
	ls_str_add(out, " |\n");
}

void ls_comparison_markdown_table(const struct ls_comparison *c, size_t limit, struct ls_str *out)
{
	size_t shown = 0, all = 0;
	for (size_t i = 0; i < c->n_files; i++)
		for (size_t k = 0; k < c->files[i].n_items; k++) {
			if (c->files[i].items[k].own)
				continue;
			if (all++ == 0)
				ls_str_add(out, c->tolerance ? "\n| name | differs | tolerance |\n"
							       "|---|---|---|\n"
							     : "\n| name | differs |\n|---|---|\n");
			if (limit && shown == limit)
				continue;
			add_item(out, &c->files[i], &c->files[i].items[k], c->tolerance != NULL);
			shown++;
		}
	if (shown < all)
		ls_str_addf(out, "\n… and %zu more\n", all - shown);
}

void ls_comparison_markdown(const struct ls_comparison *c, size_t limit, struct ls_str *out)
{
	struct ls_str verdict = {0}, second = {0};
	ls_comparison_verdict(c, &verdict);
	ls_str_addf(out, "**%s**\n\nA: ", verdict.s);
	ls_str_add_markdown(out, c->a);
	ls_str_add(out, "<br>B: ");
	ls_str_add_markdown(out, c->b);
	ls_str_add(out, "\n");
	if (c->tolerance) {
		ls_comparison_second_verdict(c, &second);
		ls_str_addf(out, "\n%s (", second.s);
		ls_str_add_markdown(out, c->tolerance);
		ls_str_add(out, ")\n");
	}
	ls_comparison_markdown_table(c, limit, out);
	ls_str_done(&verdict);
	ls_str_done(&second);
}
