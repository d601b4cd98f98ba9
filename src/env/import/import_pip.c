/* requirements.txt and the output of pip freeze. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/import/build.h"
#include "env/python/requires.h"

/* Extras are no versions: the package is checked without them, and pip gets them on a
 * line of its own. */
static void with_extras(struct ls_build *b, unsigned line, const struct ls_require *r)
{
	ls_build_package(b, line, r->name, r->specifier);
	if (*r->extras) {
		char *text = ls_xasprintf("%s[%s]", r->name, r->extras);
		ls_build_line(b, line, text, NULL);
		free(text);
	}
}

static void by_marker(struct ls_build *b, unsigned line, const struct ls_require *r,
		      const char *text)
{
	static const struct ls_marker_env here = {.extra = ""};
	switch (*r->marker ? ls_marker_test(r->marker, &here) : LS_MARKER_TRUE) {
	case LS_MARKER_TRUE:
		with_extras(b, line, r);
		break;
	case LS_MARKER_FALSE:
		b->understood++;
		ls_build_left(b, line, text, "not for CPython on Linux");
		break;
	default:
		ls_build_line(b, line, text,
			      "whether it is wanted depends on the machine: kept for pip, not "
			      "checked by doctor");
	}
}

/* Cuts the options behind a requirement off: " --hash=…". True when there are hashes. */
static bool cut_options(char *text)
{
	char *options = strstr(text, " --");
	bool hashes = options && strstr(options, "--hash");
	if (options)
		*options = 0;
	return hashes;
}

void ls_build_requirement(struct ls_build *b, unsigned line, const char *text)
{
	struct ls_require r;
	char *copy = ls_xstrdup(text);
	bool hashes = cut_options(copy);
	char *plain = ls_str_trim(copy);
	if (!strstr(plain, "://") && ls_require_parse(plain, &r)) {
		by_marker(b, line, &r, plain);
		ls_require_done(&r);
	} else {
		ls_build_left(b, line, plain,
			      strchr(plain, '@') || strchr(plain, '/')
				      ? "a direct reference: its version cannot be known"
				      : "not a requirement");
	}
	if (hashes)
		ls_build_left(b, line, plain,
			      "its hashes are not part of a spec: render --requirements --hashes "
			      "locks again");
	free(copy);
}

static void option_line(struct ls_build *b, unsigned line, char *text)
{
	size_t n = strcspn(text, " =\t");
	char *value = text + n + strspn(text + n, " =\t");
	char *option = ls_xstrndup(text, n);
	/* -rfile.txt */
	if (n > 2 && text[1] != '-') {
		option[2] = 0;
		value = text + 2;
	}
	if (!ls_build_pip_option(b, line, option, value))
		ls_build_left(b, line, text, "an option of pip that a spec has no place for");
	free(option);
}

/* A comment begins the line or follows a blank. */
static void cut_comment(char *s)
{
	for (char *c = s; (c = strchr(c, '#')); c++)
		if (c == s || isspace((unsigned char)c[-1])) {
			*c = 0;
			return;
		}
}

static void one_line(struct ls_build *b, unsigned line, char *s)
{
	cut_comment(s);
	s = ls_str_trim(s);
	if (*s == '-')
		option_line(b, line, s);
	else if (*s)
		ls_build_requirement(b, line, s);
}

int ls_import_pip(struct ls_build *b, const char *text, struct ls_err *err)
{
	char *copy = ls_xstrdup(text), *rest = copy, *s;
	struct ls_str joined = {0};
	unsigned first = 1;
	(void)err;
	for (unsigned line = 1; (s = strsep(&rest, "\n")); line++) {
		size_t n = strlen(s);
		if (n && s[n - 1] == '\r')
			s[--n] = 0;
		if (!joined.len)
			first = line;
		bool goes_on = n && s[n - 1] == '\\' && rest;
		if (goes_on)
			s[n - 1] = ' ';
		ls_str_add(&joined, s);
		if (goes_on)
			continue;
		if (joined.s)
			one_line(b, first, joined.s);
		ls_str_done(&joined);
	}
	ls_str_done(&joined);
	free(copy);
	return 0;
}
