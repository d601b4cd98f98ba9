/* A comparison told: a line, a table, a JSON document. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "compare/compare.h"

static const char *const kinds[] = {"tensor", "value", "column", "bytes", "file"};
static const char *const statuses[] = {"differs",      "only in A",     "only in B",
				       "type changed", "shape changed", "size changed"};
static const char *const status_keys[] = {"differs", "only-a", "only-b", "type", "shape", "size"};

/* Names come from files: control characters would reach the terminal. */
static char *printable(const char *s)
{
	char *copy = ls_xstrdup(s ? s : "");
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	return copy;
}

static void part(struct ls_str *out, uint64_t differ, uint64_t all, const char *what)
{
	if (all)
		ls_str_addf(out, "%s%" PRIu64 "/%" PRIu64 " %s differ",
			    out->len && out->s[out->len - 1] != ' ' ? ", " : "", differ, all, what);
}

static void add_counts(struct ls_str *out, const struct ls_comparison *c)
{
	struct ls_str counts = {0};
	if (c->folders)
		part(&counts, c->files_differ, c->n_files, "files");
	part(&counts, c->tensors_differ, c->tensors, "tensors");
	part(&counts, c->values_differ, c->values, "values");
	part(&counts, c->columns_differ, c->columns, "columns");
	if (c->unread)
		ls_str_addf(&counts, "%s%" PRIu64 " %s not read", counts.len ? ", " : "", c->unread,
			    c->unread == 1 ? "value" : "values");
	if (counts.len == 0)
		ls_str_add(&counts, c->differs ? "the bytes differ" : "every byte is the same");
	ls_str_add(out, counts.s);
	ls_str_done(&counts);
}

void ls_comparison_verdict(const struct ls_comparison *c, struct ls_str *out)
{
	ls_str_add(out, c->undecided ? "undecided: " : c->differs ? "differs: " : "identical: ");
	add_counts(out, c);
	if (c->own)
		ls_str_addf(out, "; %" PRIu64 " %s the run's own time or process", c->own,
			    c->own == 1 ? "place tells" : "places tell");
}

static void add_beyond(struct ls_str *out, uint64_t beyond, uint64_t all, const char *what)
{
	if (all)
		ls_str_addf(out, "%s%" PRIu64 "/%" PRIu64 " %s",
			    out->len && out->s[out->len - 1] != ' ' ? ", " : "", beyond, all, what);
}

void ls_comparison_second_verdict(const struct ls_comparison *c, struct ls_str *out)
{
	struct ls_str counts = {0};
	add_beyond(&counts, c->tensors_beyond, c->tensors, "tensors");
	add_beyond(&counts, c->values_beyond, c->values, "values");
	add_beyond(&counts, c->columns_beyond, c->columns, "columns");
	if (c->beyond)
		ls_str_addf(out, "beyond the tolerance: %s", counts.len ? counts.s : "the bytes");
	else if (c->unread)
		ls_str_addf(out, "tolerance undecided: %" PRIu64 " %s not read", c->unread,
			    c->unread == 1 ? "value" : "values");
	else if (!c->differs)
		ls_str_add(out, "within the tolerance: nothing differs");
	else
		ls_str_addf(out, "within the tolerance: %s beyond it", counts.s);
	ls_str_done(&counts);
}

/* What differs beyond plain numbers, as "3 ±0, 2 NaN payload"; empty when nothing. */
static char *classes_text(const struct ls_stats *s)
{
	const struct {
		uint64_t n;
		const char *what;
	} parts[] = {{s->zero_sign, "±0"},
		     {s->nan_payload, "NaN payload"},
		     {s->nan_one, "NaN on one side"}};
	struct ls_str t = {0};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i].n)
			ls_str_addf(&t, "%s%" PRIu64 " %s", t.len ? ", " : "", parts[i].n,
				    parts[i].what);
	return ls_str_take(&t);
}

/* Where there is no tolerance for the name, every differing element is beyond it. */
static uint64_t beyond_of(const struct ls_cmp_item *item)
{
	return item->within          ? 0
	       : item->stats->beyond ? item->stats->beyond
				     : item->stats->differing;
}

