/* JSON, JSON lines and CSV by value: numbers that are equal are equal however they are written. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare/compare_internal.h"

enum { PATH_LIMIT = 4096, TEXT_LIMIT = 256 << 20, LINE_LIMIT = 64 << 20, COLUMN_LIMIT = 1 << 16 };

/* --- JSON leaves --- */

struct leaves {
	struct ls_bundle *b;
	struct ls_str path;
	size_t text;
	struct ls_err *err;
};

static struct ls_value *add_leaf(struct leaves *l, enum ls_value_kind kind)
{
	return l->path.len ? ls_bundle_add_value(l->b, l->path.s, l->path.len, kind)
			   : ls_bundle_add_value(l->b, "(top)", 5, kind);
}

static void add_text_leaf(struct leaves *l, enum ls_value_kind kind, const char *s, size_t len)
{
	const char *copy = ls_bundle_text(l->b, s, len);
	struct ls_value *v = add_leaf(l, kind);
	v->text = copy;
	v->len = len;
}

/* 1.0 and 1 are one number. */
static void add_real_leaf(struct leaves *l, double x)
{
	if (x == floor(x) && fabs(x) < 9007199254740992.0 && !(x == 0 && signbit(x)))
		add_leaf(l, LS_VAL_INT)->i = (int64_t)x;
	else
		add_leaf(l, LS_VAL_REAL)->real = x;
}

static int add_leaves(struct leaves *l, json_t *v);

static int add_child(struct leaves *l, const char *key, size_t index, json_t *child)
{
	size_t before = l->path.len;
	if (before)
		ls_str_add(&l->path, ".");
	if (key)
		ls_str_add(&l->path, key);
	else
		ls_str_addf(&l->path, "%zu", index);
	l->text += l->path.len + 16;
	int rc =
		l->path.len > PATH_LIMIT || l->text > TEXT_LIMIT
			? ls_err_set(l->err, LS_EINPUT, "nested too deeply to be compared by value")
			: add_leaves(l, child);
	l->path.len = before;
	l->path.s[before] = 0;
	return rc;
}

static int add_leaves(struct leaves *l, json_t *v)
{
	int rc = 0;
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		if (json_object_size(v) == 0)
			add_text_leaf(l, LS_VAL_OTHER, "{}", 2);
		for (void *it = json_object_iter(v); it && rc == 0;
		     it = json_object_iter_next(v, it))
			rc = add_child(l, json_object_iter_key(it), 0, json_object_iter_value(it));
		return rc;
	case JSON_ARRAY:
		if (json_array_size(v) == 0)
			add_text_leaf(l, LS_VAL_OTHER, "[]", 2);
		for (size_t i = 0; i < json_array_size(v) && rc == 0; i++)
			rc = add_child(l, NULL, i, json_array_get(v, i));
		return rc;
	case JSON_STRING:
		add_text_leaf(l, LS_VAL_STRING, json_string_value(v), json_string_length(v));
		return 0;
	case JSON_INTEGER:
		add_leaf(l, LS_VAL_INT)->i = json_integer_value(v);
		return 0;
	case JSON_REAL:
		add_real_leaf(l, json_real_value(v));
		return 0;
	case JSON_TRUE:
	case JSON_FALSE:
		add_leaf(l, LS_VAL_BOOL)->i = json_is_true(v);
		return 0;
	default:
		add_leaf(l, LS_VAL_NULL);
		return 0;
	}
}

int ls_cmp_json_values(struct ls_bundle *b, json_t *v, struct ls_err *err)
{
	struct leaves l = {.b = b, .err = err};
	int rc = add_leaves(&l, v);
	ls_str_done(&l.path);
	return rc;
}

/* --- columns: what CSV and JSON lines are told by --- */

struct columns {
	struct column {
		char *name;
		struct ls_stats stats; /* elements: rows; first: row */
		bool one_sided[2];
	} * items;
	size_t n, cap;
	json_t *by_name;
};

static struct column *column_of(struct columns *c, const char *name)
{
	json_t *known = json_object_get(c->by_name, name);
	if (known)
		return &c->items[json_integer_value(known)];
	json_object_set_new_nocheck(c->by_name, name, json_integer((json_int_t)c->n));
	c->items = ls_grow(c->items, c->n, &c->cap, sizeof *c->items);
	struct column *made = &c->items[c->n++];
	*made = (struct column){.name = ls_xstrdup(name)};
	return made;
}

static void columns_done(struct columns *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->items[i].name);
	free(c->items);
	json_decref(c->by_name);
}

/* Two numbers, through the same classes as tensor elements. */
static void count_numbers(struct ls_stats *s, double a, double b, uint64_t row)
{
	ls_stats_add(s, LS_DT_F64, 8, (const uint8_t *)&a, (const uint8_t *)&b, 8, row);
}

