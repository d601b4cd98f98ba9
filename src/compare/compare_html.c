/* A comparison as one page, or as a part of one: no script, nothing loaded from
 * elsewhere. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"

enum { HISTOGRAMS_SHOWN = 200, BAR_WIDTH = 320 };

static const char style[] =
	":root{--fg:#1a1f24;--bg:#fff;--soft:#59636e;--line:#d8dee4;--bad:#b3261e;--good:#1a7f37;--"
	"bar:#3b6fb6;--zebra:"
	"#f6f8fa}"
	"@media(prefers-color-scheme:dark){:root{--fg:#e6edf3;--bg:#0d1117;--soft:#9198a1;--line:#"
	"30363d;--bad:#ff7b72;"
	"--good:#3fb950;--bar:#79a6e8;--zebra:#151b23}}"
	"body{margin:2rem auto;max-width:72rem;padding:0 1rem;font:15px/1.5 "
	"system-ui,sans-serif;color:var(--fg);"
	"background:var(--bg)}h1{font-size:1.5rem;margin:0 0 .3rem}h2{font-size:1.1rem;margin:2rem "
	"0 .5rem}"
	".verdict{font-size:1.15rem;font-weight:600}.bad{color:var(--bad)}.good{color:var(--good)}."
	"soft{color:var(--"
	"soft)}"
	"code{font:13px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}"
	"table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}"
	"th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid "
	"var(--line);vertical-align:top}"
	"th{font-weight:600;color:var(--soft)}td.n,th.n{text-align:right;white-space:nowrap}"
	"tr:nth-child(even)>*{background:var(--zebra)}.wide{overflow-x:auto;margin-bottom:1.2rem}"
	"h3{font-size:1rem;margin:1.4rem 0 .4rem}h4{font-size:.9rem;margin:.8rem 0 .3rem}"
	"pre{overflow-x:auto;background:var(--zebra);padding:.6rem;font:13px/1.5 "
	"ui-monospace,monospace}a{color:var(--bar)}"
	"details{margin:.4rem 0}summary{cursor:pointer}svg text{fill:var(--fg);font:12px "
	"ui-monospace,monospace}"
	"svg rect{fill:var(--bar)}svg{max-width:100%;height:auto}.wide "
	"td:first-child{min-width:14rem}";

static void add_cell(struct ls_str *out, const char *class, const char *text)
{
	ls_str_addf(out, "<td%s>", class);
	ls_str_add_html(out, text);
	ls_str_add(out, "</td>");
}

/* Bars over the buckets between the first and the last that is not empty, so that gaps
 * are seen. */
static void add_histogram(struct ls_str *out, const struct ls_stats *s)
{
	int first = LS_ULP_BUCKETS, last = -1;
	uint64_t most = 1;
	for (int i = 0; i < LS_ULP_BUCKETS; i++) {
		if (!s->ulp[i])
			continue;
		first = first < i ? first : i;
		last = i;
		most = most > s->ulp[i] ? most : s->ulp[i];
	}
	if (last < 0)
		return;
	ls_str_addf(out,
		    "<svg role=\"img\" aria-label=\"ULP histogram\" width=\"640\" height=\"%d\" "
		    "viewBox=\"0 0 640 %d\">",
		    (last - first + 1) * 18 + 4, (last - first + 1) * 18 + 4);
	for (int i = first; i <= last; i++) {
		char bucket[64];
		int y = (i - first) * 18;
		double width = (double)s->ulp[i] / (double)most * BAR_WIDTH;
		ls_ulp_bucket_text(i, bucket, sizeof bucket);
		ls_str_addf(out, "<text x=\"150\" y=\"%d\" text-anchor=\"end\">%s</text>", y + 13,
			    bucket);
		ls_str_addf(out, "<rect x=\"160\" y=\"%d\" width=\"%.1f\" height=\"13\"/>", y + 2,
			    s->ulp[i] && width < 1 ? 1.0 : width);
		ls_str_addf(out, "<text x=\"%.1f\" y=\"%d\">%" PRIu64 "</text>", 166 + width,
			    y + 13, s->ulp[i]);
	}
	ls_str_add(out, "</svg>");
}

static void add_stats_row(struct ls_str *out, const struct ls_cmp_item *item, bool tolerance)
{
	const struct ls_stats *s = item->stats;
	bool number = ls_dtype_is_number(item->dtype) && s->value && item->kind != LS_CMP_BYTES;
	bool real = ls_dtype_is_float(item->dtype) && s->max_ulp;
	ls_str_add(out, "<tr><td><code>");
	ls_str_add_html(out, item->name);
	ls_str_add(out, "</code>");
	if (item->kind == LS_CMP_TENSOR && item->a) {
		ls_str_add(out, "<br><span class=\"soft\">");
		ls_str_add_html(out, item->a);
		ls_str_add(out, "</span>");
	}
	ls_str_addf(out, "</td><td class=\"n\">%" PRIu64 " / %" PRIu64 "</td>", s->differing,
		    s->elements);
	add_cell(out, " class=\"n\"", item->first);
	ls_str_add(out, "<td class=\"n\">");
	if (number)
		ls_str_addf(out, "%.6g", s->max_abs);
	ls_str_add(out, "</td><td class=\"n\">");
	if (real)
		ls_str_addf(out, "%" PRIu64, s->max_ulp);
	ls_str_addf(out,
		    "</td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRIu64
		    "</td><td class=\"n\">%" PRIu64 "</td>",
		    s->zero_sign, s->nan_payload, s->nan_one);
	if (tolerance)
		add_cell(out, item->within ? " class=\"good\"" : " class=\"bad\"",
			 item->within ? "within" : "beyond");
	ls_str_add(out, "</tr>\n");
}

