/* One metric in one text: the three formats of seed_metric.h. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "run/metric_text.h"
#include "run/seed_metric.h"

static size_t line_of(const char *text, const char *at)
{
	size_t line = 1;
	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

/* --- JSON --- */

struct search {
	const char *name;
	size_t name_len, best; /* best: bytes of the path before the name */
	char *best_path;
	const char *at; /* of the value that counts */
	struct ls_seed_metric_found *found;
};

static char slash(char c)
{
	return c == '.' ? '/' : c;
}

/* Whether the path ends in the name; *ret_before is how much lies before it. */
static bool path_matches(const struct search *s, const struct ls_str *path, size_t *ret_before)
{
	if (path->len < s->name_len || path->len == 0)
		return false;
	size_t before = path->len - s->name_len;
	for (size_t i = 0; i < s->name_len; i++)
		if (slash(path->s[before + i]) != slash(s->name[i]))
			return false;
	*ret_before = before;
	return before == 0 || slash(path->s[before - 1]) == '/';
}

/* An exact path wins over one that only ends so, and the last of its values counts. */
static void note(void *ctx, const struct ls_str *path, bool in_list, double value, const char *at)
{
	struct search *s = ctx;
	size_t before;
	(void)in_list;
	if (!path_matches(s, path, &before))
		return;
	struct ls_seed_metric_found *f = s->found;
	bool exact = before == 0, best_exact = f->n && s->best == 0;
	if (best_exact && !exact)
		return;
	bool other = f->n && strcmp(s->best_path, path->s) != 0;
	if (exact && !best_exact)
		f->n = 0, f->ambiguous = false;
	else if (other && !exact)
		f->ambiguous = true;
	if (f->n == 0 || other) {
		free(s->best_path);
		struct ls_str copy = {0};
		ls_str_add_bytes(&copy, path->s, path->len);
		s->best_path = ls_str_take(&copy);
	}
	s->best = before;
	f->n++;
	f->value = value;
	s->at = at;
}

void ls_seed_metric_json(const char *text, size_t len, const char *name,
			 struct ls_seed_metric_found *ret)
{
	*ret = (struct ls_seed_metric_found){0};
	struct search s = {.name = name, .name_len = strlen(name), .found = ret};
	ret->broken =
		!ls_metric_json(text, len, &(struct ls_metric_visit){.number = note, .ctx = &s});
	if (s.at)
		ret->line = line_of(text, s.at);
	free(s.best_path);
}

/* --- CSV --- */

/* The number of the column, or -1; *ret_twice when another has the same name. */
static long header(struct ls_metric_cells *c, const char *name, bool *ret_twice)
{
	struct ls_str text = {0};
	long at = -1, i = 0;
	do {
		ls_metric_cell(c, &text);
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
	struct ls_metric_cells c = {text, text + len, separator, false, false};
	struct ls_str s = {0};
	const char *last = NULL;
	long column = len ? header(&c, name, &ret->ambiguous) : -1;
	for (long i = 0; column >= 0 && c.p < c.end; i = c.row_ends ? 0 : i + 1) {
		const char *at = c.p;
		ls_metric_cell(&c, &s);
		char *v = i == column ? ls_str_trim(s.s) : "";
		if (!*v)
			continue;
		ret->broken |= ls_metric_number(v, strlen(v), &ret->value) != strlen(v);
		ret->n++;
		last = at;
	}
	if (last)
		ret->line = line_of(text, last);
	ret->broken |= c.broken;
	ls_str_done(&s);
}

/* --- what a program prints --- */

void ls_seed_metric_log(const char *text, size_t len, const char *name,
			struct ls_seed_metric_found *ret)
{
	*ret = (struct ls_seed_metric_found){0};
	const char *end = text + len, *last = NULL;
	size_t n = strlen(name);
	for (const char *p = text; n && (p = memmem(p, (size_t)(end - p), name, n)); p += n) {
		double v;
		if ((p > text && p[-1] && ls_metric_in_name(p[-1])) ||
		    !ls_metric_assigned(p + n, end, &v))
			continue;
		ret->n++;
		ret->value = v;
		last = p;
	}
	if (last)
		ret->line = line_of(text, last);
}
