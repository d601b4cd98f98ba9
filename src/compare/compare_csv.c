/* CSV and TSV: cells by column and row. Numbers are compared exactly, however they are
 * written. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare/columns.h"
#include "compare/decimal.h"

enum { COLUMN_LIMIT = 1 << 16 };

struct csv {
	const struct ls_map *map;
	size_t forgotten;
	const char *at, *end;
	char separator;
	char **cells; /* of the current record, unquoted, NUL-terminated */
	size_t n, cap;
	uint64_t records;
	struct ls_str text;
	size_t *starts;
	size_t cap_starts;
};

static void csv_done(struct csv *c)
{
	free(c->cells);
	free(c->starts);
	ls_str_done(&c->text);
}

/* One cell into the record's text; returns the byte that ended it: the separator, '\n',
 * or 0 at the end. */
static char read_cell(struct csv *c)
{
	if (c->at < c->end && *c->at == '"') {
		for (c->at++; c->at < c->end; c->at++) {
			if (*c->at == '"' && (c->at + 1 == c->end || c->at[1] != '"'))
				break;
			if (*c->at == '"')
				c->at++;
			ls_str_add_bytes(&c->text, c->at, 1);
		}
		c->at += c->at < c->end;
	}
	const char *from = c->at;
	while (c->at < c->end && *c->at != c->separator && *c->at != '\n')
		c->at++;
	size_t len = (size_t)(c->at - from);
	if (len && from[len - 1] == '\r' && (c->at == c->end || *c->at == '\n'))
		len--;
	ls_str_add_bytes(&c->text, from, len);
	ls_str_add_bytes(&c->text, "", 1);
	return c->at < c->end ? *c->at++ : 0;
}

/* A cell with a NUL would end there for us; such a file is no text. */
static int has_nul(const struct csv *c, struct ls_err *err)
{
	return ls_err_set(err, LS_EINPUT, "record %" PRIu64 " has a NUL byte, which text has not",
			  c->records);
}

static int read_record(struct csv *c, bool *ret_more, struct ls_err *err)
{
	c->n = c->text.len = 0;
	ls_file_forget(c->map, &c->forgotten, (size_t)(c->at - (const char *)c->map->data));
	*ret_more = c->at < c->end;
	if (!*ret_more)
		return 0;
	char stop;
	do {
		if (c->n == COLUMN_LIMIT)
			return ls_err_set(err, LS_EINPUT,
					  "record %" PRIu64 " has more than %d columns",
					  c->records + 1, COLUMN_LIMIT);
		c->starts = ls_grow(c->starts, c->n, &c->cap_starts, sizeof *c->starts);
		c->starts[c->n] = c->text.len;
		c->cells = ls_grow(c->cells, c->n++, &c->cap, sizeof *c->cells);
		stop = read_cell(c);
	} while (stop == c->separator);
	for (size_t i = 0; i < c->n; i++)
		c->cells[i] = c->text.s + c->starts[i];
	c->records++;
	/* each cell ends with a NUL, so there are as many as there are cells */
	for (size_t i = 0; i + 1 < c->n; i++)
		if (strlen(c->cells[i]) + 1 != c->starts[i + 1] - c->starts[i])
			return has_nul(c, err);
	return strlen(c->cells[c->n - 1]) + 1 == c->text.len - c->starts[c->n - 1]
		       ? 0
		       : has_nul(c, err);
}

/* A cell as a number; blanks around it do not count. */
static bool cell_number(const char **s, size_t *len, struct ls_decimal *ret)
{
	while (*len && **s == ' ') {
		(*s)++;
		(*len)--;
	}
	while (*len && (*s)[*len - 1] == ' ')
		(*len)--;
	return ls_decimal_parse(*s, *len, ret);
}

static bool is_number(const char *s)
{
	struct ls_decimal x;
	size_t len = strlen(s);
	return cell_number(&s, &len, &x);
}

static void compare_cell(struct ls_column *col, const char *a, const char *b, uint64_t row)
{
	struct ls_decimal x, y;
	size_t n = strlen(a), m = strlen(b);
	if (strcmp(a, b) == 0 || !cell_number(&a, &n, &x) || !cell_number(&b, &m, &y))
		ls_column_count(col, strcmp(a, b) != 0, row);
	else if (ls_decimal_equal(&x, &y))
		ls_column_count(col, false, row);
	else
		ls_column_count_numbers(col, ls_decimal_double(a, n), ls_decimal_double(b, m), row);
}

/* Names of the columns: the first record when none of its cells is a number. */
struct heading {
	char **names;
	size_t n;
	bool named;
};

