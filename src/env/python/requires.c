#include "env/python/requires.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/version.h"

char *ls_dist_name(const char *name)
{
	char *out = ls_xstrdup(name), *to = out;
	for (const char *p = name; *p; p++) {
		if (*p != '-' && *p != '_' && *p != '.')
			*to++ = (char)tolower((unsigned char)*p);
		else if (to == out || to[-1] != '-')
			*to++ = '-';
	}
	*to = 0;
	return out;
}

/* --- the line --- */

/* A copy of n bytes without its blanks. */
static char *squeezed(const char *s, size_t n)
{
	char *out = ls_xstrndup(s, n), *to = out;
	for (const char *p = out; *p; p++)
		if (!isspace((unsigned char)*p))
			*to++ = *p;
	*to = 0;
	return out;
}

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

bool ls_require_parse(const char *line, struct ls_require *ret)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	const char *p = skip_blanks(line), *extras = "";
	size_t n = strspn(p, letters), n_extras = 0;
	if (!n)
		return false;
	const char *name = p;
	p = skip_blanks(p + n);
	if (*p == '[') {
		extras = p + 1;
		n_extras = strcspn(extras, "]");
		if (!extras[n_extras])
			return false;
		p = skip_blanks(extras + n_extras + 1);
	}
	size_t len = strcspn(p, ";");
	const char *marker = p[len] ? p + len + 1 : "";
	if (memchr(p, '@', len))
		return false;
	if (*p == '(' && len && memchr(p, ')', len)) { /* the old form: name (>=1.0) */
		p++;
		len = strcspn(p, ")");
	}
	char *plain = ls_xstrndup(name, n);
	*ret = (struct ls_require){.name = ls_dist_name(plain),
				   .extras = squeezed(extras, n_extras),
				   .specifier = squeezed(p, len),
				   .marker = ls_xstrdup(skip_blanks(marker))};
	free(plain);
	return true;
}

void ls_require_done(struct ls_require *r)
{
	free(r->name);
	free(r->extras);
	free(r->specifier);
	free(r->marker);
	*r = (struct ls_require){0};
}

/* --- the marker: or, and, parentheses, comparisons --- */

enum { MAX_DEPTH = 32, MAX_WORD = 128 };

struct reader {
	const char *p;
	const struct ls_marker_env *env;
	int depth;
	bool bad;
};

struct operand {
	char text[MAX_WORD];
	bool known;
};

static enum ls_marker fail(struct reader *r)
{
	r->bad = true;
	return LS_MARKER_UNKNOWN;
}

/* Takes the word off the text, unless it only begins a longer one. */
static bool take_word(struct reader *r, const char *word)
{
	size_t n = strlen(word);
	r->p += strspn(r->p, " \t");
	if (strncmp(r->p, word, n) != 0 || isalnum((unsigned char)r->p[n]) || r->p[n] == '_')
		return false;
	r->p += n;
	return true;
}

static void set(struct operand *o, const char *value)
{
	o->known = value && strlen(value) < sizeof o->text;
	if (o->known)
		memcpy(o->text, value, strlen(value) + 1);
}

