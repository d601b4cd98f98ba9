/* Jupyter notebooks, by the sources and outputs of their cells. Texts are whole, whether
 * they are written as one or as a list of lines; pieces of one stream are one output.
 * Counts and times of the execution, and the cells' random ids, are told apart. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare/compare_internal.h"
#include "compare/json_values.h"

/* A leaf of the file. The name is cut into its parts: "cells.3.outputs.0.text.1". */
struct leaf {
	char *name;
	const char *rest; /* behind the output, the cell, or all of it */
	bool in_cell, in_output;
	size_t cell, output;
	struct ls_json_token t; /* its text is a copy */
};

struct notebook {
	struct ls_bundle *b;
	struct leaf *leaves;
	size_t n, cap;
	size_t made;           /* outputs of the cell so far; pieces of one stream are one */
	struct ls_str pending; /* the text of a stream that may go on, and its name */
	const struct leaf *stream;
};

static bool number(const char **s, size_t *ret)
{
	char *end = NULL;
	if (**s < '0' || **s > '9')
		return false;
	*ret = strtoul(*s, &end, 10);
	*s = end;
	return true;
}

/* "WORD.N." at the beginning of *s. */
static bool part(const char **s, const char *word, size_t *ret)
{
	const char *at = *s;
	size_t n = strlen(word);
	if (strncmp(at, word, n) != 0 || at[n] != '.')
		return false;
	at += n + 1;
	if (!number(&at, ret) || *at != '.')
		return false;
	*s = at + 1;
	return true;
}

static void collect(void *ctx, const char *name, const struct ls_json_token *a,
		    const struct ls_json_token *b)
{
	struct notebook *n = ctx;
	(void)b; /* the same text */
	n->leaves = ls_grow(n->leaves, n->n, &n->cap, sizeof *n->leaves);
	struct leaf *l = &n->leaves[n->n++];
	*l = (struct leaf){.name = ls_xstrdup(name), .t = *a};
	l->t.text = ls_bundle_text(n->b, a->text ? a->text : "", a->text ? a->len : 0);
	l->rest = l->name;
	l->in_cell = part(&l->rest, "cells", &l->cell);
	l->in_output = l->in_cell && part(&l->rest, "outputs", &l->output);
}

static void add_kind(void *ctx, const char *name, enum ls_json_kind kind)
{
	struct notebook *n = ctx;
	/* texts are lists or not; the numbers of outputs change, so their kinds are not
	 * told */
	if (strncmp(name, "cells.", 6) != 0)
		ls_bundle_add_trait(n->b, name, kind == LS_JSON_ARRAY ? "an array" : "an object");
}

/* --- texts --- */

static bool is(const char *rest, size_t len, const char *word)
{
	return strlen(word) == len && strncmp(rest, word, len) == 0;
}

/* "source", "text" of a stream, "data.text/plain": texts for people. JSON is a value, and
 * so is whatever has a dot in the name of its type. */
static bool is_text(const struct leaf *l, size_t len)
{
	const char *rest = l->rest;
	if (!l->in_output)
		return l->in_cell && is(rest, len, "source");
	if (len < 5 || strncmp(rest, "data.", 5) != 0)
		return is(rest, len, "text");
	return memchr(rest, '/', len) && !memchr(rest + 5, '.', len - 5) &&
	       !is(rest + len - 4, 4, "json");
}

/* The length of the text's name in "source" or "source.3"; 0 where it is no text. */
static size_t text_part(const struct leaf *l)
{
	const char *dot = strrchr(l->rest, '.'), *digits = dot ? dot + 1 : "";
	size_t len = strlen(l->rest), n = 0;
	if (l->t.kind != LS_JSON_STRING && l->t.kind != LS_JSON_ARRAY)
		return 0;
	if (number(&digits, &n) && !*digits && l->t.kind == LS_JSON_STRING)
		len = (size_t)(dot - l->rest);
	return is_text(l, len) ? len : 0;
}

/* Joins the lines of the text that begins at leaf i; returns the leaf behind them. */
static size_t join(const struct notebook *n, size_t i, size_t end, struct ls_str *s)
{
	const struct leaf *first = &n->leaves[i];
	size_t len = text_part(first);
	for (; i < end; i++) {
		const struct leaf *l = &n->leaves[i];
		if (text_part(l) != len || strncmp(l->rest, first->rest, len) != 0)
			break;
		if (l->t.kind == LS_JSON_STRING)
			ls_str_add_bytes(s, l->t.text, l->t.len);
	}
	return i;
}

static void add_text(struct notebook *n, const char *name, const struct ls_str *s)
{
	const struct ls_json_token t = {LS_JSON_STRING, s->len ? s->s : "", s->len};
	ls_json_value_add(n->b, name, &t);
}

/* The name that a leaf gets, with the number of its output among those that are made. */
static char *name_of(const struct notebook *n, const struct leaf *l, size_t len)
{
	if (l->in_output)
		return ls_xasprintf("cells.%zu.outputs.%zu.%.*s", l->cell, n->made, (int)len,
				    l->rest);
	return ls_xasprintf("%.*s%.*s", (int)(l->rest - l->name), l->name, (int)len, l->rest);
}

