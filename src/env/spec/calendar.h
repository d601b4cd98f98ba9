/* Dates and cron expressions, as texts that a calendar knows. No state; any thread. */
#ifndef LS_ENV_SPEC_CALENDAR_H
#define LS_ENV_SPEC_CALENDAR_H

#include <stdbool.h>

/* YYYY-MM-DD of a day that exists. */
bool ls_calendar_is_date(const char *text);
/* Days from the first date to the second, negative when that is earlier. Both are
 * dates. */
long ls_calendar_days(const char *from, const char *to);
/* Five fields: minute, hour, day of the month, month, day of the week; each *, a number,
 * a range, a step or a list of those, within its limits. */
bool ls_calendar_is_cron(const char *text);

#endif
