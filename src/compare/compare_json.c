/* JSON documents, JSON lines and YAML, leaf by leaf. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare/columns.h"
#include "compare/decimal.h"
#include "compare/json_pair.h"
#include "compare/yaml_json.h"

struct document {
	const struct ls_cmp_options *opt;
	struct ls_cmp_file *f;
	const struct ls_map *maps[2]; /* NULL for texts that lie in memory */
	size_t forgotten[2];
};

/* Whether the texts for people are the whole values. */
static bool is_plain(const struct ls_json_token *a, const struct ls_json_token *b)
{
	return a->kind == b->kind && a->text && b->text && a->len < LS_TEXT_SHOWN &&
	       b->len < LS_TEXT_SHOWN && !memchr(a->text, 0, a->len) && !memchr(b->text, 0, b->len);
}

/* A token lies in the map, but for strings that had escapes. */
static void forget(struct document *d, int side, const struct ls_json_token *t)
{
	const struct ls_map *m = d->maps[side];
	const uint8_t *at = t ? (const uint8_t *)t->text : NULL;
	if (at && m && at >= m->data && at < m->data + m->len)
		ls_file_forget(m, &d->forgotten[side], (size_t)(at - m->data));
}

static void count_value(void *ctx, const char *name, const struct ls_json_token *a,
			const struct ls_json_token *b)
{
	struct document *d = ctx;
	forget(d, 0, a);
	forget(d, 1, b);
	if (!*name)
		name = "(top)";
	if (ls_cmp_ignored(d->opt, name)) {
		d->f->ignored++;
		return;
	}
	d->f->values++;
	if (a && b && ls_json_token_equal(a, b))
		return;
	struct ls_cmp_item *item = ls_cmp_add(d->f, LS_CMP_VALUE,
					      a && b ? LS_CMP_DIFFERS
					      : a    ? LS_CMP_ONLY_A
						     : LS_CMP_ONLY_B,
					      name);
	item->a = a ? ls_json_token_text(a) : NULL;
	item->b = b ? ls_json_token_text(b) : NULL;
	item->plain = a && b && is_plain(a, b);
	item->within =
		a && b && a->kind == LS_JSON_NUMBER && b->kind == LS_JSON_NUMBER &&
		ls_within_reals(ls_cmp_limits(d->opt, name), ls_decimal_double(a->text, a->len),
				ls_decimal_double(b->text, b->len));
	d->f->values_differ++;
}

int ls_cmp_json(const struct ls_map *a, const struct ls_map *b, const struct ls_cmp_options *opt,
		struct ls_cmp_file *f, struct ls_err *err)
{
	struct document d = {.opt = opt, .f = f, .maps = {a, b}};
	struct ls_json_sink sink = {.leaf = count_value, .ctx = &d};
	return ls_json_pair_walk((const char *)a->data, a->len, "A", (const char *)b->data, b->len,
				 "B", &sink, err);
}

int ls_cmp_yaml(const struct ls_map *a, const struct ls_map *b, const struct ls_cmp_options *opt,
		struct ls_cmp_file *f, struct ls_err *err)
{
	struct document d = {.opt = opt, .f = f};
	struct ls_json_sink sink = {.leaf = count_value, .ctx = &d};
	struct ls_str x = {0}, y = {0};
	int rc = ls_yaml_json((const char *)a->data, a->len, "A", &x, err);
	if (rc == 0)
		rc = ls_yaml_json((const char *)b->data, b->len, "B", &y, err);
	if (rc == 0)
		rc = ls_json_pair_walk(x.s, x.len, "A as JSON", y.s, y.len, "B as JSON", &sink,
				       err);
	ls_str_done(&x);
	ls_str_done(&y);
	return rc;
}

/* --- JSON lines --- */

struct lines {
	const struct ls_map *map;
	size_t forgotten;
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
	ls_file_forget(l->map, &l->forgotten, (size_t)(l->at - (const char *)l->map->data));
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

struct line_pair {
	struct ls_columns columns;
	uint64_t row; /* of the line in A */
};

static void count_cell(void *ctx, const char *name, const struct ls_json_token *a,
		       const struct ls_json_token *b)
{
	struct line_pair *p = ctx;
	struct ls_column *col = ls_column_of(&p->columns, *name ? name : "(top)");
	col->one_sided[0] |= !b;
	col->one_sided[1] |= !a;
	if (!a || !b || a->kind != LS_JSON_NUMBER || b->kind != LS_JSON_NUMBER ||
	    ls_json_token_equal(a, b))
		ls_column_count(col, !a || !b || !ls_json_token_equal(a, b), p->row);
	else
		ls_column_count_numbers(col, ls_decimal_double(a->text, a->len),
					ls_decimal_double(b->text, b->len), p->row);
}

static int compare_lines(struct line_pair *p, struct lines *a, struct lines *b,
			 struct ls_cmp_file *f, struct ls_err *err)
{
	uint64_t rows[2] = {0, 0};
	struct ls_json_sink sink = {.leaf = count_cell, .ctx = p};
	for (;;) {
		const char *s = NULL, *t = NULL;
		size_t n = 0, m = 0;
		bool more_a = next_line(a, &s, &n), more_b = next_line(b, &t, &m);
		rows[0] += more_a;
		rows[1] += more_b;
		if (!more_a && !more_b)
			break;
		/* equal text is equal values; the first line is read so that its keys are
		 * known */
		if (!more_a || !more_b || (n == m && memcmp(s, t, n) == 0 && rows[0] > 1))
			continue;
		p->row = a->n;
		if (ls_json_pair_walk(s, n, "A", t, m, "B", &sink, err))
			return ls_err_prefix(err, "line %" PRIu64 " of A, %" PRIu64 " of B", a->n,
					     b->n);
	}
	ls_rows_report(f, rows[0], rows[1], "lines");
	return 0;
}

int ls_cmp_jsonl(const struct ls_map *a, const struct ls_map *b, const struct ls_cmp_options *opt,
		 struct ls_cmp_file *f, struct ls_err *err)
{
	struct lines la = {a, 0, (const char *)a->data, (const char *)a->data + a->len, 0};
	struct lines lb = {b, 0, (const char *)b->data, (const char *)b->data + b->len, 0};
	struct line_pair p = {.row = 0};
	ls_columns_init(&p.columns, opt);
	int rc = compare_lines(&p, &la, &lb, f, err);
	if (rc == 0)
		ls_columns_report(&p.columns, "line", f);
	ls_columns_done(&p.columns);
	return rc;
}