static char *histogram_text(const struct ls_stats *s)
{
	struct ls_str t = {0};
	char bucket[64];
	for (int i = 0; i < LS_ULP_BUCKETS; i++) {
		if (!s->ulp[i])
			continue;
		ls_ulp_bucket_text(i, bucket, sizeof bucket);
		ls_str_addf(&t, "%s%s: %" PRIu64, t.len ? ", " : "", bucket, s->ulp[i]);
	}
	return ls_str_take(&t);
}

static void add_row(struct ls_table *t, const struct ls_cmp_item *item, bool tolerance)
{
	const struct ls_stats *s = item->stats;
	char count[64], abs[40], ulp[32], beyond[32];
	char *name = printable(item->name), *classes = classes_text(s);
	bool number = ls_dtype_is_number(item->dtype) && s->value && item->kind != LS_CMP_BYTES;
	bool real = ls_dtype_is_float(item->dtype) && s->value && s->max_ulp;
	snprintf(count, sizeof count, "%" PRIu64 "/%" PRIu64, s->differing, s->elements);
	snprintf(abs, sizeof abs, "%.6g", s->max_abs);
	snprintf(ulp, sizeof ulp, "%" PRIu64, s->max_ulp);
	snprintf(beyond, sizeof beyond, "%" PRIu64, beyond_of(item));
	ls_table_row(t, (const char *const[]){
				name, count, item->first, number && s->max_abs > 0 ? abs : "-",
				real ? ulp : "-", tolerance ? beyond : classes, classes});
	free(classes);
	free(name);
}

static void add_table(const struct ls_cmp_file *f, enum ls_cmp_kind kind, bool tolerance,
		      size_t limit, struct ls_str *out)
{
	struct ls_table t;
	size_t shown = 0, all = 0;
	ls_table_init(&t, tolerance ? 7 : 6,
		      (const char *const[]){kinds[kind], "differing", "first", "max abs", "max ULP",
					    tolerance ? "beyond" : "special", "special"});
	for (size_t i = 0; i < f->n_items; i++) {
		const struct ls_cmp_item *item = &f->items[i];
		if (item->kind != kind || item->status != LS_CMP_DIFFERS || item->own)
			continue;
		all++;
		if (limit && shown >= limit)
			continue;
		add_row(&t, item, tolerance);
		shown++;
	}
	if (all)
		ls_table_text(&t, out);
	if (shown < all)
		ls_str_addf(out, "… and %zu more\n", all - shown);
	ls_table_done(&t);
}

static void add_histogram(const struct ls_cmp_file *f, struct ls_str *out)
{
	struct ls_stats all = {0};
	for (size_t i = 0; i < f->n_items; i++)
		if (f->items[i].kind == LS_CMP_TENSOR)
			ls_stats_merge(&all, f->items[i].stats);
	char *text = histogram_text(&all);
	if (*text)
		ls_str_addf(out, "ULP histogram: %s\n", text);
	free(text);
}

static void add_sides(const struct ls_cmp_item *item, struct ls_str *out)
{
	char *name = printable(item->name), *a = printable(item->a), *b = printable(item->b);
	if (item->kind != LS_CMP_BYTES)
		ls_str_addf(out, "%s ", kinds[item->kind]);
	ls_str_addf(out, "%s: %s", name, statuses[item->status]);
	if (item->a && item->b)
		ls_str_addf(out, ": %s, %s", a, b);
	else if (item->a || item->b)
		ls_str_addf(out, " (%s)", item->a ? a : b);
	if (item->kind == LS_CMP_BYTES && item->first)
		ls_str_addf(out, ", first difference at %s", item->first);
	if (item->within)
		ls_str_add(out, ", within the tolerance");
	ls_str_add(out, "\n");
	free(name);
	free(a);
	free(b);
}

/* One-sided names, changed types and shapes, values: a line each. */
static void add_lines(const struct ls_cmp_file *f, size_t limit, struct ls_str *out)
{
	size_t shown = 0, all = 0;
	for (size_t i = 0; i < f->n_items; i++) {
		const struct ls_cmp_item *item = &f->items[i];
		bool in_table = item->status == LS_CMP_DIFFERS && item->kind != LS_CMP_VALUE &&
				item->kind != LS_CMP_FILE;
		if (in_table || item->own)
			continue;
		all++;
		if (limit && shown >= limit)
			continue;
		add_sides(item, out);
		shown++;
	}
	if (shown < all)
		ls_str_addf(out, "… and %zu more\n", all - shown);
}

