/* Student's t distribution, also with degrees of freedom that are not a whole number, as
 * Welch's test has them. Nothing is owned or kept; any thread. */
#ifndef LS_STATS_STUDENT_H
#define LS_STATS_STUDENT_H

/* The probability of a value above t; df > 0. Small tails keep their relative accuracy.
 * NaN for NaN. */
double ls_student_above(double t, double df);
/* The t that is exceeded with probability tail; 0 < tail < 0.5, df > 0. */
double ls_student_quantile(double tail, double df);

#endif
