/* Metrics in one text: the three formats of seed_metric.h. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "run/seed_metric.h"

enum { DEPTH = 64, LONGEST = 1024 };

/* "nan", "Infinity", "-inf" in any case; the decimal form otherwise. The token ends at the
 * first byte that no number has. Returns its length, 0 where there is no number. */
static size_t number(const char *p, size_t len, double *ret)
{
	char token[LONGEST];
	size_t n = 0;
	while (n < len && n < sizeof token - 1 &&
	       (isalnum((unsigned char)p[n]) || strchr("+-.", p[n])) && p[n])
		n++;
	memcpy(token, p, n);
	token[n] = 0;
	char *end = token;
	bool word = strspn(token, "+-aefinty.0123456789AEFINTY") == n;
	double v = n && word ? strtod(token, &end) : 0;
	while (*end == '.' && !end[1])
		end++; /* the end of a sentence */
	if (end == token || *end)
		return 0;
	*ret = v;
	return n;
}

static size_t line_of(const char *text, const char *at)
{
	size_t line = 1;
	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

/* --- JSON --- */

struct scan {
	const char *text, *p, *end, *name;
	struct ls_str path;           /* keys joined by "/"; "." counts as "/" */
	size_t name_len, depth, best; /* best: bytes of the path before the name */
	char *best_path;
	const char *at; /* of the value that counts */
	struct ls_seed_metric_found *found;
};

static void blank(struct scan *s)
{
	while (s->p < s->end && strchr(" \t\r\n", *s->p) && *s->p)
		s->p++;
}

static bool eat(struct scan *s, char c)
{
	blank(s);
	if (s->p >= s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

static bool hex4(struct scan *s, unsigned *ret)
{
	unsigned v = 0;
	if (s->end - s->p < 4)
		return false;
	for (int i = 0; i < 4; i++, s->p++) {
		const char *digits = "0123456789abcdef",
			   *d = strchr(digits, tolower((unsigned char)*s->p));
		if (!d || !*d)
			return false;
		v = v << 4 | (unsigned)(d - digits);
	}
	*ret = v;
	return true;
}

static void add_utf8(struct ls_str *out, unsigned c)
{
	char b[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = n; i-- > 1; c >>= 6)
		b[i] = (char)(0x80 | (c & 0x3f));
	static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
	b[0] = (char)(lead[n] | c);
	ls_str_add_bytes(out, b, n);
}

/* Behind a backslash. */
static bool escape(struct scan *s, struct ls_str *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	unsigned c, low;
	if (s->p >= s->end || !*s->p)
		return false;
	const char *at = strchr(from, *s->p);
	char letter = *s->p++;
	if (at) {
		ls_str_add_bytes(out, &to[at - from], 1);
		return true;
	}
	if (letter != 'u' || !hex4(s, &c))
		return false;
	if (c >= 0xd800 && c < 0xdc00 && s->end - s->p >= 6 && s->p[0] == '\\' && s->p[1] == 'u') {
		s->p += 2;
		if (!hex4(s, &low))
			return false;
		c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
	}
	add_utf8(out, c);
	return true;
}

/* A string, of which at most LONGEST bytes are kept. */
static bool string(struct scan *s, struct ls_str *out)
{
	if (!eat(s, '"'))
		return false;
	size_t start = out->len;
	while (s->p < s->end && *s->p != '"') {
		bool ok = true;
		if (*s->p == '\\') {
			s->p++;
			ok = escape(s, out);
		} else {
			ls_str_add_bytes(out, s->p++, 1);
		}
		if (!ok)
			return false;
		if (out->len - start > LONGEST)
			out->len = start + LONGEST;
	}
	return eat(s, '"');
}

static char slash(char c)
{
	return c == '.' ? '/' : c;
}

/* Whether the path ends in the name; *ret_before is how much lies before it. */
static bool path_matches(const struct scan *s, size_t *ret_before)
{
	if (s->path.len < s->name_len || s->path.len == 0)
		return false;
	size_t before = s->path.len - s->name_len;
	for (size_t i = 0; i < s->name_len; i++)
		if (slash(s->path.s[before + i]) != slash(s->name[i]))
			return false;
	*ret_before = before;
	return before == 0 || slash(s->path.s[before - 1]) == '/';
}

/* An exact path wins over one that only ends so, and the last of its values counts. */
static void note(struct scan *s, double value, const char *at)
{
	size_t before;
	if (!path_matches(s, &before))
		return;
	struct ls_seed_metric_found *f = s->found;
	bool exact = before == 0, best_exact = f->n && s->best == 0;
	if (best_exact && !exact)
		return;
	bool other = f->n && strcmp(s->best_path, s->path.s) != 0;
	if (exact && !best_exact)
		f->n = 0, f->ambiguous = false;
	else if (other && !exact)
		f->ambiguous = true;
	if (f->n == 0 || other) {
		free(s->best_path);
		struct ls_str copy = {0};
		ls_str_add_bytes(&copy, s->path.s, s->path.len);
		s->best_path = ls_str_take(&copy);
	}
	s->best = before;
	f->n++;
	f->value = value;
	s->at = at;
}

static bool value(struct scan *s);

static bool members(struct scan *s)
{
	if (eat(s, '}'))
		return true;
	do {
		size_t before = s->path.len;
		if (before)
			ls_str_add(&s->path, "/");
		blank(s);
		if (!string(s, &s->path) || !eat(s, ':') || !value(s))
			return false;
		s->path.len = before;
		s->path.s[before] = 0;
	} while (eat(s, ','));
	return eat(s, '}');
}

static bool elements(struct scan *s)
{
	if (eat(s, ']'))
		return true;
	do
		if (!value(s))
			return false;
	while (eat(s, ','));
	return eat(s, ']');
}

/* What some loggers write for numbers that JSON has not: "NaN". */
static bool text_value(struct scan *s)
{
	struct ls_str text = {0};
	const char *at = s->p;
	double v;
	bool ok = string(s, &text);
	if (ok && text.s && number(text.s, text.len, &v) == text.len && !isfinite(v))
		note(s, v, at);
	ls_str_done(&text);
	return ok;
}

static bool word(struct scan *s, const char *w)
{
	size_t n = strlen(w);
	if ((size_t)(s->end - s->p) < n || memcmp(s->p, w, n) != 0)
		return false;
	s->p += n;
	return true;
}

static bool plain_value(struct scan *s)
{
	double v;
	if (word(s, "true") || word(s, "false") || word(s, "null"))
		return true;
	size_t n = number(s->p, (size_t)(s->end - s->p), &v);
	if (n == 0)
		return false;
	note(s, v, s->p);
	s->p += n;
	return true;
}

static bool value(struct scan *s)
{
	blank(s);
	if (s->p >= s->end || s->depth >= DEPTH)
		return false;
	if (*s->p == '"')
		return text_value(s);
	if (*s->p != '{' && *s->p != '[')
		return plain_value(s);
	s->depth++;
	bool ok = *s->p++ == '{' ? members(s) : elements(s);
	s->depth--;
	return ok;
}

void ls_seed_metric_json(const char *text, size_t len, const char *name,
			 struct ls_seed_metric_found *ret)
{
	*ret = (struct ls_seed_metric_found){0};
	struct scan s = {.text = text, .p = text, .end = text + len, .name = name};
	s.name_len = strlen(name);
	s.found = ret;
	ls_str_add(&s.path, "");
	blank(&s);
	while (s.p < s.end && !ret->broken) {
		ret->broken = !value(&s);
		blank(&s);
	}
	if (s.at)
		ret->line = line_of(text, s.at);
	ls_str_done(&s.path);
	free(s.best_path);
}

/* --- CSV --- */

struct cells {
	const char *p, *end;
	char separator;
	bool row_ends, broken; /* after the cell */
};

/* The next cell without its quotes; at most LONGEST bytes are kept. */
static void cell(struct cells *c, struct ls_str *out)
{
	bool quoted = false;
	out->len = 0;
	for (; c->p < c->end; c->p++) {
		if (*c->p == '"' && quoted && c->p + 1 < c->end && c->p[1] == '"')
			c->p++;
		else if (*c->p == '"') {
			quoted = !quoted;
			continue;
		} else if (!quoted && (*c->p == c->separator || *c->p == '\n'))
			break;
		if (out->len < LONGEST && *c->p != '\r')
			ls_str_add_bytes(out, c->p, 1);
	}
	c->broken |= quoted;
	c->row_ends = c->p >= c->end || *c->p == '\n';
	c->p += c->p < c->end;
	ls_str_add(out, "");
}

/* The number of the column, or -1; *ret_twice when another has the same name. */
static long header(struct cells *c, const char *name, bool *ret_twice)
{
	struct ls_str text = {0};
	long at = -1, i = 0;
	do {
		cell(c, &text);
		if (strcmp(ls_str_trim(text.s), name) == 0) {
			*ret_twice = at >= 0;
			at = i;
		}
		i++;
	} while (!c->row_ends);
	ls_str_done(&text);
	return at;
}

void ls_seed_metric_csv(const char *text, size_t len, char separator, const char *name,
			struct ls_seed_metric_found *ret)
{
	*ret = (struct ls_seed_metric_found){0};
	struct cells c = {text, text + len, separator, false, false};
	struct ls_str s = {0};
	const char *last = NULL;
	long column = len ? header(&c, name, &ret->ambiguous) : -1;
	for (long i = 0; column >= 0 && c.p < c.end; i = c.row_ends ? 0 : i + 1) {
		const char *at = c.p;
		cell(&c, &s);
		char *v = i == column ? ls_str_trim(s.s) : "";
		if (!*v)
			continue;
		ret->broken |= number(v, strlen(v), &ret->value) != strlen(v);
		ret->n++;
		last = at;
	}
	if (last)
		ret->line = line_of(text, last);
	ret->broken |= c.broken;
	ls_str_done(&s);
}

/* --- what a program prints --- */

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || strchr("_./-", c) || (unsigned char)c >= 0x80;
}

/* Behind the name: quotes, blanks, ":" or "=", and a number, perhaps in "tensor(…)". */
static size_t assigned(const char *p, const char *end, double *ret)
{
	const char *start = p;
	while (p < end && *p && strchr("'\" \t", *p))
		p++;
	if (p >= end || (*p != ':' && *p != '='))
		return 0;
	for (p++; p < end && *p && strchr(" \t", *p); p++)
		;
	const char *q = p;
	while (q < end && (isalnum((unsigned char)*q) || *q == '.' || *q == '_'))
		q++;
	if (q < end && *q == '(' && q > p && isalpha((unsigned char)*p))
		p = q + 1;
	size_t n = number(p, (size_t)(end - p), ret);
	return n ? (size_t)(p - start) + n : 0;
}

void ls_seed_metric_log(const char *text, size_t len, const char *name,
			struct ls_seed_metric_found *ret)
{
	*ret = (struct ls_seed_metric_found){0};
	const char *end = text + len, *last = NULL;
	size_t n = strlen(name);
	for (const char *p = text; n && (p = memmem(p, (size_t)(end - p), name, n)); p += n) {
		double v;
		if ((p > text && p[-1] && in_word(p[-1])) || !assigned(p + n, end, &v))
			continue;
		ret->n++;
		ret->value = v;
		last = p;
	}
	if (last)
		ret->line = line_of(text, last);
}
