/* Time for measuring and for time limits, in seconds, from a monotonic clock. Nothing is
 * owned. Any thread. */
#ifndef LS_BASE_CLOCK_H
#define LS_BASE_CLOCK_H

double ls_clock(void);
/* Processor time of this process so far, all threads together. */
double ls_clock_process(void);

#endif
