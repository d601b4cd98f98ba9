/* Metrics in printed lines, by a pattern. A line is matched without going back: a {}
 * takes the shortest text up to what follows it. */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "job/metric_file.h"
#include "run/metric_text.h"

enum { PARTS = 32, LINE_MOST = 16384 };

enum part_kind { LITERAL, BLANKS, NUMBER, ANYTHING };

struct part {
	enum part_kind kind;
	const char *text; /* of a literal, or the name of a number */
	size_t len;
	bool apart; /* begins behind a blank: "{} f1" */
};

struct pattern {
	struct part parts[PARTS];
	size_t n, numbers;
};

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The next part of p; NULL: a brace is not closed. */
static const char *part_of(const char *p, struct part *ret)
{
	if (blank(*p)) {
		*ret = (struct part){.kind = BLANKS, .text = p};
		while (blank(*p))
			p++;
		return p;
	}
	if (*p == '{') {
		size_t n = strcspn(p + 1, "}");
		*ret = (struct part){.kind = n ? NUMBER : ANYTHING, .text = p + 1, .len = n};
		return p[1 + n] ? p + n + 2 : NULL;
	}
	*ret = (struct part){.kind = LITERAL, .text = p, .len = strcspn(p, "{ \t")};
	return p + ret->len;
}

/* Blanks behind a {} say where the next part begins: they are no part of their own. */
static void join_blanks(struct pattern *pat)
{
	struct part *p = pat->parts;
	size_t n = pat->n;
	if (n < 3 || p[n - 3].kind != ANYTHING || p[n - 2].kind != BLANKS)
		return;
	p[n - 2] = p[n - 1];
	p[n - 2].apart = true;
	pat->n--;
}

static int parse(const char *text, struct pattern *ret, struct ls_err *err)
{
	*ret = (struct pattern){0};
	for (const char *p = text; *p;) {
		if (ret->n == PARTS)
			return ls_err_set(err, LS_EINPUT, "pattern \"%s\": more than %d parts",
					  text, PARTS);
		struct part *part = &ret->parts[ret->n++];
		p = part_of(p, part);
		if (!p)
			return ls_err_set(err, LS_EINPUT, "pattern \"%s\": a { is not closed",
					  text);
		ret->numbers += part->kind == NUMBER && ls_step_rank(part->text, part->len) < 0;
		join_blanks(ret);
	}
	if (ret->numbers == 0)
		return ls_err_set(err, LS_EINPUT,
				  "pattern \"%s\": no {name} says where the number stands", text);
	return 0;
}

int ls_metric_pattern_check(const char *pattern, struct ls_err *err)
{
	struct pattern p;
	if (!*pattern)
		return ls_err_set(err, LS_EINPUT, "the pattern is empty");
	return strchr(pattern, '{') ? parse(pattern, &p, err) : 0;
}

/* --- one line --- */

struct line {
	const char *p, *end;
	double values[PARTS];
};

static bool match_part(const struct pattern *pat, size_t i, struct line *l)
{
	const struct part *part = &pat->parts[i];
	size_t left = (size_t)(l->end - l->p), n;
	switch (part->kind) {
	case LITERAL:
		if (left < part->len || memcmp(l->p, part->text, part->len) != 0)
			return false;
		l->p += part->len;
		return true;
	case BLANKS:
		while (l->p < l->end && blank(*l->p))
			l->p++;
		return true;
	case NUMBER:
		n = ls_metric_number(l->p, left, &l->values[i]);
		l->p += n;
		return n > 0;
	default:
		return true; /* what follows looks for its place itself */
	}
}

static bool begins(const struct part *part, const struct line *l)
{
	double v;
	size_t left = (size_t)(l->end - l->p);
	return part->kind == NUMBER ? ls_metric_number(l->p, left, &v) > 0
				    : left >= part->len && memcmp(l->p, part->text, part->len) == 0;
}

/* Moves to where the part behind a {} can begin. A number begins where none goes on. */
static bool skip_to(const struct pattern *pat, size_t i, struct line *l)
{
	const char *from = l->p;
	if (i == pat->n || pat->parts[i].kind == ANYTHING || pat->parts[i].kind == BLANKS)
		return true;
	const struct part *part = &pat->parts[i];
	for (; l->p < l->end; l->p++) {
		bool apart = l->p > from && blank(l->p[-1]);
		bool inside =
			part->kind == NUMBER && l->p > from && isalnum((unsigned char)l->p[-1]);
		if ((apart || (!part->apart && !inside)) && begins(part, l))
			return true;
	}
	return false;
}

static bool match_at(const struct pattern *pat, const char *at, struct line *l)
{
	l->p = at;
	for (size_t i = 0; i < pat->n; i++) {
		bool free_start = i > 0 && pat->parts[i - 1].kind == ANYTHING;
		if ((free_start && !skip_to(pat, i, l)) || !match_part(pat, i, l))
			return false;
	}
	return true;
}

static bool match_line(const struct pattern *pat, const char *at, struct line *l)
{
	const struct part *first = &pat->parts[0];
	for (; at < l->end; at++) {
		if (first->kind == LITERAL)
			at = memmem(at, (size_t)(l->end - at), first->text, first->len);
		if (!at)
			return false;
		if (match_at(pat, at, l))
			return true;
	}
	return false;
}

static int take_line(const struct pattern *pat, const struct line *l, struct ls_points *p,
		     struct ls_err *err)
{
	int64_t step = LS_POINT_COUNTED;
	int best = -1, rc = 0;
	for (size_t i = 0; i < pat->n; i++) {
		const struct part *part = &pat->parts[i];
		int rank = part->kind == NUMBER ? ls_step_rank(part->text, part->len) : -1;
		if (rank >= 0 && (best < 0 || rank < best) && ls_step_of(l->values[i], &step))
			best = rank;
	}
	for (size_t i = 0; i < pat->n && !rc; i++) {
		const struct part *part = &pat->parts[i];
		if (part->kind == NUMBER && ls_step_rank(part->text, part->len) < 0)
			rc = ls_points_add(p, part->text, part->len, step, l->values[i], err);
	}
	return rc;
}

/* "name: 0.5" anywhere in the text, as verify --metric has it. */
static int assignments(const char *text, size_t len, const char *name, struct ls_points *p,
		       struct ls_err *err)
{
	const char *end = text + len;
	size_t n = strlen(name);
	int rc = 0;
	for (const char *at = text; !rc && (at = memmem(at, (size_t)(end - at), name, n));
	     at += n) {
		double v;
		if ((at > text && at[-1] && ls_metric_in_name(at[-1])) ||
		    !ls_metric_assigned(at + n, end, &v))
			continue;
		rc = ls_points_add(p, name, n, LS_POINT_COUNTED, v, err);
	}
	return rc;
}

static const char *line_end(const char *p, const char *end)
{
	while (p < end && *p != '\n' && *p != '\r') /* progress bars end their lines by \r */
		p++;
	return p;
}

int ls_metric_printed(const char *text, size_t len, const char *pattern, struct ls_points *p,
		      struct ls_err *err)
{
	struct pattern pat;
	int rc = ls_metric_pattern_check(pattern, err);
	if (rc)
		return rc;
	if (!strchr(pattern, '{'))
		return assignments(text, len, pattern, p, err);
	rc = parse(pattern, &pat, err);
	for (const char *at = text, *end = text + len; at < end && !rc;) {
		const char *stop = line_end(at, end);
		struct line l = {.end = stop - at > LINE_MOST ? at + LINE_MOST : stop};
		if (match_line(&pat, at, &l))
			rc = take_line(&pat, &l, p, err);
		at = stop + 1;
	}
	return rc;
}