static void count_other(struct ls_stats *s, bool differs, uint64_t row)
{
	uint8_t a = 0, b = differs;
	ls_stats_add(s, LS_DT_OPAQUE, 1, &a, &b, 1, row);
}

static void report_columns(const struct columns *c, const struct ls_cmp_options *opt,
			   const char *unit, struct ls_cmp_file *f)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct column *col = &c->items[i];
		if (ls_cmp_ignored(opt, col->name))
			continue;
		f->columns++;
		if (col->stats.differing == 0)
			continue;
		enum ls_cmp_status status = col->one_sided[0] && !col->one_sided[1] ? LS_CMP_ONLY_A
					    : col->one_sided[1] && !col->one_sided[0]
						    ? LS_CMP_ONLY_B
						    : LS_CMP_DIFFERS;
		struct ls_cmp_item *item = ls_cmp_add(f, LS_CMP_COLUMN, status, col->name);
		item->dtype = LS_DT_F64;
		item->stats = col->stats;
		item->first = ls_xasprintf("%s %" PRIu64, unit, col->stats.first);
		f->columns_differ++;
	}
}

static void report_rows(struct ls_cmp_file *f, uint64_t a, uint64_t b, const char *unit)
{
	if (a == b)
		return;
	struct ls_cmp_item *item = ls_cmp_add(f, LS_CMP_BYTES, LS_CMP_SIZE, unit);
	item->a = ls_xasprintf("%" PRIu64, a);
	item->b = ls_xasprintf("%" PRIu64, b);
}

/* --- JSON lines --- */

struct lines {
	const char *at, *end;
	uint64_t n; /* lines given; blank ones too */
};

static bool is_blank(const char *s, size_t len)
{
	while (len && (s[len - 1] == ' ' || s[len - 1] == '\t' || s[len - 1] == '\r'))
		len--;
	return len == 0;
}

/* The next line that is not blank; false at the end. */
static bool next_line(struct lines *l, const char **ret, size_t *ret_len)
{
	while (l->at < l->end) {
		const char *nl = memchr(l->at, '\n', (size_t)(l->end - l->at)),
			   *stop = nl ? nl : l->end;
		*ret = l->at;
		*ret_len = (size_t)(stop - l->at);
		l->at = nl ? nl + 1 : l->end;
		l->n++;
		if (!is_blank(*ret, *ret_len))
			return true;
	}
	return false;
}

static int parse_line(const char *s, size_t len, uint64_t line, struct ls_bundle **ret,
		      struct ls_err *err)
{
	json_t *v = NULL;
	if (len > LINE_LIMIT)
		return ls_err_set(err, LS_EINPUT, "line %" PRIu64 " is longer than %d bytes", line,
				  LINE_LIMIT);
	int rc = ls_json_parse(s, len, "line", &v, err);
	if (rc)
		return ls_err_prefix(err, "line %" PRIu64, line);
	struct ls_bundle *b = ls_bundle_new("JSON");
	rc = ls_cmp_json_values(b, v, err);
	json_decref(v);
	if (rc)
		ls_bundle_free(b);
	else
		*ret = b;
	return rc;
}

static bool number_of(const struct ls_value *v, double *ret)
{
	if (v->kind != LS_VAL_INT && v->kind != LS_VAL_REAL)
		return false;
	*ret = v->kind == LS_VAL_REAL ? v->real : (double)v->i;
	return true;
}

static const struct ls_value *find_value(const struct ls_bundle *b, const char *name, size_t hint)
{
	if (hint < b->n_values && strcmp(b->values[hint].name, name) == 0)
		return &b->values[hint]; /* lines of a log have their keys in one order */
	for (size_t i = 0; i < b->n_values; i++)
		if (strcmp(b->values[i].name, name) == 0)
			return &b->values[i];
	return NULL;
}

static void compare_line(struct columns *c, const struct ls_bundle *a, const struct ls_bundle *b,
			 uint64_t line)
{
	double x, y;
	for (size_t i = 0; i < a->n_values; i++) {
		const struct ls_value *v = &a->values[i], *w = find_value(b, v->name, i);
		struct column *col = column_of(c, v->name);
		if (!w)
			col->one_sided[0] = true;
		if (w && !ls_value_equal(v, w) && number_of(v, &x) && number_of(w, &y) && x != y)
			count_numbers(&col->stats, x, y, line);
		else
			count_other(&col->stats, !w || !ls_value_equal(v, w), line);
	}
	for (size_t i = 0; i < b->n_values; i++) {
		if (find_value(a, b->values[i].name, i))
			continue;
		struct column *col = column_of(c, b->values[i].name);
		col->one_sided[1] = true;
		count_other(&col->stats, true, line);
	}
}

