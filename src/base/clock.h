/* Seconds that pass, for measuring and for time limits: from a clock that is never set.
 * Nothing is owned.
 * Any thread. */
#ifndef LS_BASE_CLOCK_H
#define LS_BASE_CLOCK_H

double ls_clock(void);
/* That processors have spent on this process, all threads together. */
double ls_clock_process(void);

#endif