/* What differs only because two runs wrote it: told, and not counted. */
static void add_own(const struct ls_cmp_file *f, size_t limit, struct ls_str *out)
{
	size_t shown = 0;
	if (f->name_b) {
		char *name = printable(f->name_b);
		ls_str_addf(out, "the run's own time, in the name: %s\n", name);
		free(name);
	}
	for (size_t i = 0; i < f->n_items && (!limit || shown < limit); i++) {
		if (!f->items[i].own)
			continue;
		ls_str_add(out, "the run's own time: ");
		add_sides(&f->items[i], out);
		shown++;
	}
	if (f->own > shown + (f->name_b != NULL))
		ls_str_addf(out, "… and %" PRIu64 " more\n", f->own - shown - (f->name_b != NULL));
}

static void add_file(const struct ls_comparison *c, const struct ls_cmp_file *f, size_t limit,
		     struct ls_str *out)
{
	if (!f->differs && !f->note && !f->own)
		return;
	char *name = printable(f->name), *note = printable(f->note);
	if (c->folders)
		ls_str_addf(out, "\n%s (%s)%s\n", name, f->format, f->differs ? "" : ": identical");
	if (f->note)
		ls_str_addf(out, "%s\n", note);
	bool tolerance = c->tolerance != NULL;
	add_table(f, LS_CMP_TENSOR, tolerance, limit, out);
	add_histogram(f, out);
	add_table(f, LS_CMP_COLUMN, tolerance, limit, out);
	add_table(f, LS_CMP_BYTES, tolerance, limit, out);
	add_lines(f, limit, out);
	add_own(f, limit, out);
	free(name);
	free(note);
}

void ls_comparison_text(const struct ls_comparison *c, size_t limit, struct ls_str *out)
{
	ls_comparison_verdict(c, out);
	ls_str_add(out, "\n");
	if (c->tolerance) {
		ls_comparison_second_verdict(c, out);
		ls_str_add(out, "\n");
	}
	for (size_t i = 0; i < c->n_files; i++)
		add_file(c, &c->files[i], limit, out);
	if (c->ignored)
		ls_str_addf(out, "\nfiles ignored: %" PRIu64 "\n", c->ignored);
}

/* --- JSON --- */

/* Names may hold bytes that are not UTF-8; JSON may not. */
static json_t *text_json(const char *s)
{
	json_t *v;
	if (!s)
		return json_null();
	if ((v = json_string(s)))
		return v;
	struct ls_str clean = {0};
	for (const char *p = s; *p; p++) {
		if ((unsigned char)*p < 0x80)
			ls_str_add_bytes(&clean, p, 1);
		else
			ls_str_addf(&clean, "\\x%02x", (unsigned char)*p);
	}
	v = json_string(clean.s);
	ls_str_done(&clean);
	return v;
}

