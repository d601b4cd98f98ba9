/* Times as programs write them, read only to ask whether they lie within a run. */
#include <string.h>
#include <time.h>

#include "compare/own.h"

enum form { NO_TIME, EPOCH, DATE, MONTH, CLOCK };
enum { DAY = 86400 };

/* A position in a text of n bytes. */
struct scan {
	const char *s;
	size_t n, at;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static char peek(const struct scan *p)
{
	return p->at < p->n ? p->s[p->at] : 0;
}

static size_t count_digits(const struct scan *p)
{
	size_t n = 0;
	while (p->at + n < p->n && is_digit(p->s[p->at + n]))
		n++;
	return n;
}

/* Exactly so many digits as a number of at most max. */
static bool take(struct scan *p, size_t digits, int max, int *ret)
{
	int value = 0;
	if (p->n - p->at < digits)
		return false;
	for (size_t i = 0; i < digits; i++) {
		if (!is_digit(p->s[p->at + i]))
			return false;
		value = value * 10 + (p->s[p->at + i] - '0');
	}
	p->at += digits;
	*ret = value;
	return value <= max;
}

/* One character of a set, which may be missing; returns it or 0. */
static char take_one(struct scan *p, const char *set)
{
	char c = peek(p);
	if (!c || !strchr(set, c))
		return 0;
	p->at++;
	return c;
}

static bool overlaps(const struct ls_own_run *run, double from, double to)
{
	return from <= run->end && to >= run->begin;
}

/* --- seconds since 1970, or milli-, micro- or nanoseconds --- */

/* The digits after a point. */
static size_t fraction(const struct scan *p, double *ret)
{
	struct scan q = *p;
	double unit = 0.1;
	*ret = 0;
	if (take_one(&q, ".") == 0)
		return 0;
	size_t n = count_digits(&q);
	for (size_t i = 0; i < n; i++) {
		*ret += unit * (q.s[q.at + i] - '0');
		unit /= 10;
	}
	return n ? n + 1 : 0;
}

static size_t epoch(const struct ls_own_run *run, struct scan p)
{
	size_t digits = count_digits(&p);
	double value = 0, unit = 1, part;
	if (digits != 10 && digits != 13 && digits != 16 && digits != 19)
		return 0;
	for (size_t i = 0; i < digits; i++)
		value = value * 10 + (p.s[p.at + i] - '0');
	for (size_t i = 10; i < digits; i++)
		unit /= 10;
	value *= unit;
	p.at += digits;
	size_t more = digits == 10 ? fraction(&p, &part) : 0;
	/* A binary64 holds today's time in steps of a quarter of a microsecond. */
	if (more && overlaps(run, value + part - 1e-6, value + part + 1e-6))
		return digits + more;
	return !is_letter(peek(&p)) && overlaps(run, value, value + unit) ? digits : 0;
}

/* --- calendar dates --- */

struct civil {
	int year, month, day, hour, minute, second;
	bool has_second, has_zone;
	long zone;
};

/* "08:05:29", "08-05-29", "080529", "08:05", with a fraction of 3 or 6 digits. */
static bool take_clock(struct scan *p, const char *separators, struct civil *t)
{
	if (!take(p, 2, 23, &t->hour))
		return false;
	char sep = take_one(p, separators);
	if (!take(p, 2, 59, &t->minute))
		return false;
	struct scan q = *p;
	if ((!sep || take_one(&q, separators) == sep) && take(&q, 2, 60, &t->second)) {
		t->has_second = true;
		*p = q;
		char point = take_one(&q, ".,_-");
		size_t n = count_digits(&q);
		bool sure = point == '.' || point == ',';
		if ((n == 6 && (point || !sep)) || (sure && (n == 3 || n == 9)))
			p->at = q.at + n;
	}
	return !is_digit(peek(p));
}

static void take_zone(struct scan *p, struct civil *t)
{
	struct scan q = *p;
	int hours, minutes;
	char sign = take_one(&q, "Z+-");
	if (sign == 'Z') {
		t->has_zone = true;
		*p = q;
	} else if (sign && take(&q, 2, 14, &hours)) {
		take_one(&q, ":");
		if (!take(&q, 2, 59, &minutes) || is_digit(peek(&q)))
			return;
		t->has_zone = true;
		t->zone = (sign == '-' ? -60L : 60L) * (hours * 60 + minutes);
		*p = q;
	}
}

static double since_1970(const struct civil *t)
{
	struct tm tm = {.tm_year = t->year - 1900,
			.tm_mon = t->month - 1,
			.tm_mday = t->day,
			.tm_hour = t->hour,
			.tm_min = t->minute,
			.tm_sec = t->second};
	return (double)timegm(&tm);
}

/* In its own zone, or else in UTC or in the machine's. */
static bool civil_overlaps(const struct ls_own_run *run, const struct civil *t)
{
	double at = since_1970(t), unit = t->has_second ? 1 : 60;
	long zones[2] = {0, run->utc_offset};
	if (t->has_zone)
		zones[0] = zones[1] = t->zone;
	for (int i = 0; i < 2; i++)
		if (overlaps(run, at - (double)zones[i], at - (double)zones[i] + unit))
			return true;
	return false;
}

/* "2026-11-19T08:05:29", "20261119_080529", "2026-11-19/08-05-29",
 * "2026-11-19@08:05:29" */
static size_t date(const struct ls_own_run *run, struct scan p)
{
	size_t from = p.at;
	struct civil t = {0};
	if (!take(&p, 4, 2999, &t.year) || t.year < 1970)
		return 0;
	char sep = take_one(&p, "-_/.:");
	if (!take(&p, 2, 12, &t.month) || (sep && take_one(&p, "-_/.:") != sep) ||
	    !take(&p, 2, 31, &t.day))
		return 0;
	if (take_one(&p, "Tt_@- /"))
		take_one(&p, "_ -");
	else if (sep)
		return 0;
	if (!take_clock(&p, ":-_.h", &t))
		return 0;
	take_zone(&p, &t);
	return civil_overlaps(run, &t) ? p.at - from : 0;
}

static int year_of(double seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;
	gmtime_r(&t, &tm);
	return tm.tm_year + 1900;
}

/* "Nov19_08-05-29", "Nov 19 08:05:29" */
static size_t month(const struct ls_own_run *run, struct scan p)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	size_t from = p.at;
	struct civil t = {0};
	for (int i = 0; i < 12 && p.n - p.at > 3; i++)
		if (memcmp(p.s + p.at, names + 3 * (size_t)i, 3) == 0)
			t.month = i + 1;
	if (!t.month)
		return 0;
	p.at += 3;
	take_one(&p, " -_.");
	take_one(&p, " ");
	size_t digits = count_digits(&p);
	if (digits < 1 || digits > 2 || !take(&p, digits, 31, &t.day) || !take_one(&p, " _-T,"))
		return 0;
	take_one(&p, " ");
	if (!take_clock(&p, ":-_.", &t))
		return 0;
	t.year = year_of(run->begin);
	bool within = civil_overlaps(run, &t);
	t.year = year_of(run->end + DAY);
	return within || civil_overlaps(run, &t) ? p.at - from : 0;
}