static bool has_stats(const struct ls_cmp_item *item)
{
	return !item->own && item->status == LS_CMP_DIFFERS && item->kind != LS_CMP_VALUE &&
	       item->kind != LS_CMP_FILE;
}

static void end_table(struct ls_str *out, bool open)
{
	if (open)
		ls_str_add(out, "</table></div>\n");
}

static void add_stats_table(struct ls_str *out, const struct ls_cmp_file *f, bool tolerance)
{
	bool open = false;
	for (size_t i = 0; i < f->n_items; i++) {
		if (!has_stats(&f->items[i]))
			continue;
		if (!open)
			ls_str_addf(out,
				    "<div class=\"wide\"><table><tr><th>name</th><th "
				    "class=\"n\">differing</th>"
				    "<th class=\"n\">first</th><th class=\"n\">max abs</th><th "
				    "class=\"n\">max ULP</th>"
				    "<th class=\"n\">±0</th><th class=\"n\">NaN payload</th>"
				    "<th class=\"n\">NaN one side</th>%s</tr>\n",
				    tolerance ? "<th>tolerance</th>" : "");
		open = true;
		add_stats_row(out, &f->items[i], tolerance);
	}
	end_table(out, open);
}

static const char *status_text(enum ls_cmp_status s)
{
	static const char *const texts[] = {"differs",      "only in A",     "only in B",
					    "type changed", "shape changed", "size changed"};
	return texts[s];
}

static void add_side(struct ls_str *out, const struct ls_cmp_item *item, bool *open)
{
	if (!*open)
		ls_str_add(out,
			   "<div class=\"wide\"><table><tr><th>name</th><th>what</th><th>A</th>"
			   "<th>B</th></tr>\n");
	*open = true;
	ls_str_add(out, "<tr><td><code>");
	ls_str_add_html(out, item->name);
	ls_str_addf(out, "</code></td><td>%s%s</td>", status_text(item->status),
		    item->within ? ", within the tolerance" : "");
	add_cell(out, "", item->a);
	add_cell(out, "", item->b);
	ls_str_add(out, "</tr>\n");
}

/* own: what tells the run that wrote it, else what differs. */
static void add_sides_table(struct ls_str *out, const struct ls_cmp_file *f, bool own)
{
	bool open = false;
	for (size_t i = 0; i < f->n_items; i++)
		if (!has_stats(&f->items[i]) && f->items[i].own == own)
			add_side(out, &f->items[i], &open);
	end_table(out, open);
}

/* The distances of all tensors of a file together. */
static void add_sum(struct ls_str *out, const struct ls_cmp_file *f)
{
	struct ls_stats all = {0};
	for (size_t i = 0; i < f->n_items; i++)
		if (!f->items[i].own)
			ls_stats_merge(&all, f->items[i].stats);
	if (all.max_ulp == 0)
		return;
	ls_str_add(out, "<h4>Distance in ULP</h4>\n");
	add_histogram(out, &all);
}

static void add_histograms(struct ls_str *out, const struct ls_cmp_file *f)
{
	size_t n = 0;
	for (size_t i = 0; i < f->n_items && n < HISTOGRAMS_SHOWN; i++) {
		const struct ls_cmp_item *item = &f->items[i];
		if (item->stats->max_ulp == 0 || item->own)
			continue;
		ls_str_add(out, "<details><summary>distance in ULP of <code>");
		ls_str_add_html(out, item->name);
		ls_str_add(out, "</code></summary>");
		add_histogram(out, item->stats);
		ls_str_add(out, "</details>\n");
		n++;
	}
}

static void add_file(struct ls_str *out, const struct ls_comparison *c, const struct ls_cmp_file *f)
{
	ls_str_add(out, "<section><h3>");
	if (c->folders)
		ls_str_add_html(out, f->name);
	ls_str_addf(out, " <span class=\"soft\">%s</span></h3>\n", f->format);
	if (f->note) {
		ls_str_add(out, "<p class=\"soft\">");
		ls_str_add_html(out, f->note);
		ls_str_add(out, "</p>\n");
	}
	add_sum(out, f);
	add_stats_table(out, f, c->tolerance != NULL);
	add_sides_table(out, f, false);
	add_histograms(out, f);
	ls_str_add(out, "</section>\n");
}

