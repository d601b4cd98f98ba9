#include "base/clock.h"

#include <time.h>

static double seconds_of(clockid_t clock)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

double ls_clock(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

double ls_clock_process(void)
{
	return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}