static void add_leaves(struct notebook *n, size_t i, size_t end)
{
	while (i < end) {
		const struct leaf *l = &n->leaves[i];
		size_t len = text_part(l);
		char *name = name_of(n, l, len ? len : strlen(l->rest));
		if (len) {
			struct ls_str s = {0};
			i = join(n, i, end, &s);
			add_text(n, name, &s);
			ls_str_done(&s);
		} else {
			/* whether a cell has metadata is the execution's business, too */
			if (l->in_output || strcmp(l->rest, "metadata") != 0)
				ls_json_value_add(n->b, name, &l->t);
			i++;
		}
		free(name);
	}
}

/* --- outputs --- */

static const struct leaf *find(const struct notebook *n, size_t i, size_t end, const char *rest)
{
	for (; i < end; i++)
		if (strcmp(n->leaves[i].rest, rest) == 0)
			return &n->leaves[i];
	return NULL;
}

static bool same_text(const struct leaf *a, const struct leaf *b)
{
	return a && b && a->t.kind == LS_JSON_STRING && ls_json_token_equal(&a->t, &b->t);
}

static void end_stream(struct notebook *n)
{
	if (n->stream) {
		char *name = ls_xasprintf("cells.%zu.outputs.%zu", n->stream->cell, n->made);
		char *kind = ls_xasprintf("%s.name", name), *text = ls_xasprintf("%s.text", name);
		ls_json_value_add(n->b, kind, &n->stream->t);
		add_text(n, text, &n->pending);
		free(name);
		free(kind);
		free(text);
		n->made++;
	}
	n->stream = NULL;
	n->pending.len = 0;
}

/* The leaves of one output. */
static void add_output(struct notebook *n, size_t i, size_t end)
{
	static const char word[] = "stream";
	const struct leaf *type = find(n, i, end, "output_type"), *name = find(n, i, end, "name");
	bool is_stream = type && type->t.kind == LS_JSON_STRING &&
			 is(type->t.text, type->t.len, word) && name &&
			 name->t.kind == LS_JSON_STRING;
	if (!is_stream || !same_text(n->stream, name))
		end_stream(n);
	if (!is_stream) {
		add_leaves(n, i, end);
		n->made++;
		return;
	}
	n->stream = name;
	for (; i < end; i++)
		if (text_part(&n->leaves[i]) && n->leaves[i].t.kind == LS_JSON_STRING)
			ls_str_add_bytes(&n->pending, n->leaves[i].t.text, n->leaves[i].t.len);
}

static bool same_group(const struct leaf *a, const struct leaf *b)
{
	return a->in_cell == b->in_cell && a->in_output == b->in_output && a->cell == b->cell &&
	       a->output == b->output;
}

static void add_all(struct notebook *n)
{
	for (size_t i = 0, end; i < n->n; i = end) {
		const struct leaf *l = &n->leaves[i];
		for (end = i + 1; end < n->n && same_group(l, &n->leaves[end]);)
			end++;
		if (i && n->leaves[i - 1].cell != l->cell) {
			end_stream(n);
			n->made = 0;
		}
		if (l->in_output) {
			add_output(n, i, end);
		} else {
			end_stream(n);
			add_leaves(n, i, end);
		}
	}
	end_stream(n);
}

static int read_notebook(struct ls_bundle *b, const struct ls_map *m, const char *name,
			 struct ls_err *err)
{
	struct notebook n = {.b = b};
	struct ls_json_sink sink = {.leaf = collect, .ctx = &n, .container = add_kind};
	const char *text = (const char *)m->data;
	int rc = ls_json_pair_walk(text, m->len, name, text, m->len, name, &sink, err);
	if (rc == 0)
		add_all(&n);
	for (size_t i = 0; i < n.n; i++)
		free(n.leaves[i].name);
	free(n.leaves);
	ls_str_done(&n.pending);
	return rc ? rc : ls_bundle_seal(b, name, err);
}

/* What each execution changes. */
static bool is_own(const char *name)
{
	static const char *const patterns[] = {"cells.*.execution_count",
					       "cells.*.metadata.execution*",
					       "cells.*.metadata.papermill*",
					       "cells.*.metadata.ExecuteTime*",
					       "metadata.papermill*",
					       "cells.*.id",
					       NULL};
	for (const char *const *p = patterns; *p; p++)
		if (fnmatch(*p, name, 0) == 0)
			return true;
	return false;
}

int ls_cmp_notebooks(const struct ls_map *a, const struct ls_map *b,
		     const struct ls_cmp_options *opt, struct ls_cmp_file *f, struct ls_err *err)
{
	struct ls_bundle *x = ls_bundle_new("notebook"), *y = ls_bundle_new("notebook");
	int rc = read_notebook(x, a, "A", err);
	if (rc == 0)
		rc = read_notebook(y, b, "B", err);
	if (rc == 0)
		rc = ls_cmp_bundles(x, y, opt, f, err);
	ls_bundle_free(x);
	ls_bundle_free(y);
	if (rc == 0)
		ls_cmp_mark_own(f, is_own);
	return rc;
}