static int compare_lines(struct columns *c, struct lines *a, struct lines *b, struct ls_cmp_file *f,
			 struct ls_err *err)
{
	uint64_t rows[2] = {0, 0};
	for (;;) {
		const char *s = NULL, *t = NULL;
		size_t n = 0, m = 0;
		bool more_a = next_line(a, &s, &n), more_b = next_line(b, &t, &m);
		rows[0] += more_a;
		rows[1] += more_b;
		if (!more_a && !more_b)
			break;
		if (!more_a || !more_b || (n == m && memcmp(s, t, n) == 0 && rows[0] > 1))
			continue; /* equal text is equal values; the first line is parsed so that
				     its keys are known */
		struct ls_bundle *x = NULL, *y = NULL;
		int rc = parse_line(s, n, a->n, &x, err);
		if (rc == 0)
			rc = parse_line(t, m, b->n, &y, err);
		if (rc == 0)
			compare_line(c, x, y, a->n);
		ls_bundle_free(x);
		ls_bundle_free(y);
		if (rc)
			return rc;
	}
	report_rows(f, rows[0], rows[1], "lines");
	return 0;
}

int ls_cmp_jsonl(const struct ls_map *a, const struct ls_map *b, const struct ls_cmp_options *opt,
		 struct ls_cmp_file *f, struct ls_err *err)
{
	struct lines la = {(const char *)a->data, (const char *)a->data + a->len, 0};
	struct lines lb = {(const char *)b->data, (const char *)b->data + b->len, 0};
	struct columns c = {.by_name = json_object()};
	int rc = compare_lines(&c, &la, &lb, f, err);
	if (rc == 0)
		report_columns(&c, opt, "line", f);
	columns_done(&c);
	return rc;
}

/* --- CSV --- */

struct csv {
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

/* One cell into the record's text; returns the byte that ended it: the separator, '\n', or 0 at the
 * end. */
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

static int read_record(struct csv *c, bool *ret_more, struct ls_err *err)
{
	c->n = c->text.len = 0;
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
	return 0;
}

static bool cell_number(const char *s, double *ret)
{
	char *end;
	if (!*s)
		return false;
	*ret = strtod(s, &end);
	while (*end == ' ')
		end++;
	return *end == 0;
}

static void compare_cell(struct ls_stats *s, const char *a, const char *b, uint64_t row)
{
	double x, y;
	if (strcmp(a, b) == 0 || !cell_number(a, &x) || !cell_number(b, &y))
		count_other(s, strcmp(a, b) != 0, row);
	else if (isnan(x) && isnan(y))
		count_other(s, false, row); /* "nan" and "NaN": text has no payload */
	else
		count_numbers(s, x, y, row);
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
	double x;
	for (size_t i = 0; i < c->n; i++)
		if (!*c->cells[i] || cell_number(c->cells[i], &x))
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
	struct columns columns;
};

static void compare_record(struct csv_pair *p)
{
	uint64_t row = p->a.records;
	for (size_t i = 0; i < p->ha.n; i++) {
		size_t j = place_of(&p->hb, p->ha.names[i], i);
		struct column *col = column_of(&p->columns, p->ha.names[i]);
		bool in_a = i < p->a.n, in_b = j < p->b.n;
		if (j == SIZE_MAX)
			col->one_sided[0] = true;
		if (in_a && in_b)
			compare_cell(&col->stats, p->a.cells[i], p->b.cells[j], row);
		else
			count_other(&col->stats, in_a != in_b || j == SIZE_MAX, row);
	}
	for (size_t j = 0; j < p->hb.n; j++) {
		if (place_of(&p->ha, p->hb.names[j], j) != SIZE_MAX)
			continue;
		struct column *col = column_of(&p->columns, p->hb.names[j]);
		col->one_sided[1] = true;
		count_other(&col->stats, true, row);
	}
	if (p->a.n != p->b.n && p->ha.n == p->hb.n)
		count_other(&column_of(&p->columns, "(number of cells)")->stats, true, row);
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
				column_of(&p->columns, p->ha.names[i]);
	}
	report_rows(f, p->a.records, p->b.records, "rows");
	return 0;
}

int ls_cmp_csv(const struct ls_map *a, const struct ls_map *b, char separator,
	       const struct ls_cmp_options *opt, struct ls_cmp_file *f, struct ls_err *err)
{
	struct csv_pair p = {
		.a = {.at = (const char *)a->data,
		      .end = (const char *)a->data + a->len,
		      .separator = separator},
		.b = {.at = (const char *)b->data,
		      .end = (const char *)b->data + b->len,
		      .separator = separator},
		.columns = {.by_name = json_object()},
	};
	int rc = compare_records(&p, f, err);
	if (rc == 0)
		report_columns(&p.columns, opt, "row", f);
	heading_done(&p.ha);
	heading_done(&p.hb);
	columns_done(&p.columns);
	csv_done(&p.a);
	csv_done(&p.b);
	return rc;
}
