#include "compare/json_pair.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "compare/decimal.h"

enum { DEPTH_LIMIT = 512, PATH_LIMIT = 4096 };

struct text {
	const char *begin, *at, *end, *name;
	struct ls_str decoded; /* of the last string that had escapes */
	struct ls_err *err;
};

struct walk {
	struct text a, b;
	const struct ls_json_sink *sink;
	struct ls_str path;
	int depth;
};

static int bad(const struct text *t, const char *what)
{
	return ls_err_set(t->err, LS_EINPUT, "%s: byte %zu: not valid JSON: %s", t->name,
			  (size_t)(t->at - t->begin), what);
}

static void skip_blanks(struct text *t)
{
	while (t->at < t->end &&
	       (*t->at == ' ' || *t->at == '\n' || *t->at == '\t' || *t->at == '\r'))
		t->at++;
}

/* Takes the character if it is next, behind blanks. */
static bool take(struct text *t, char c)
{
	skip_blanks(t);
	if (t->at == t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

/* --- strings --- */

static int hex4(struct text *t, unsigned *ret)
{
	*ret = 0;
	if (t->end - t->at < 4)
		return bad(t, "an escape is cut short");
	for (int i = 0; i < 4; i++) {
		char c = *t->at++;
		unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
				 : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
							: 16;
		if (digit > 15)
			return bad(t, "an escape that is not hexadecimal");
		*ret = *ret * 16 + digit;
	}
	return 0;
}

void ls_json_add_utf8(struct ls_str *s, unsigned c)
{
	char out[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	static const unsigned char heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
	out[0] = (char)(heads[n] | c);
	ls_str_add_bytes(s, out, n);
}

/* "\u" and what follows; two escapes may make one character. A half of a pair stays
 * alone, as Python keeps it. */
static int unicode_escape(struct text *t)
{
	unsigned c = 0, low = 0;
	int rc = hex4(t, &c);
	if (rc == 0 && c >= 0xd800 && c < 0xdc00 && t->end - t->at >= 6 && t->at[0] == '\\' &&
	    t->at[1] == 'u') {
		const char *before = t->at;
		t->at += 2;
		rc = hex4(t, &low);
		if (rc == 0 && low >= 0xdc00 && low < 0xe000)
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		else
			t->at = before;
	}
	if (rc == 0)
		ls_json_add_utf8(&t->decoded, c);
	return rc;
}

static int escape(struct text *t)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char c = t->at < t->end ? *t->at++ : 0;
	const char *known = c ? strchr(from, c) : NULL;
	if (known)
		ls_str_add_bytes(&t->decoded, &to[known - from], 1);
	return known ? 0 : c == 'u' ? unicode_escape(t) : bad(t, "an unknown escape");
}

/* A string's contents; the opening quote has been taken. */
static int read_string(struct text *t, const char **ret, size_t *ret_len)
{
	const char *from = t->at;
	while (t->at < t->end && *t->at != '"' && *t->at != '\\' && (unsigned char)*t->at >= 0x20)
		t->at++;
	if (t->at < t->end && *t->at == '"') {
		*ret = from;
		*ret_len = (size_t)(t->at++ - from);
		return 0;
	}
	t->decoded.len = 0;
	ls_str_add_bytes(&t->decoded, from, (size_t)(t->at - from));
	while (t->at < t->end && *t->at != '"') {
		unsigned char c = (unsigned char)*t->at++;
		if (c < 0x20)
			return bad(t, "a control character in a string");
		if (c != '\\')
			ls_str_add_bytes(&t->decoded, t->at - 1, 1);
		else if (escape(t))
			return LS_EINPUT;
	}
	if (t->at == t->end)
		return bad(t, "a string without end");
	t->at++;
	ls_str_add_bytes(&t->decoded, "", 0);
	*ret = t->decoded.s ? t->decoded.s : "";
	*ret_len = t->decoded.len;
	return 0;
}

/* --- other scalars --- */

static bool take_word(struct text *t, const char *word)
{
	size_t n = strlen(word);
	if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
		return false;
	t->at += n;
	return true;
}

static size_t digits(struct text *t)
{
	const char *from = t->at;
	while (t->at < t->end && *t->at >= '0' && *t->at <= '9')
		t->at++;
	return (size_t)(t->at - from);
}

static int read_number(struct text *t)
{
	if (t->at < t->end && *t->at == '-')
		t->at++;
	if (take_word(t, "Infinity"))
		return 0;
	const char *from = t->at;
	size_t whole = digits(t);
	if (whole == 0 || (whole > 1 && *from == '0'))
		return bad(t, "a value is expected");
	if (t->at < t->end && *t->at == '.') {
		t->at++;
		if (!digits(t))
			return bad(t, "digits are expected behind the point");
	}
	if (t->at < t->end && (*t->at == 'e' || *t->at == 'E')) {
		t->at++;
		if (t->at < t->end && (*t->at == '+' || *t->at == '-'))
			t->at++;
		if (!digits(t))
			return bad(t, "digits are expected in the exponent");
	}
	return 0;
}

static enum ls_json_kind kind_of(struct text *t)
{
	skip_blanks(t);
	if (t->at == t->end)
		return LS_JSON_NONE;
	switch (*t->at) {
	case '{':
		return LS_JSON_OBJECT;
	case '[':
		return LS_JSON_ARRAY;
	case '"':
		return LS_JSON_STRING;
	case 't':
	case 'f':
		return LS_JSON_BOOL;
	case 'n':
		return LS_JSON_NULL;
	default:
		return LS_JSON_NUMBER;
	}
}

static int read_scalar(struct text *t, struct ls_json_token *ret)
{
	*ret = (struct ls_json_token){.kind = kind_of(t), .text = t->at};
	int rc = 0;
	if (ret->kind == LS_JSON_NONE)
		return bad(t, "the text ends where a value is expected");
	if (ret->kind == LS_JSON_STRING) {
		t->at++;
		return read_string(t, &ret->text, &ret->len);
	}
	if (ret->kind == LS_JSON_NUMBER)
		rc = take_word(t, "NaN") ? 0 : read_number(t);
	else if (!take_word(t, "true") && !take_word(t, "false") && !take_word(t, "null"))
		rc = bad(t, "a value is expected");
	ret->len = (size_t)(t->at - ret->text);
	return rc;
}

/* --- the walk --- */

/* One member of an object, found ahead of its comparison. */
struct member {
	char *key;
	size_t len;
	const char *value;
};

struct members {
	struct member *items;
	size_t n, cap;
};

static void members_done(struct members *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->items[i].key);
	free(m->items);
}

static int by_key(const void *x, const void *y)
{
	const struct member *a = x, *b = y;
	int order = memcmp(a->key, b->key, a->len < b->len ? a->len : b->len);
	return order ? order : (a->len > b->len) - (a->len < b->len);
}

static int enter(struct walk *w, const struct text *t)
{
	return ++w->depth > DEPTH_LIMIT ? bad(t, "nested deeper than 512") : 0;
}

/* Puts a key or an index behind the path; returns the length to go back to. */
static size_t push(struct walk *w, const char *key, size_t len, size_t index)
{
	size_t before = w->path.len;
	if (before)
		ls_str_add(&w->path, ".");
	if (key)
		ls_str_add_bytes(&w->path, key, len);
	else
		ls_str_addf(&w->path, "%zu", index);
	return before;
}

static void pop(struct walk *w, size_t before)
{
	w->path.len = before;
	if (w->path.s)
		w->path.s[before] = 0;
}

static int check_path(const struct walk *w, const struct text *t)
{
	return w->path.len > PATH_LIMIT ? bad(t, "a name of more than 4096 bytes") : 0;
}

static void tell(struct walk *w, const struct ls_json_token *a, const struct ls_json_token *b)
{
	w->sink->leaf(w->sink->ctx, w->path.s ? w->path.s : "", a, b);
}

static int read_key(struct text *t, const char **ret, size_t *ret_len)
{
	if (!take(t, '"'))
		return bad(t, "a key in quotes is expected");
	int rc = read_string(t, ret, ret_len);
	return rc ? rc : take(t, ':') ? 0 : bad(t, "a colon is expected");
}

static int visit_one(struct walk *w, struct text *t, bool is_a);

static void tell_one(struct walk *w, const struct ls_json_token *x, bool is_a)
{
	tell(w, is_a ? x : NULL, is_a ? NULL : x);
}

/* The leaves of a value that only one text has; is_a says which. */
static int visit_members_of_one(struct walk *w, struct text *t, bool is_a, char close)
{
	int rc = 0;
	for (size_t i = 0; rc == 0; i++) {
		const char *key = NULL;
		size_t len = 0;
		if (close == '}')
			rc = read_key(t, &key, &len);
		if (rc)
			break;
		size_t before = push(w, key, len, i);
		rc = check_path(w, t);
		if (rc == 0)
			rc = visit_one(w, t, is_a);
		pop(w, before);
		if (rc == 0 && take(t, close))
			return 0;
		if (rc == 0 && !take(t, ','))
			rc = bad(t, "a comma is expected");
	}
	return rc;
}

static int visit_one(struct walk *w, struct text *t, bool is_a)
{
	struct ls_json_token x = {.kind = kind_of(t)};
	int rc = enter(w, t);
	if (rc == 0 && (x.kind == LS_JSON_OBJECT || x.kind == LS_JSON_ARRAY)) {
		char close = x.kind == LS_JSON_OBJECT ? '}' : ']';
		t->at++;
		if (take(t, close)) {
			x.text = close == '}' ? "{}" : "[]";
			x.len = 2;
			tell_one(w, &x, is_a);
		} else {
			rc = visit_members_of_one(w, t, is_a, close);
		}
	} else if (rc == 0) {
		rc = read_scalar(t, &x);
		if (rc == 0)
			tell_one(w, &x, is_a);
	}
	w->depth--;
	return rc;
}

/* Goes over a value without a word about it. */
static void hear_nothing(void *ctx, const char *name, const struct ls_json_token *a,
			 const struct ls_json_token *b)
{
	(void)ctx;
	(void)name;
	(void)a;
	(void)b;
}

static int skip_value(struct walk *w, struct text *t)
{
	static const struct ls_json_sink deaf = {.leaf = hear_nothing};
	const struct ls_json_sink *before = w->sink;
	w->sink = &deaf;
	int rc = visit_one(w, t, true);
	w->sink = before;
	return rc;
}

/* The members from here to the end of the object, sorted; the text stands behind the
 * object. */
static int collect(struct walk *w, struct text *t, struct members *m)
{
	int rc = 0;
	for (;;) {
		const char *key = NULL;
		size_t len = 0;
		rc = read_key(t, &key, &len);
		if (rc)
			return rc;
		m->items = ls_grow(m->items, m->n, &m->cap, sizeof *m->items);
		char *copy = ls_xalloc(len + 1); /* a key may hold NULs */
		memcpy(copy, key, len);
		m->items[m->n++] = (struct member){copy, len, t->at};
		rc = skip_value(w, t);
		if (rc)
			return rc;
		if (take(t, '}'))
			break;
		if (!take(t, ','))
			return bad(t, "a comma is expected");
	}
	qsort(m->items, m->n, sizeof *m->items, by_key);
	for (size_t i = 1; i < m->n; i++)
		if (by_key(&m->items[i - 1], &m->items[i]) == 0)
			return bad(t, "an object has a key twice");
	return 0;
}

static int visit_both(struct walk *w);

static int visit_member(struct walk *w, const struct member *x, const struct member *y)
{
	const struct member *m = x ? x : y;
	size_t before = push(w, m->key, m->len, 0);
	int rc = check_path(w, x ? &w->a : &w->b);
	if (x)
		w->a.at = x->value;
	if (y)
		w->b.at = y->value;
	if (rc == 0)
		rc = x && y ? visit_both(w) : visit_one(w, x ? &w->a : &w->b, x != NULL);
	pop(w, before);
	return rc;
}

/* What is left of two objects whose keys go apart; either may have ended. */
static int visit_unordered(struct walk *w, bool more_a, bool more_b)
{
	struct members x = {0}, y = {0};
	int rc = more_a ? collect(w, &w->a, &x) : 0;
	if (rc == 0 && more_b)
		rc = collect(w, &w->b, &y);
	const char *end_a = w->a.at, *end_b = w->b.at;
	for (size_t i = 0, j = 0; rc == 0 && (i < x.n || j < y.n);) {
		int order = i == x.n ? 1 : j == y.n ? -1 : by_key(&x.items[i], &y.items[j]);
		rc = visit_member(w, order <= 0 ? &x.items[i] : NULL,
				  order >= 0 ? &y.items[j] : NULL);
		i += order <= 0;
		j += order >= 0;
	}
	if (rc == 0) {
		w->a.at = end_a;
		w->b.at = end_b;
	}
	members_done(&x);
	members_done(&y);
	return rc;
}

/* The next keys, if both are the same: visits their values. Otherwise the texts stay
 * where they are. */
static int visit_same_key(struct walk *w, bool *ret_same)
{
	const char *at_a = w->a.at, *at_b = w->b.at, *key = NULL, *other = NULL;
	size_t len = 0, other_len = 0;
	int rc = read_key(&w->a, &key, &len);
	if (rc == 0)
		rc = read_key(&w->b, &other, &other_len);
	if (rc)
		return rc;
	*ret_same = len == other_len && memcmp(key, other, len) == 0;
	if (!*ret_same) {
		w->a.at = at_a;
		w->b.at = at_b;
		return 0;
	}
	size_t before = push(w, key, len, 0);
	rc = check_path(w, &w->a);
	if (rc == 0)
		rc = visit_both(w);
	pop(w, before);
	return rc;
}

/* After a value: whether another one follows, or the end of the object or array was
 * taken. */
static int read_more(struct text *t, char close, bool *ret_more)
{
	*ret_more = !take(t, close);
	return !*ret_more || take(t, ',') ? 0 : bad(t, "a comma is expected");
}

static int visit_objects(struct walk *w, bool more_a, bool more_b)
{
	while (more_a && more_b) {
		bool same = false;
		int rc = visit_same_key(w, &same);
		if (rc || !same)
			return rc ? rc : visit_unordered(w, true, true);
		rc = read_more(&w->a, '}', &more_a);
		if (rc == 0)
			rc = read_more(&w->b, '}', &more_b);
		if (rc)
			return rc;
	}
	return more_a || more_b ? visit_unordered(w, more_a, more_b) : 0;
}

static int visit_arrays(struct walk *w, bool more_a, bool more_b)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && (more_a || more_b); i++) {
		size_t before = push(w, NULL, 0, i);
		rc = check_path(w, &w->a);
		bool had_a = more_a, had_b = more_b;
		if (rc == 0)
			rc = had_a && had_b ? visit_both(w)
					    : visit_one(w, had_a ? &w->a : &w->b, had_a);
		pop(w, before);
		if (rc == 0 && had_a)
			rc = read_more(&w->a, ']', &more_a);
		if (rc == 0 && had_b)
			rc = read_more(&w->b, ']', &more_b);
	}
	return rc;
}

