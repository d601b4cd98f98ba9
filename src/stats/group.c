#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/stats.h"
#include "stats/student.h"

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static size_t count_finite(const double *values, size_t n)
{
	size_t finite = 0;
	for (size_t i = 0; i < n; i++)
		finite += isfinite(values[i]) != 0;
	return finite;
}

static size_t count_distinct(const double *sorted, size_t n)
{
	size_t distinct = n > 0;
	for (size_t i = 1; i < n; i++)
		distinct += sorted[i] != sorted[i - 1];
	return distinct;
}

/* Neumaier's compensated sum, in the order of the values. */
static double sum(const double *values, size_t n)
{
	double s = 0, lost = 0;
	for (size_t i = 0; i < n; i++) {
		double v = values[i], next = s + v;
		lost += fabs(s) >= fabs(v) ? (s - next) + v : (v - next) + s;
		s = next;
	}
	return s + lost;
}

/* Mean and standard deviation of sorted values that are not all equal. They are first
 * scaled by a power of two, which is exact, so that no square overflows. */
static void moments(const double *sorted, size_t n, struct ls_stats_group *g)
{
	int exponent;
	double *v = ls_xalloc(n * sizeof *v);
	frexp(fmax(fabs(g->min), fabs(g->max)), &exponent);
	for (size_t i = 0; i < n; i++)
		v[i] = ldexp(sorted[i], -exponent);
	double mean = sum(v, n) / (double)n;
	for (size_t i = 0; i < n; i++)
		v[i] = (v[i] - mean) * (v[i] - mean);
	g->sd = ldexp(sqrt(sum(v, n) / (double)(n - 1)), exponent);
	g->mean = fmin(fmax(ldexp(mean, exponent), g->min), g->max);
	free(v);
}

static void intervals(struct ls_stats_group *g)
{
	double n = (double)g->n, t = ls_student_quantile(0.025, n - 1);
	double mean = t * g->sd / sqrt(n), run = t * g->sd * sqrt(1 + 1 / n);
	g->low = g->mean - mean;
	g->high = g->mean + mean;
	g->run_low = g->mean - run;
	g->run_high = g->mean + run;
}

static void describe(const double *sorted, size_t n, struct ls_stats_group *g)
{
	g->n_distinct = count_distinct(sorted, n);
	g->min = sorted[0];
	g->max = sorted[n - 1];
	g->mean = g->min;
	if (n == 1) {
		g->kind = LS_STATS_ONE;
	} else if (g->n_distinct == 1) {
		g->kind = LS_STATS_EQUAL;
		g->sd = 0;
	} else {
		g->kind = LS_STATS_SPREAD;
		moments(sorted, n, g);
		intervals(g);
	}
}

int ls_stats_describe(const double *values, size_t n, struct ls_stats_group *ret,
		      struct ls_err *err)
{
	struct ls_stats_group g = {LS_STATS_NONE, n, 0, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	if (n > LS_STATS_MAX)
		return ls_err_set(err, LS_EINPUT, "%zu values in a group; at most %d are taken", n,
				  LS_STATS_MAX);
	g.n_finite = count_finite(values, n);
	if (g.n_finite < n) {
		g.kind = LS_STATS_NOT_FINITE;
	} else if (n) {
		double *sorted = ls_xalloc(n * sizeof *sorted);
		memcpy(sorted, values, n * sizeof *sorted);
		qsort(sorted, n, sizeof *sorted, ascending);
		describe(sorted, n, &g);
		free(sorted);
	}
	*ret = g;
	return 0;
}
