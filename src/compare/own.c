#include "compare/own.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { NEAR = 300 }; /* bytes after a time in which a number may be a process */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* One of the two texts, and how far it has been read. */
struct side {
	const struct ls_own_run *run;
	const char *s;
	size_t n, at;
	size_t time_end; /* where the last time ended, or 0 */
};

/* --- processes --- */

/* "pid", and at most three signs, before the number. */
static bool follows_pid(const struct side *x)
{
	size_t at = x->at;
	for (int i = 0; i < 3 && at && !is_letter(x->s[at - 1]) && !is_digit(x->s[at - 1]); i++)
		at--;
	return at >= 3 && (x->s[at - 3] | 32) == 'p' && (x->s[at - 2] | 32) == 'i' &&
	       (x->s[at - 1] | 32) == 'd';
}

/* In the same word as the last time, as in the names of event files
 * (events.out.tfevents.TIME.HOST.PROCESS.0), or in brackets in the same line (TIME
 * [PROCESS]). */
static bool follows_time(const struct side *x)
{
	char last = x->at ? x->s[x->at - 1] : 0;
	if (!x->time_end || x->at - x->time_end > NEAR)
		return false;
	for (size_t i = x->time_end; i < x->at; i++)
		if ((unsigned char)x->s[i] < ' ' || (x->s[i] == ' ' && last != '[' && last != '('))
			return false;
	return true;
}

/* The length of a number of a process of the run, where a number may be one. */
static size_t process(const struct side *x)
{
	int64_t value = 0;
	size_t n = 0;
	if ((x->at && is_digit(x->s[x->at - 1])) || !(follows_time(x) || follows_pid(x)))
		return 0;
	for (; x->at + n < x->n && is_digit(x->s[x->at + n]) && n < 8; n++)
		value = value * 10 + (x->s[x->at + n] - '0');
	for (size_t i = 0; n && n < 8 && i < x->run->n_pids; i++)
		if (x->run->pids[i] == value)
			return n;
	return 0;
}

/* --- durations --- */

static bool ends_in(const char *s, size_t n, const char *suffix)
{
	size_t m = strlen(suffix);
	return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

/* The names that transformers' Trainer gives to what it measures: "eval_runtime",
 * "train_samples_per_second", on TensorBoard "eval/runtime". */
static bool is_measured(const char *key, size_t len)
{
	return ends_in(key, len, "_runtime") || ends_in(key, len, "/runtime") ||
	       ends_in(key, len, "_per_second");
}

bool ls_own_measured(const struct ls_own_run *run, const char *key, size_t len, double value)
{
	bool rate = ends_in(key, len, "_per_second");
	return is_measured(key, len) && value >= 0 && (rate || value <= run->end - run->begin + 1);
}

static size_t duration(const struct side *x, const char *name)
{
	char text[48];
	size_t n = 0, at = x->at;
	while (at && x->at - at < 4 && strchr("\"': =", x->s[at - 1]))
		at--;
	const char *key = at ? x->s : name;
	size_t len = at ? at : strlen(name);
	if (!is_measured(key, len))
		return 0;
	while (x->at + n < x->n && n + 1 < sizeof text && strchr("0123456789.e+-", x->s[x->at + n]))
		n++;
	memcpy(text, x->s + x->at, n);
	text[n] = 0;
	char *end;
	double value = strtod(text, &end);
	return n && end == text + n && ls_own_measured(x->run, key, len, value) ? n : 0;
}

/* --- two texts side by side --- */

/* Skips what both say about themselves at this place. */
static bool skip_own(struct side *a, struct side *b, const char *name)
{
	int form_a, form_b;
	if (!is_digit(a->s[a->at]) && !is_letter(a->s[a->at]))
		return false;
	size_t n = ls_own_time(a->run, a->s, a->n, a->at, &form_a);
	size_t m = n ? ls_own_time(b->run, b->s, b->n, b->at, &form_b) : 0;
	bool time = n && m && form_a == form_b;
	if (!time && is_digit(a->s[a->at])) {
		n = process(a);
		m = n ? process(b) : 0;
		if (!m) {
			n = duration(a, name);
			m = n ? duration(b, name) : 0;
		}
	} else if (!time) {
		return false;
	}
	if (!n || !m)
		return false;
	a->at += n;
	b->at += m;
	if (time) {
		a->time_end = a->at;
		b->time_end = b->at;
	}
	return true;
}

bool ls_own_same(const struct ls_own *own, const char *name, const void *a, size_t na,
		 const void *b, size_t nb)
{
	struct side x = {&own->a, a, na, 0, 0}, y = {&own->b, b, nb, 0, 0};
	while (x.at < x.n && y.at < y.n) {
		if (skip_own(&x, &y, name))
			continue;
		if (x.s[x.at++] != y.s[y.at++])
			return false;
	}
	return x.at == x.n && y.at == y.n;
}

char *ls_own_name(const struct ls_own_run *run, const char *name)
{
	struct side x = {run, name, strlen(name), 0, 0};
	struct ls_str s = {0};
	while (x.at < x.n) {
		int form = 0;
		size_t n = ls_own_time(run, x.s, x.n, x.at, &form), m = 0;
		if (n)
			ls_str_addf(&s, "\001%d", form);
		else if (is_digit(x.s[x.at]) && (m = process(&x)))
			ls_str_add(&s, "\002");
		else
			ls_str_add_bytes(&s, x.s + x.at, 1);
		x.at += n + m ? n + m : 1;
		if (n)
			x.time_end = x.at;
	}
	return ls_str_take(&s);
}