/* Both are objects, or both are arrays. */
static int visit_containers(struct walk *w, enum ls_json_kind kind)
{
	char close = kind == LS_JSON_OBJECT ? '}' : ']';
	w->a.at++;
	w->b.at++;
	if (w->sink->container)
		w->sink->container(w->sink->ctx, w->path.s ? w->path.s : "", kind);
	bool more_a = !take(&w->a, close), more_b = !take(&w->b, close);
	struct ls_json_token empty = {.kind = kind};
	if (!more_a && !more_b)
		tell(w, &empty, &empty);
	return kind == LS_JSON_OBJECT ? visit_objects(w, more_a, more_b)
				      : visit_arrays(w, more_a, more_b);
}

static int read_leaf(struct walk *w, struct text *t, struct ls_json_token *ret)
{
	*ret = (struct ls_json_token){.kind = kind_of(t)};
	return ret->kind == LS_JSON_OBJECT || ret->kind == LS_JSON_ARRAY ? skip_value(w, t)
									 : read_scalar(t, ret);
}

static int visit_both(struct walk *w)
{
	enum ls_json_kind x = kind_of(&w->a), y = kind_of(&w->b);
	int rc = enter(w, &w->a);
	if (rc == 0 && x == y && (x == LS_JSON_OBJECT || x == LS_JSON_ARRAY)) {
		rc = visit_containers(w, x);
	} else if (rc == 0) {
		struct ls_json_token a, b;
		rc = read_leaf(w, &w->a, &a);
		if (rc == 0)
			rc = read_leaf(w, &w->b, &b);
		if (rc == 0)
			tell(w, &a, &b);
	}
	w->depth--;
	return rc;
}

