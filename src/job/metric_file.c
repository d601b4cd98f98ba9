#include "job/metric_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "job/tfevents.h"
#include "run/metric_text.h"

enum ls_metric_kind ls_metric_kind_of(const char *path)
{
	static const struct {
		const char *end;
		enum ls_metric_kind kind;
	} ends[] = {{".jsonl", LS_METRIC_LINES},
		    {".ndjson", LS_METRIC_LINES},
		    {".json", LS_METRIC_JSON},
		    {".csv", LS_METRIC_CSV},
		    {".tsv", LS_METRIC_TSV}};
	const char *slash = strrchr(path, '/');
	if (strstr(slash ? slash : path, "tfevents"))
		return LS_METRIC_EVENTS;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (ls_str_ends(path, ends[i].end))
			return ends[i].kind;
	return LS_METRIC_NONE;
}

/* --- JSON --- */

struct record {
	struct ls_points fields; /* of one document; step: none */
	struct ls_points *to;
	struct ls_err *err;
	int rc;
};

static void field(void *ctx, const struct ls_str *path, bool in_list, double value, const char *at)
{
	struct record *r = ctx;
	(void)at;
	if (!in_list && path->len && !r->rc)
		r->rc = ls_points_add(&r->fields, path->s, path->len, 0, value, r->err);
}

/* The field that is the step, or NULL. */
static const struct ls_point *step_field(const struct ls_points *p, int64_t *ret)
{
	const struct ls_point *best = NULL;
	int best_rank = 0;
	for (size_t i = 0; i < p->n; i++) {
		const char *name = p->names[p->items[i].name];
		int rank = ls_step_rank(name, strlen(name));
		int64_t step;
		if (rank < 0 || (best && rank >= best_rank) ||
		    !ls_step_of(p->items[i].value, &step))
			continue;
		best = &p->items[i];
		best_rank = rank;
		*ret = step;
	}
	return best;
}

static void document(void *ctx)
{
	struct record *r = ctx;
	int64_t step = LS_POINT_COUNTED;
	const struct ls_point *as_step = step_field(&r->fields, &step);
	for (size_t i = 0; i < r->fields.n && !r->rc; i++) {
		const struct ls_point *f = &r->fields.items[i];
		const char *name = r->fields.names[f->name];
		if (f != as_step)
			r->rc = ls_points_add(r->to, name, strlen(name), step, f->value, r->err);
	}
	r->fields.n = 0;
}

static int one_json(const char *text, size_t len, struct record *r)
{
	r->fields.n = 0;
	bool ok = ls_metric_json(
		text, len,
		&(struct ls_metric_visit){.number = field, .document = document, .ctx = r});
	return r->rc ? r->rc : ok ? 0 : ls_err_set(r->err, LS_EINPUT, "not JSON");
}

static int lines(const char *text, size_t len, bool ended, struct record *r, bool *ret_cut)
{
	size_t line = 1;
	int rc = 0;
	(void)ended; /* a whole value is seen by its brace */
	for (const char *p = text, *end = text + len; p < end && !rc; line++) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		rc = one_json(p, (size_t)((newline ? newline : end) - p), r);
		if (rc && !newline && !r->rc) {
			*ret_cut = true;
			return 0;
		}
		if (rc)
			ls_err_prefix(r->err, "line %zu", line);
		p = newline ? newline + 1 : end;
	}
	return rc;
}

static int json(enum ls_metric_kind kind, const char *text, size_t len, bool ended,
		struct ls_points *p, bool *ret_cut, struct ls_err *err)
{
	struct record r = {.to = p, .err = err};
	int rc = kind == LS_METRIC_LINES ? lines(text, len, ended, &r, ret_cut)
					 : one_json(text, len, &r);
	if (rc && kind == LS_METRIC_JSON && !ended && !r.rc) {
		*ret_cut = true;
		rc = 0;
	}
	ls_points_done(&r.fields);
	return rc;
}

/* --- CSV --- */

struct csv {
	struct ls_metric_cells cells;
	char **names; /* of the columns */
	double *values;
	bool *given;
	size_t n, cap, cap_values, cap_given;
	size_t step; /* its column, or SIZE_MAX */
};

static void add_column(struct csv *c, const char *name)
{
	c->names = ls_grow(c->names, c->n, &c->cap, sizeof *c->names);
	c->values = ls_grow(c->values, c->n, &c->cap_values, sizeof *c->values);
	c->given = ls_grow(c->given, c->n, &c->cap_given, sizeof *c->given);
	c->names[c->n++] = ls_xstrdup(name);
}