/* What differs only because another run wrote it. */
static void add_own(struct ls_str *out, const struct ls_comparison *c)
{
	if (!c->own)
		return;
	ls_str_addf(out,
		    "<section><h3>The run's own time or process</h3><details><summary>%" PRIu64
		    " %s no difference</summary>\n",
		    c->own, c->own == 1 ? "place, which is" : "places, which are");
	for (size_t i = 0; i < c->n_files; i++) {
		const struct ls_cmp_file *f = &c->files[i];
		if (!f->own)
			continue;
		ls_str_add(out, "<p><code>");
		ls_str_add_html(out, f->name);
		if (f->name_b) {
			ls_str_add(out, "</code>, <code>");
			ls_str_add_html(out, f->name_b);
		}
		ls_str_add(out, "</code></p>\n");
		add_sides_table(out, f, true);
	}
	ls_str_add(out, "</details></section>\n");
}

static void add_identical(struct ls_str *out, const struct ls_comparison *c)
{
	if (!c->folders || c->files_differ == c->n_files)
		return;
	ls_str_add(out, "<section><h3>Identical files</h3><details><summary>show</summary><ul>\n");
	for (size_t i = 0; i < c->n_files; i++) {
		if (c->files[i].differs)
			continue;
		ls_str_add(out, "<li><code>");
		ls_str_add_html(out, c->files[i].name);
		ls_str_addf(out, "</code> <span class=\"soft\">%s</span></li>\n",
			    c->files[i].format);
	}
	ls_str_add(out, "</ul></details></section>\n");
}

static void add_tolerance(struct ls_str *out, const struct ls_comparison *c)
{
	struct ls_str verdict = {0};
	ls_comparison_second_verdict(c, &verdict);
	ls_str_addf(out, "<p class=\"%s\">%s <span class=\"soft\">",
		    c->beyond || c->unread ? "bad" : "good", verdict.s);
	ls_str_add_html(out, c->tolerance);
	ls_str_add(out, "</span></p>\n");
	ls_str_done(&verdict);
}

void ls_comparison_html_head(const char *title, struct ls_str *out)
{
	ls_str_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
			"name=\"viewport\" content=\"width=device-width\"><title>");
	ls_str_add_html(out, title);
	ls_str_addf(out, "</title><style>%s</style></head>\n<body>\n", style);
}

void ls_comparison_html_verdict(const struct ls_comparison *c, struct ls_str *out)
{
	struct ls_str verdict = {0};
	ls_comparison_verdict(c, &verdict);
	ls_str_addf(out, "<p class=\"verdict %s\">%s</p>\n", c->differs ? "bad" : "good",
		    verdict.s);
	if (c->tolerance)
		add_tolerance(out, c);
	ls_str_done(&verdict);
}

enum place { TENSORS, OTHERS, WHOLE, NOTES, NOWHERE };

/* Where a file stands on the page: those in which tensors differ come first, those that
 * only have a note last. */
static enum place place_of(const struct ls_cmp_file *f)
{
	if (!f->differs)
		return f->note ? NOTES : NOWHERE;
	if (f->n_items == 1 && f->items[0].kind == LS_CMP_FILE && !f->note)
		return WHOLE;
	return f->tensors_differ ? TENSORS : OTHERS;
}

/* Files that only one side has: a row each and not a section. */
static void add_whole(struct ls_str *out, const struct ls_comparison *c)
{
	bool open = false;
	for (size_t i = 0; i < c->n_files; i++) {
		if (place_of(&c->files[i]) != WHOLE)
			continue;
		if (!open)
			ls_str_add(out, "<section><h3>Files that cannot be paired</h3>\n");
		add_side(out, &c->files[i].items[0], &open);
	}
	end_table(out, open);
	if (open)
		ls_str_add(out, "</section>\n");
}

static void add_files(struct ls_str *out, const struct ls_comparison *c, enum place place)
{
	for (size_t i = 0; i < c->n_files; i++)
		if (place_of(&c->files[i]) == place)
			add_file(out, c, &c->files[i]);
}

void ls_comparison_html_details(const struct ls_comparison *c, struct ls_str *out)
{
	add_files(out, c, TENSORS);
	add_files(out, c, OTHERS);
	add_whole(out, c);
	add_files(out, c, NOTES);
	add_own(out, c);
	add_identical(out, c);
}

void ls_comparison_html(const struct ls_comparison *c, struct ls_str *out)
{
	struct ls_str verdict = {0};
	ls_comparison_verdict(c, &verdict);
	ls_comparison_html_head(verdict.s, out);
	ls_str_add(out, "<h1>Comparison</h1>\n");
	ls_comparison_html_verdict(c, out);
	ls_str_add(out, "<p>A <code>");
	ls_str_add_html(out, c->a);
	ls_str_add(out, "</code><br>B <code>");
	ls_str_add_html(out, c->b);
	ls_str_add(out, "</code></p>\n");
	if (c->differs)
		ls_str_add(out, "<h2>Differences</h2>\n");
	ls_comparison_html_details(c, out);
	ls_str_add(out, "</body></html>\n");
	ls_str_done(&verdict);
}
