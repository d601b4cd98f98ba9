#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "num/philox.h"
#include "stats/stats.h"
#include "stats/student.h"

enum {
	RESAMPLES = 10000,
	FEWEST = 3,             /* with fewer values a bootstrap only repeats them */
	BOOTSTRAP = 0x626f6f74, /* the purpose of the key */
};
static const double level = 0.05;

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The mean of n draws with replacement. Each term is divided first, so that no sum
 * overflows. Which value draw i takes follows from key, resample and i alone. */
static double resampled_mean(const double *values, size_t n, uint64_t key, uint64_t resample)
{
	double mean = 0;
	struct ls_u32x4 words = {{0}};
	for (size_t i = 0; i < n; i++) {
		if (i % 4 == 0)
			words = ls_philox(key, resample, i / 4);
		size_t at = (size_t)((uint64_t)words.v[i % 4] * n >> 32);
		mean += values[at] / (double)n;
	}
	return mean;
}

/* Linear between neighbours, as most packages have it. */
static double quantile(const double *sorted, size_t n, double share)
{
	double at = share * (double)(n - 1), below = floor(at);
	size_t i = (size_t)below;
	double next = i + 1 < n ? sorted[i + 1] : sorted[i];
	return sorted[i] + (at - below) * (next - sorted[i]);
}

static void bootstrap(const double *a, const double *b, uint64_t seed, struct ls_stats_pair *p)
{
	if (p->a.n < FEWEST || p->b.n < FEWEST || p->borrowed)
		return;
	uint64_t key_a = ls_seed_key(seed, BOOTSTRAP), key_b = ls_seed_key(seed, BOOTSTRAP + 1);
	double *d = ls_xalloc(RESAMPLES * sizeof *d);
	for (uint64_t i = 0; i < RESAMPLES; i++)
		d[i] = resampled_mean(b, p->b.n, key_b, i) - resampled_mean(a, p->a.n, key_a, i);
	qsort(d, RESAMPLES, sizeof *d, ascending);
	p->boot_low = quantile(d, RESAMPLES, level / 2);
	p->boot_high = quantile(d, RESAMPLES, 1 - level / 2);
	free(d);
}

/* sqrt(a * a + b * b) of numbers from 0 on, whose squares may overflow. The C library's
 * hypot has been changed: programs that call it do not run with that of other systems. */
static double length(double a, double b)
{
	double large = fmax(a, b), ratio = large > 0 ? fmin(a, b) / large : 0;
	return large * sqrt(1 + ratio * ratio);
}

/* The standard error of the difference and its degrees of freedom. Where one group shows
 * no spread, that of the other is taken for both: to take it as zero would be a certainty
 * that nothing has shown. */
static double standard_error(struct ls_stats_pair *p)
{
	double n_a = (double)p->a.n, n_b = (double)p->b.n;
	if (p->a.kind != p->b.kind) {
		bool from_a = p->a.kind == LS_STATS_SPREAD;
		p->borrowed = true;
		p->df = (from_a ? n_a : n_b) - 1;
		return (from_a ? p->a.sd : p->b.sd) * sqrt(1 / n_a + 1 / n_b);
	}
	double a = p->a.sd / sqrt(n_a), b = p->b.sd / sqrt(n_b), se = length(a, b);
	double share_a = a / se * (a / se), share_b = b / se * (b / se);
	p->df = 1 / (share_a * share_a / (n_a - 1) + share_b * share_b / (n_b - 1));
	return se;
}

/* A probability of exactly 0 is only an underflow. */
static double positive(double p)
{
	return p < DBL_MIN ? DBL_MIN : p;
}

/* So many values in each group, were the difference 0, show it to be within the margin in
 * 4 of 5 cases. */
static uint64_t seeds_needed(double sd, double margin)
{
	for (uint64_t n = 2; n <= LS_STATS_MAX; n += 1 + n / 64) {
		double df = 2 * (double)n - 2;
		double t = ls_student_quantile(level, df) + ls_student_quantile(0.1, df);
		if (t * sd * sqrt(2 / (double)n) <= margin)
			return n;
	}
	return 0;
}