static int heading(struct csv *c, struct ls_err *err)
{
	struct ls_str text = {0};
	int best = -1;
	c->step = SIZE_MAX;
	do {
		ls_metric_cell(&c->cells, &text);
		add_column(c, ls_str_trim(text.s));
		const char *name = c->names[c->n - 1];
		int rank = ls_step_rank(name, strlen(name));
		if (rank >= 0 && (best < 0 || rank < best)) {
			best = rank;
			c->step = c->n - 1;
		}
	} while (!c->cells.row_ends && c->n < LS_POINTS_NAMES);
	ls_str_done(&text);
	return c->n < LS_POINTS_NAMES ? 0
				      : ls_err_set(err, LS_EINPUT, "line 1: more than %d columns",
						   LS_POINTS_NAMES);
}

/* One row into values; cells that are no numbers are not given. */
static size_t read_row(struct csv *c)
{
	struct ls_str text = {0};
	size_t i = 0;
	do {
		ls_metric_cell(&c->cells, &text);
		char *v = ls_str_trim(text.s);
		if (i < c->n)
			c->given[i] =
				*v && ls_metric_number(v, strlen(v), &c->values[i]) == strlen(v);
		i++;
	} while (!c->cells.row_ends);
	ls_str_done(&text);
	return i;
}

static int take_row(struct csv *c, size_t cells, struct ls_points *p, struct ls_err *err)
{
	int64_t step = LS_POINT_COUNTED;
	int rc = 0;
	if (cells > c->n)
		return ls_err_set(err, LS_EINPUT, "%zu cells, the heading has %zu", cells, c->n);
	bool stepped =
		c->step < cells && c->given[c->step] && ls_step_of(c->values[c->step], &step);
	for (size_t i = 0; i < cells && !rc; i++)
		if (c->given[i] && c->names[i][0] && !(stepped && i == c->step))
			rc = ls_points_add(p, c->names[i], strlen(c->names[i]), step, c->values[i],
					   err);
	return rc;
}

static int csv(const char *text, size_t len, char separator, bool ended, struct ls_points *p,
	       bool *ret_cut, struct ls_err *err)
{
	struct csv c = {.cells = {text, text + len, separator, false, false}};
	int rc = 0;
	if (len && text[len - 1] != '\n' && !ended) { /* half a number looks like a number */
		const char *last = memrchr(text, '\n', len);
		c.cells.end = last ? last + 1 : text;
		*ret_cut = true;
	}
	if (c.cells.p < c.cells.end)
		rc = heading(&c, err);
	for (size_t row = 2; !rc && c.cells.p < c.cells.end; row++) {
		rc = take_row(&c, read_row(&c), p, err);
		if (rc)
			ls_err_prefix(err, "row %zu", row);
	}
	if (!rc && c.cells.broken)
		rc = ls_err_set(err, LS_EINPUT, "a quote is not closed");
	for (size_t i = 0; i < c.n; i++)
		free(c.names[i]);
	free(c.names);
	free(c.values);
	free(c.given);
	return rc;
}

/* --- by kind --- */

int ls_metric_text_read(enum ls_metric_kind kind, const char *text, size_t len, bool ended,
			struct ls_points *p, bool *ret_cut, struct ls_err *err)
{
	size_t whole = len;
	int rc;
	switch (kind) {
	case LS_METRIC_EVENTS:
		rc = ls_tfevents_read((const uint8_t *)text, len, p, &whole, err);
		*ret_cut |= whole < len;
		return rc;
	case LS_METRIC_LINES:
	case LS_METRIC_JSON:
		return json(kind, text, len, ended, p, ret_cut, err);
	case LS_METRIC_CSV:
		return csv(text, len, ',', ended, p, ret_cut, err);
	case LS_METRIC_TSV:
		return csv(text, len, '\t', ended, p, ret_cut, err);
	default:
		return ls_err_set(err, LS_EINPUT,
				  "is no file of metrics: .jsonl, .json, .csv, .tsv, or "
				  "TensorBoard's events.out.tfevents…");
	}
}

int ls_metric_file_read(const char *path, const char *shown, bool ended, struct ls_points *p,
			bool *ret_cut, struct ls_err *err)
{
	struct ls_map map;
	int rc = ls_file_map(path, &map, err);
	if (rc)
		return rc;
	rc = ls_metric_text_read(ls_metric_kind_of(path), (const char *)map.data, map.len, ended, p,
				 ret_cut, err);
	if (rc)
		ls_err_prefix(err, "%s", shown);
	ls_file_unmap(&map);
	return rc;
}