static json_t *count_json(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *histogram_json(const struct ls_stats *s)
{
	json_t *list = json_array();
	for (int i = 0; i < LS_ULP_BUCKETS; i++)
		if (s->ulp[i])
			json_array_append_new(list, json_pack("{s:i,s:o}", "log2_max", i,
							      "elements", count_json(s->ulp[i])));
	return list;
}

/* Infinity has no JSON number. */
static json_t *real_json(double x)
{
	return isfinite(x) ? json_real(x) : json_string("inf");
}

static void add_stats(json_t *o, const struct ls_cmp_item *item)
{
	const struct ls_stats *s = item->stats;
	json_object_set_new(o, "elements", count_json(s->elements));
	json_object_set_new(o, "differing", count_json(s->differing));
	json_object_set_new(o, "first_index", count_json(s->first));
	json_object_set_new(o, "value", count_json(s->value));
	json_object_set_new(o, "zero_sign", count_json(s->zero_sign));
	json_object_set_new(o, "nan_payload", count_json(s->nan_payload));
	json_object_set_new(o, "nan_one_side", count_json(s->nan_one));
	if (ls_dtype_is_number(item->dtype))
		json_object_set_new(o, "max_abs", real_json(s->max_abs));
	if (!ls_dtype_is_float(item->dtype))
		return;
	json_object_set_new(o, "max_ulp",
			    s->max_ulp <= INT64_MAX ? count_json(s->max_ulp)
						    : real_json((double)s->max_ulp));
	json_object_set_new(o, "ulp_histogram", histogram_json(s));
}

static json_t *item_json(const struct ls_cmp_item *item, bool tolerance)
{
	json_t *o = json_object();
	json_object_set_new(o, "kind", json_string(kinds[item->kind]));
	json_object_set_new(o, "name", text_json(item->name));
	json_object_set_new(o, "status", json_string(status_keys[item->status]));
	if (item->a)
		json_object_set_new(o, "a", text_json(item->a));
	if (item->b)
		json_object_set_new(o, "b", text_json(item->b));
	if (item->first)
		json_object_set_new(o, "first", text_json(item->first));
	if (item->own)
		json_object_set_new(o, "own", json_true());
	if (item->stats->elements)
		add_stats(o, item);
	if (tolerance)
		json_object_set_new(o, "within_tolerance", json_boolean(item->within));
	if (tolerance && item->stats->elements)
		json_object_set_new(o, "beyond", count_json(beyond_of(item)));
	return o;
}

/* "tensors" and "tensors_differ" */
static void put_counts(json_t *o, const char *what, uint64_t all, uint64_t differ)
{
	char name[32];
	snprintf(name, sizeof name, "%s_differ", what);
	json_object_set_new(o, what, count_json(all));
	json_object_set_new(o, name, count_json(differ));
}

static json_t *file_json(const struct ls_cmp_file *f, bool tolerance)
{
	json_t *o = json_object(), *items = json_array();
	json_object_set_new(o, "name", text_json(f->name));
	json_object_set_new(o, "format", json_string(f->format));
	json_object_set_new(o, "identical", json_boolean(!f->differs));
	if (f->name_b)
		json_object_set_new(o, "name_b", text_json(f->name_b));
	if (f->note)
		json_object_set_new(o, "note", text_json(f->note));
	put_counts(o, "tensors", f->tensors, f->tensors_differ);
	put_counts(o, "values", f->values, f->values_differ);
	for (size_t i = 0; i < f->n_items; i++)
		json_array_append_new(items, item_json(&f->items[i], tolerance));
	json_object_set_new(o, "differences", items);
	return o;
}

static json_t *tolerance_json(const struct ls_comparison *c)
{
	struct ls_str verdict = {0};
	ls_comparison_second_verdict(c, &verdict);
	json_t *o = json_pack("{s:o,s:b,s:s}", "rules", text_json(c->tolerance), "within",
			      c->beyond == 0 && c->unread == 0, "verdict", verdict.s);
	ls_str_done(&verdict);
	json_object_set_new(o, "tensors_beyond", count_json(c->tensors_beyond));
	json_object_set_new(o, "values_beyond", count_json(c->values_beyond));
	json_object_set_new(o, "columns_beyond", count_json(c->columns_beyond));
	return o;
}

json_t *ls_comparison_json(const struct ls_comparison *c)
{
	struct ls_str verdict = {0};
	json_t *o = json_object(), *files = json_array();
	ls_comparison_verdict(c, &verdict);
	json_object_set_new(o, "schema", json_string("lockstep.compare/1"));
	json_object_set_new(o, "a", text_json(c->a));
	json_object_set_new(o, "b", text_json(c->b));
	json_object_set_new(o, "identical", json_boolean(!c->differs));
	json_object_set_new(o, "verdict", json_string(verdict.s));
	put_counts(o, "files", c->n_files, c->files_differ);
	put_counts(o, "tensors", c->tensors, c->tensors_differ);
	put_counts(o, "values", c->values, c->values_differ);
	put_counts(o, "columns", c->columns, c->columns_differ);
	json_object_set_new(o, "values_not_read", count_json(c->unread));
	json_object_set_new(o, "undecided", json_boolean(c->undecided));
	json_object_set_new(o, "own", count_json(c->own));
	if (c->tolerance)
		json_object_set_new(o, "tolerance", tolerance_json(c));
	for (size_t i = 0; i < c->n_files; i++)
		json_array_append_new(files, file_json(&c->files[i], c->tolerance != NULL));
	json_object_set_new(o, "results", files);
	ls_str_done(&verdict);
	return o;
}