static void test(struct ls_stats_pair *p)
{
	double se = standard_error(p), width = ls_student_quantile(level / 2, p->df) * se;
	p->t = p->difference / se;
	p->p = positive(2 * ls_student_above(fabs(p->t), p->df));
	p->low = p->difference - width;
	p->high = p->difference + width;
	p->detectable = width + ls_student_quantile(0.2, p->df) * se;
	if (isnan(p->margin))
		return;
	p->p_margin = positive(ls_student_above((p->margin - fabs(p->difference)) / se, p->df));
	double sd = p->borrowed ? fmax(p->a.sd, p->b.sd) : length(p->a.sd, p->b.sd) / sqrt(2);
	p->seeds_needed = seeds_needed(sd, p->margin);
}

static enum ls_stats_verdict judge(const struct ls_stats_pair *p)
{
	bool within = p->p_margin < level; /* false for NaN */
	if (p->p < level)
		return within ? LS_STATS_SMALL : LS_STATS_DIFFERENT;
	return within ? LS_STATS_EQUIVALENT : LS_STATS_UNDECIDED;
}

/* Neither the difference of any two values nor an interval overflows, and no standard
 * error underflows. */
static bool in_range(const struct ls_stats_pair *p)
{
	double sd_a = p->a.sd > 0 ? p->a.sd : p->b.sd, sd_b = p->b.sd > 0 ? p->b.sd : sd_a;
	double far = fmax(fabs(p->b.max - p->a.min), fabs(p->b.min - p->a.max));
	return far < DBL_MAX / 4 && fmax(sd_a, sd_b) < DBL_MAX / 1e6 &&
	       fmin(sd_a, sd_b) > DBL_MIN * 1e6;
}

static bool has_spread(const struct ls_stats_group *g)
{
	return g->kind == LS_STATS_SPREAD || g->kind == LS_STATS_EQUAL;
}

static bool testable(const struct ls_stats_pair *p)
{
	bool spread = p->a.kind == LS_STATS_SPREAD || p->b.kind == LS_STATS_SPREAD;
	return spread && has_spread(&p->a) && has_spread(&p->b);
}

static int check(const struct ls_stats_ask *ask, struct ls_err *err)
{
	if (isfinite(ask->margin) && ask->margin > 0)
		return 0;
	return ls_err_set(err, LS_EINPUT, "the margin is %g; it must be above 0 and finite",
			  ask->margin);
}

int ls_stats_compare(const double *a, size_t n_a, const double *b, size_t n_b,
		     const struct ls_stats_ask *ask, struct ls_stats_pair *ret, struct ls_err *err)
{
	struct ls_stats_pair p = {.verdict = LS_STATS_UNTESTED};
	p.t = p.df = p.p = p.low = p.high = p.p_margin = p.boot_low = p.boot_high = NAN;
	p.margin = p.relative = p.detectable = NAN;
	int rc = check(ask, err);
	if (rc == 0)
		rc = ls_stats_describe(a, n_a, &p.a, err);
	if (rc == 0)
		rc = ls_stats_describe(b, n_b, &p.b, err);
	if (rc)
		return rc;
	p.difference = p.b.mean - p.a.mean;
	if (ask->absolute)
		p.margin = ask->margin;
	else if (p.a.mean != 0 && ask->margin * fabs(p.a.mean) > 0)
		p.margin = ask->margin * fabs(p.a.mean);
	if (p.a.mean != 0)
		p.relative = p.difference / fabs(p.a.mean);
	if (ask->same_digests) {
		p.verdict = LS_STATS_SAME;
	} else if (testable(&p) && in_range(&p)) {
		test(&p);
		bootstrap(a, b, ask->seed, &p);
		p.verdict = judge(&p);
	}
	*ret = p;
	return 0;
}