static struct heading heading_of(const struct csv *c)
{
	struct heading h = {ls_xalloc((c->n + 1) * sizeof *h.names), c->n, true};
	for (size_t i = 0; i < c->n; i++)
		if (!*c->cells[i] || is_number(c->cells[i]))
			h.named = false;
	for (size_t i = 0; i < c->n; i++)
		h.names[i] = h.named ? ls_xstrdup(c->cells[i]) : ls_xasprintf("column %zu", i + 1);
	return h;
}

static void heading_done(struct heading *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->names[i]);
	free(h->names);
}

static size_t place_of(const struct heading *h, const char *name, size_t hint)
{
	if (hint < h->n && strcmp(h->names[hint], name) == 0)
		return hint;
	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->names[i], name) == 0)
			return i;
	return SIZE_MAX;
}

struct csv_pair {
	struct csv a, b;
	struct heading ha, hb;
	struct ls_columns columns;
};

/* Cells behind the last column of the heading, which have no name. */
static void compare_surplus(struct csv_pair *p, uint64_t row)
{
	size_t x = p->a.n > p->ha.n ? p->a.n - p->ha.n : 0,
	       y = p->b.n > p->hb.n ? p->b.n - p->hb.n : 0;
	for (size_t i = 0; i < x || i < y; i++) {
		char name[64];
		snprintf(name, sizeof name, "column %zu", (i < x ? p->ha.n : p->hb.n) + i + 1);
		struct ls_column *col = ls_column_of(&p->columns, name);
		if (i < x && i < y)
			compare_cell(col, p->a.cells[p->ha.n + i], p->b.cells[p->hb.n + i], row);
		else
			ls_column_count(col, true, row);
	}
}

static void compare_record(struct csv_pair *p)
{
	uint64_t row = p->a.records;
	for (size_t i = 0; i < p->ha.n; i++) {
		size_t j = place_of(&p->hb, p->ha.names[i], i);
		struct ls_column *col = ls_column_of(&p->columns, p->ha.names[i]);
		bool in_a = i < p->a.n, in_b = j < p->b.n;
		if (j == SIZE_MAX)
			col->one_sided[0] = true;
		if (in_a && in_b)
			compare_cell(col, p->a.cells[i], p->b.cells[j], row);
		else
			ls_column_count(col, in_a != in_b || j == SIZE_MAX, row);
	}
	compare_surplus(p, row);
	for (size_t j = 0; j < p->hb.n; j++) {
		if (place_of(&p->ha, p->hb.names[j], j) != SIZE_MAX)
			continue;
		struct ls_column *col = ls_column_of(&p->columns, p->hb.names[j]);
		col->one_sided[1] = true;
		ls_column_count(col, true, row);
	}
	if (p->a.n != p->b.n && p->ha.n == p->hb.n)
		ls_column_count(ls_column_of(&p->columns, "(number of cells)"), true, row);
}

static int compare_records(struct csv_pair *p, struct ls_cmp_file *f, struct ls_err *err)
{
	bool more_a = false, more_b = false, first = true;
	for (;; first = false) {
		int rc = read_record(&p->a, &more_a, err);
		if (rc == 0)
			rc = read_record(&p->b, &more_b, err);
		if (rc)
			return rc;
		if (!more_a && !more_b)
			break;
		if (first) {
			p->ha = heading_of(&p->a);
			p->hb = heading_of(&p->b);
		}
		if (more_a && more_b && !(first && p->ha.named && p->hb.named))
			compare_record(p);
		else if (first && more_a && more_b)
			for (size_t i = 0; i < p->ha.n; i++)
				ls_column_of(&p->columns, p->ha.names[i]);
	}
	ls_rows_report(f, p->a.records, p->b.records, "rows");
	return 0;
}

/* A byte order mark before UTF-8 is no text. */
static void skip_mark(struct csv *c)
{
	if (c->end - c->at >= 3 && memcmp(c->at, "\xef\xbb\xbf", 3) == 0)
		c->at += 3;
}

int ls_cmp_csv(const struct ls_map *a, const struct ls_map *b, char separator,
	       const struct ls_cmp_options *opt, struct ls_cmp_file *f, struct ls_err *err)
{
	struct csv_pair p = {
		.a = {.map = a,
		      .at = (const char *)a->data,
		      .end = (const char *)a->data + a->len,
		      .separator = separator},
		.b = {.map = b,
		      .at = (const char *)b->data,
		      .end = (const char *)b->data + b->len,
		      .separator = separator},
	};
	skip_mark(&p.a);
	skip_mark(&p.b);
	ls_columns_init(&p.columns, opt);
	int rc = compare_records(&p, f, err);
	if (rc == 0)
		ls_columns_report(&p.columns, "row", f);
	heading_done(&p.ha);
	heading_done(&p.hb);
	ls_columns_done(&p.columns);
	csv_done(&p.a);
	csv_done(&p.b);
	return rc;
}