static int check_end(struct text *t)
{
	skip_blanks(t);
	return t->at == t->end ? 0 : bad(t, "something follows the value");
}

/* A byte order mark, which some editors put before UTF-8. */
static void skip_mark(struct text *t)
{
	if (t->end - t->at >= 3 && memcmp(t->at, "\xef\xbb\xbf", 3) == 0)
		t->at += 3;
}

int ls_json_pair_walk(const char *a, size_t a_len, const char *a_name, const char *b, size_t b_len,
		      const char *b_name, const struct ls_json_sink *sink, struct ls_err *err)
{
	struct walk w = {.a = {a, a, a + a_len, a_name, {0}, err},
			 .b = {b, b, b + b_len, b_name, {0}, err},
			 .sink = sink};
	skip_mark(&w.a);
	skip_mark(&w.b);
	int rc = visit_both(&w);
	if (rc == 0)
		rc = check_end(&w.a);
	if (rc == 0)
		rc = check_end(&w.b);
	ls_str_done(&w.path);
	ls_str_done(&w.a.decoded);
	ls_str_done(&w.b.decoded);
	return rc;
}

bool ls_json_token_equal(const struct ls_json_token *a, const struct ls_json_token *b)
{
	struct ls_decimal x, y;
	if (a->kind != b->kind)
		return false;
	if (a->len == b->len && (a->len == 0 || memcmp(a->text, b->text, a->len) == 0))
		return true;
	return a->kind == LS_JSON_NUMBER && ls_decimal_parse(a->text, a->len, &x) &&
	       ls_decimal_parse(b->text, b->len, &y) && ls_decimal_equal(&x, &y);
}

char *ls_json_token_text(const struct ls_json_token *t)
{
	int n = (int)(t->len < 120 ? t->len : 120);
	switch (t->kind) {
	case LS_JSON_STRING:
		return ls_xasprintf("\"%.*s\"", n, t->text);
	case LS_JSON_ARRAY:
		return ls_xstrdup(t->len ? "[]" : "an array");
	case LS_JSON_OBJECT:
		return ls_xstrdup(t->len ? "{}" : "an object");
	default:
		return ls_xasprintf("%.*s", n, t->text ? t->text : "");
	}
}