static bool variable(struct reader *r, struct operand *o)
{
	const struct {
		const char *name, *value;
	} all[] = {
		{"python_version", r->env->python_version},
		{"python_full_version", r->env->python_full_version},
		{"implementation_version", r->env->python_full_version},
		{"platform_machine", r->env->machine},
		{"platform_system", "Linux"},
		{"sys_platform", "linux"},
		{"os_name", "posix"},
		{"implementation_name", "cpython"},
		{"platform_python_implementation", "CPython"},
		{"extra", r->env->extra},
		{"platform_release", NULL},
		{"platform_version", NULL},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (take_word(r, all[i].name)) {
			set(o, all[i].value);
			return true;
		}
	return false;
}

static bool operand(struct reader *r, struct operand *o)
{
	*o = (struct operand){0};
	r->p += strspn(r->p, " \t");
	if (*r->p != '\'' && *r->p != '"')
		return variable(r, o);
	const char *start = r->p + 1, *end = strchr(start, *r->p);
	if (!end || (size_t)(end - start) >= sizeof o->text)
		return false;
	memcpy(o->text, start, (size_t)(end - start));
	o->known = true;
	r->p = end + 1;
	return true;
}

static enum ls_marker by_order(const char *op, int order)
{
	bool yes = strcmp(op, "==") == 0 || strcmp(op, "~=") == 0 ? order == 0
		   : strcmp(op, "!=") == 0                        ? order != 0
		   : strcmp(op, ">=") == 0                        ? order >= 0
		   : strcmp(op, "<=") == 0                        ? order <= 0
		   : strcmp(op, ">") == 0                         ? order > 0
								  : order < 0;
	return yes ? LS_MARKER_TRUE : LS_MARKER_FALSE;
}

static enum ls_marker compare(const struct operand *a, const char *op, const struct operand *b)
{
	int order;
	if (!a->known || !b->known || strcmp(op, "~=") == 0)
		return LS_MARKER_UNKNOWN;
	if (strcmp(op, "in") == 0)
		return strstr(b->text, a->text) ? LS_MARKER_TRUE : LS_MARKER_FALSE;
	if (strcmp(op, "not in") == 0)
		return strstr(b->text, a->text) ? LS_MARKER_FALSE : LS_MARKER_TRUE;
	if (!ls_version_compare(a->text, b->text, &order))
		order = strcmp(a->text, b->text);
	return by_order(op, order);
}

static const char *take_operator(struct reader *r)
{
	static const char *const signs[] = {"===", "==", "!=", ">=", "<=", "~=", ">", "<"};
	r->p += strspn(r->p, " \t");
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (ls_str_starts(r->p, signs[i])) {
			r->p += strlen(signs[i]);
			return i == 0 ? "==" : signs[i];
		}
	if (take_word(r, "in"))
		return "in";
	return take_word(r, "not") && take_word(r, "in") ? "not in" : NULL;
}

static enum ls_marker any_of(struct reader *r);

static enum ls_marker comparison(struct reader *r)
{
	struct operand a, b;
	r->p += strspn(r->p, " \t");
	if (*r->p == '(') {
		if (++r->depth > MAX_DEPTH)
			return fail(r);
		r->p++;
		enum ls_marker inner = any_of(r);
		r->p += strspn(r->p, " \t");
		if (r->bad || *r->p != ')')
			return fail(r);
		r->p++;
		r->depth--;
		return inner;
	}
	const char *op = operand(r, &a) ? take_operator(r) : NULL;
	return op && operand(r, &b) ? compare(&a, op, &b) : fail(r);
}

static enum ls_marker all_of(struct reader *r)
{
	enum ls_marker all = comparison(r);
	while (!r->bad && take_word(r, "and")) {
		enum ls_marker next = comparison(r);
		if (all == LS_MARKER_FALSE || next == LS_MARKER_FALSE)
			all = LS_MARKER_FALSE;
		else if (next == LS_MARKER_UNKNOWN)
			all = next;
	}
	return all;
}

static enum ls_marker any_of(struct reader *r)
{
	enum ls_marker any = all_of(r);
	while (!r->bad && take_word(r, "or")) {
		enum ls_marker next = all_of(r);
		if (any == LS_MARKER_TRUE || next == LS_MARKER_TRUE)
			any = LS_MARKER_TRUE;
		else if (next == LS_MARKER_UNKNOWN)
			any = next;
	}
	return any;
}

enum ls_marker ls_marker_test(const char *marker, const struct ls_marker_env *env)
{
	struct reader r = {.p = marker, .env = env};
	if (!*skip_blanks(marker))
		return LS_MARKER_TRUE;
	enum ls_marker answer = any_of(&r);
	return r.bad || *skip_blanks(r.p) ? LS_MARKER_UNKNOWN : answer;
}
