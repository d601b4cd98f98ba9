#include "env/python/pyfiles.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"

/* A stretch of text; not NUL-terminated. */
struct span {
	const char *p;
	size_t n;
};

static struct span trim(struct span s)
{
	while (s.n && isspace((unsigned char)*s.p))
		s.p++, s.n--;
	while (s.n && isspace((unsigned char)s.p[s.n - 1]))
		s.n--;
	return s;
}

/* Takes the next line off *text; false at the end. */
static bool next_line(struct span *text, struct span *ret)
{
	if (!text->n)
		return false;
	const char *nl = memchr(text->p, '\n', text->n);
	size_t n = nl ? (size_t)(nl - text->p) : text->n;
	*ret = (struct span){text->p, n};
	text->p += n + (nl != NULL);
	text->n -= n + (nl != NULL);
	return true;
}

/* Splits at the first c; both halves trimmed. */
static bool split(struct span line, char c, struct span *ret_left, struct span *ret_right)
{
	const char *at = line.n ? memchr(line.p, c, line.n) : NULL;
	if (!at)
		return false;
	size_t n = (size_t)(at - line.p);
	*ret_left = trim((struct span){line.p, n});
	*ret_right = trim((struct span){at + 1, line.n - n - 1});
	return true;
}

static bool is(struct span s, const char *word)
{
	return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

/* The first value given stays. Control characters never reach a terminal through here. */
static void keep(char **to, struct span v)
{
	if (*to || !v.n || v.n > 4096)
		return;
	for (size_t i = 0; i < v.n; i++)
		if (iscntrl((unsigned char)v.p[i]))
			return;
	*to = ls_xstrndup(v.p, v.n);
}

/* virtualenv writes 3.11.2.final.0 */
static struct span without_release_level(struct span v)
{
	size_t n = 0, dots = 0;
	while (n < v.n && (isdigit((unsigned char)v.p[n]) || (v.p[n] == '.' && ++dots < 3)))
		n++;
	return n < v.n && v.p[n] == '.' ? (struct span){v.p, n} : v;
}

void ls_pyvenv_parse(const char *text, size_t len, struct ls_pyvenv *ret)
{
	struct span rest = {text, len}, line, key, value;
	*ret = (struct ls_pyvenv){0};
	while (next_line(&rest, &line)) {
		if (!split(line, '=', &key, &value))
			continue;
		if (is(key, "home"))
			keep(&ret->home, value);
		else if (is(key, "version") || is(key, "version_info"))
			keep(&ret->version, without_release_level(value));
		else if (is(key, "include-system-site-packages"))
			ret->system_site = is(value, "true");
	}
}

void ls_pyvenv_done(struct ls_pyvenv *v)
{
	free(v->home);
	free(v->version);
	*v = (struct ls_pyvenv){0};
}

void ls_metadata_parse(const char *text, size_t len, struct ls_metadata *ret)
{
	struct span rest = {text, len}, line, key, value;
	*ret = (struct ls_metadata){0};
	while (next_line(&rest, &line)) {
		if (!trim(line).n)
			return; /* headers end at the first blank line; what follows is a
				   description */
		if (isspace((unsigned char)*line.p) || !split(line, ':', &key, &value))
			continue;
		if (is(key, "Name"))
			keep(&ret->name, value);
		else if (is(key, "Version"))
			keep(&ret->version, value);
		if (ret->name && ret->version)
			return;
	}
}

void ls_metadata_done(struct ls_metadata *m)
{
	free(m->name);
	free(m->version);
	*m = (struct ls_metadata){0};
}

void ls_metadata_requirements(const char *text, size_t len,
			      void (*see)(void *arg, const char *line), void *arg)
{
	struct span rest = {text, len}, line, key, value;
	while (next_line(&rest, &line) && trim(line).n) {
		char *word = NULL;
		if (isspace((unsigned char)*line.p) || !split(line, ':', &key, &value) ||
		    !is(key, "Requires-Dist"))
			continue;
		keep(&word, value);
		if (word)
			see(arg, word);
		free(word);
	}
}

/* The text between the quotes of 'x' or "x"; false for anything else. */
static bool literal(struct span v, struct span *ret)
{
	if (v.n < 2 || (v.p[0] != '\'' && v.p[0] != '"'))
		return false;
	const char *end = memchr(v.p + 1, v.p[0], v.n - 1);
	if (!end)
		return false;
	*ret = (struct span){v.p + 1, (size_t)(end - v.p - 1)};
	return true;
}

/* "cuda: Optional[str]" -> "cuda" */
static struct span without_annotation(struct span key)
{
	struct span name, type;
	return split(key, ':', &name, &type) ? name : key;
}

void ls_torch_file_parse(const char *text, size_t len, struct ls_torch_file *ret)
{
	struct span rest = {text, len}, line, key, value, inner;
	*ret = (struct ls_torch_file){0};
	while (next_line(&rest, &line)) {
		if (!line.n || isspace((unsigned char)*line.p) || !split(line, '=', &key, &value))
			continue;
		key = without_annotation(key);
		if (is(key, "cuda") && is(value, "None"))
			ret->cuda_is_none = true;
		if (!literal(value, &inner))
			continue;
		if (is(key, "__version__"))
			keep(&ret->version, inner);
		else if (is(key, "cuda"))
			keep(&ret->cuda, inner);
		else if (is(key, "git_version"))
			keep(&ret->git, inner);
		else if (is(key, "hip"))
			keep(&ret->hip, inner);
	}
}

void ls_torch_file_done(struct ls_torch_file *t)
{
	free(t->version);
	free(t->cuda);
	free(t->git);
	free(t->hip);
	*t = (struct ls_torch_file){0};
}

char *ls_python_in_binary(const void *bytes, size_t len, const char *minor)
{
	const char *p = bytes, *end = p + len;
	size_t head = strlen(minor);
	while (p < end && (p = memmem(p, (size_t)(end - p), minor, head))) {
		const char *v = p;
		p += head;
		/* a whole C string: nothing but NUL or a blank before it, NUL after it */
		if (v > (const char *)bytes && v[-1] != 0 && v[-1] != ' ')
			continue;
		const char *q = p;
		if (q >= end || *q++ != '.')
			continue;
		const char *digits = q;
		while (q < end && isdigit((unsigned char)*q))
			q++;
		if (q == digits)
			continue;
		while (q < end && (isalnum((unsigned char)*q) || *q == '+') && q - v < 24)
			q++;
		if (q < end && *q == 0)
			return ls_xstrndup(v, (size_t)(q - v));
	}
	return NULL;
}
