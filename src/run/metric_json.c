#include <ctype.h>
#include <math.h>
#include <string.h>

#include "run/metric_text.h"

enum { DEPTH = 64, LONGEST = 1024 };

struct scan {
	const char *p, *end;
	struct ls_str path; /* keys joined by "/" */
	size_t depth, lists;
	const struct ls_metric_visit *visit;
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
	s->lists++;
	do
		if (!value(s))
			return false;
	while (eat(s, ','));
	s->lists--;
	return eat(s, ']');
}

/* What some loggers write for numbers that JSON has not: "NaN". */
static bool text_value(struct scan *s)
{
	struct ls_str text = {0};
	const char *at = s->p;
	double v;
	bool ok = string(s, &text);
	if (ok && text.s && ls_metric_number(text.s, text.len, &v) == text.len && !isfinite(v))
		s->visit->number(s->visit->ctx, &s->path, s->lists > 0, v, at);
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
	size_t n = ls_metric_number(s->p, (size_t)(s->end - s->p), &v);
	if (n == 0)
		return false;
	s->visit->number(s->visit->ctx, &s->path, s->lists > 0, v, s->p);
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

bool ls_metric_json(const char *text, size_t len, const struct ls_metric_visit *visit)
{
	struct scan s = {.p = text, .end = text + len, .visit = visit};
	bool ok = true;
	ls_str_add(&s.path, "");
	blank(&s);
	while (ok && s.p < s.end) {
		ok = value(&s);
		if (ok && visit->document)
			visit->document(visit->ctx);
		blank(&s);
	}
	ls_str_done(&s.path);
	return ok;
}