/* "08:05:29" of a day of the run. */
static size_t clock_time(const struct ls_own_run *run, struct scan p)
{
	size_t from = p.at;
	struct civil t = {.year = 1970, .month = 1, .day = 1};
	if (!take_clock(&p, ":", &t) || !t.has_second || p.s[from + 2] != ':')
		return 0;
	double at = since_1970(&t);
	long zones[2] = {0, run->utc_offset};
	for (int i = 0; i < 2; i++) {
		double first = at - (double)zones[i];
		double days = (double)(int64_t)((run->begin - first) / DAY);
		for (int k = 0; k < 2; k++)
			if (overlaps(run, first + (days + k) * DAY, first + (days + k) * DAY + 1))
				return p.at - from;
	}
	return 0;
}

size_t ls_own_time(const struct ls_own_run *run, const char *s, size_t n, size_t at, int *ret_form)
{
	static const struct {
		enum form form;
		size_t (*read)(const struct ls_own_run *run, struct scan p);
	} forms[] = {{DATE, date}, {EPOCH, epoch}, {CLOCK, clock_time}};
	struct scan p = {s, n, at};
	size_t len = 0;
	if (is_letter(s[at])) {
		*ret_form = MONTH;
		return at && is_letter(s[at - 1]) ? 0 : month(run, p);
	}
	if (!is_digit(s[at]) || (at && is_digit(s[at - 1])))
		return 0;
	for (size_t i = 0; len == 0 && i < sizeof forms / sizeof *forms; i++) {
		len = forms[i].read(run, p);
		*ret_form = (int)forms[i].form;
	}
	return len;
}
