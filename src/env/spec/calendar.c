#include "env/spec/calendar.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- dates --- */

struct date {
	long year, month, day;
};

static bool is_leap(long year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static long days_in(long year, long month)
{
	static const long days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	return days[month - 1] + (month == 2 && is_leap(year));
}

static bool parse(const char *text, struct date *ret)
{
	static const char shape[] = "dddd-dd-dd";
	for (size_t i = 0; i < sizeof shape - 1; i++)
		if (shape[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != shape[i])
			return false;
	if (text[sizeof shape - 1])
		return false;
	*ret = (struct date){strtol(text, NULL, 10), strtol(text + 5, NULL, 10),
			     strtol(text + 8, NULL, 10)};
	return ret->month >= 1 && ret->month <= 12 && ret->day >= 1 &&
	       ret->day <= days_in(ret->year, ret->month);
}

bool ls_calendar_is_date(const char *text)
{
	struct date d;
	return parse(text, &d);
}

/* Days since the first of March of the year 0: a year that begins in March ends with its
 * leap day.
 */
static long day_number(const struct date *d)
{
	long year = d->month > 2 ? d->year : d->year - 1,
	     month = d->month > 2 ? d->month - 3 : d->month + 9;
	return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + d->day;
}

long ls_calendar_days(const char *from, const char *to)
{
	struct date a, b;
	return parse(from, &a) && parse(to, &b) ? day_number(&b) - day_number(&a) : 0;
}

/* --- cron --- */

static bool number(const char **p, long low, long high, long *ret)
{
	size_t n = strspn(*p, "0123456789");
	if (!n || n > 4)
		return false;
	*ret = strtol(*p, NULL, 10);
	*p += n;
	return *ret >= low && *ret <= high;
}

/* "*", "5", "1-5", each also with "/n" behind it. */
static bool item(const char **p, long low, long high)
{
	long from = low, to = high, step;
	if (**p == '*') {
		++*p;
	} else {
		if (!number(p, low, high, &from))
			return false;
		if (**p == '-' && (++*p, !number(p, low, high, &to) || to < from))
			return false;
	}
	return **p != '/' || (++*p, number(p, 1, high, &step));
}

static bool field(const char **p, long low, long high)
{
	while (item(p, low, high)) {
		if (**p != ',')
			return true;
		++*p;
	}
	return false;
}

bool ls_calendar_is_cron(const char *text)
{
	static const long limits[][2] = {{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 7}};
	const char *p = text + strspn(text, " ");
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		if (!field(&p, limits[i][0], limits[i][1]) || (*p && *p != ' '))
			return false;
		p += strspn(p, " ");
	}
	return !*p;
}
