/* Words and columns of doctor's output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "cmd/doctor.h"

size_t ls_doctor_width(void)
{
	const char *set = getenv("COLUMNS");
	struct winsize size = {0};
	unsigned long columns = set ? strtoul(set, NULL, 10) : 0;
	if (!columns && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		columns = size.ws_col;
	return columns && columns < 40 ? 40 : columns;
}

const char *ls_doctor_mark(const struct ls_finding *f)
{
	if (f->outcome == LS_OUTCOME_MATCH)
		return "ok";
	if (f->outcome == LS_OUTCOME_UNKNOWN)
		return "unknown";
	return f->level == LS_LEVEL_REQUIRED ? "DIFFERS" : "differs";
}

const char *ls_doctor_colour(const struct ls_finding *f)
{
	bool required = f->level == LS_LEVEL_REQUIRED, differs = f->outcome == LS_OUTCOME_MISMATCH;
	if (f->outcome == LS_OUTCOME_MATCH)
		return ls_cmd_colour(stdout, "green");
	if (f->level == LS_LEVEL_INFORMATIONAL)
		return ls_cmd_colour(stdout, "dim");
	return ls_cmd_colour(stdout, required && differs ? "red" : "yellow");
}

static bool begins_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

/* Characters of n bytes, as columns. */
static size_t columns_of(const char *s, size_t n)
{
	size_t columns = 0;
	for (size_t i = 0; i < n; i++)
		columns += begins_character(s[i]);
	return columns;
}

char *ls_doctor_cell(const char *text, size_t width)
{
	char *s = ls_xstrdup(text ? text : "");
	for (char *p = s; *p; p++)
		if ((unsigned char)*p < 32 || *p == 127)
			*p = '?';
	if (!width || columns_of(s, strlen(s)) <= width)
		return s;
	size_t n = 0, columns = 0;
	while (s[n] && (columns + 1 < width || !begins_character(s[n])))
		columns += begins_character(s[n++]);
	char *cut = ls_xasprintf("%.*s…", (int)n, s);
	free(s);
	return cut;
}

void ls_doctor_wrap_to(struct ls_str *out, const char *text, size_t first, size_t indent)
{
	size_t width = ls_doctor_width(), column = first;
	char *plain = ls_doctor_cell(text, 0);
	for (const char *p = plain; *p;) {
		size_t n = strcspn(p, " "), columns = columns_of(p, n);
		bool begins = p == plain;
		if (!begins && width && column + 1 + columns > width && column > indent) {
			ls_str_addf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!begins) {
			ls_str_add(out, " ");
			column++;
		}
		ls_str_add_bytes(out, p, n);
		column += columns;
		p += n + (p[n] == ' ');
	}
	ls_str_add(out, "\n");
	free(plain);
}

void ls_doctor_wrap(const char *text, size_t first, size_t indent)
{
	struct ls_str s = {0};
	ls_doctor_wrap_to(&s, text, first, indent);
	fputs(s.s, stdout);
	ls_str_done(&s);
}

size_t ls_doctor_height(void)
{
	enum { USUAL = 24 };
	struct winsize size = {0};
	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
	    size.ws_row > USUAL)
		return size.ws_row;
	return USUAL;
}

void ls_doctor_heading(const char *text)
{
	printf("\n%s%s%s\n", ls_cmd_colour(stdout, "bold"), text, ls_cmd_colour(stdout, "off"));
}
