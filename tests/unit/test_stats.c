/* Statistics over seeds: what is known of a group and of two, and what is not.
 * labels: isa */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "stats/stats.h"
#include "stats/student.h"

#define N(a) (sizeof(a) / sizeof *(a))

/* Within 1e-12 of the reference: logarithms and exponentials are the C library's. */
static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-12 * fabs(want)))
		fail_msg("got %.17g, want %.17g", got, want);
}

static void student(void **state)
{
	(void)state;
	near(ls_student_quantile(0.025, 1), 12.706204736174694);
	near(ls_student_quantile(0.05, 2), 2.9199855803537242);
	near(ls_student_quantile(0.05, 7.5), 1.8757474792112889);
	near(ls_student_above(0, 3.3), 0.5);
	near(ls_student_above(50, 4), 4.787226828484846e-07);
	near(ls_student_above(-50, 4), 1 - 4.787226828484846e-07);
	assert_true(isnan(ls_student_above(NAN, 4)));
	assert_true(ls_student_above(1e300, 30) >= 0 && ls_student_above(INFINITY, 1) == 0);
}

static struct ls_stats_group group(const double *v, size_t n)
{
	struct ls_stats_group g;
	struct ls_err err;
	assert_int_equal(ls_stats_describe(v, n, &g, &err), 0);
	return g;
}

static void groups(void **state)
{
	(void)state;
	static const double v[] = {0.82, 0.8214, 0.8198, 0.8206, 0.8211};
	static const double same[] = {0.1, 0.1, 0.1}, odd[] = {1, NAN, 2, INFINITY};
	static const double wide[] = {-DBL_MAX, DBL_MAX}, small[] = {5e-324, 1e-323, 2e-323};
	struct ls_stats_group g = group(v, N(v));
	near(g.mean, 0.82058);
	near(g.sd, 0.0006870225614927401);
	near(g.sd * ls_student_quantile(0.025, 4) / sqrt(5), 0.00085305118055923);
	assert_true(fabs(g.high - g.mean - 0.00085305118055923) < 1e-15);
	assert_true(g.min == 0.8198 && g.max == 0.8214 && g.n_distinct == 5);
	g = group(same, N(same));
	assert_true(g.kind == LS_STATS_EQUAL && g.mean == 0.1 && g.sd == 0 && isnan(g.low));
	g = group(odd, N(odd));
	assert_true(g.kind == LS_STATS_NOT_FINITE && g.n_finite == 2 && isnan(g.mean));
	g = group(v, 1);
	assert_true(g.kind == LS_STATS_ONE && g.mean == v[0] && isnan(g.sd) && isnan(g.low));
	g = group(NULL, 0);
	assert_true(g.kind == LS_STATS_NONE && isnan(g.mean));
	g = group(wide, N(wide));
	assert_true(g.kind == LS_STATS_SPREAD && g.mean == 0 && g.sd > 1e308);
	g = group(small, N(small));
	assert_true(g.mean == 1e-323 && g.sd > 0);
}

static struct ls_stats_pair pair(const double *a, size_t n_a, const double *b, size_t n_b,
				 double margin)
{
	struct ls_stats_pair p;
	struct ls_err err;
	struct ls_stats_ask ask = ls_stats_ask_default;
	ask.margin = margin;
	assert_int_equal(ls_stats_compare(a, n_a, b, n_b, &ask, &p, &err), 0);
	return p;
}

static const double l40s[] = {0.8206, 0.8198, 0.8211, 0.8203, 0.8209};
static const double h200[] = {0.8203, 0.8201, 0.8212, 0.8199};
static const double worse[] = {0.8101, 0.8092, 0.8107, 0.8095, 0.8104};

static void verdicts(void **state)
{
	(void)state;
	struct ls_stats_pair p = pair(l40s, 5, h200, 4, 0.005);
	assert_int_equal(p.verdict, LS_STATS_EQUIVALENT);
	assert_int_equal(pair(l40s, 5, worse, 5, 0.005).verdict, LS_STATS_DIFFERENT);
	assert_int_equal(pair(l40s, 5, worse, 5, 0.02).verdict, LS_STATS_SMALL);
	p = pair(l40s, 5, h200, 4, 0.0005);
	assert_int_equal(p.verdict, LS_STATS_UNDECIDED);
	assert_true(p.seeds_needed > 5);
	p = pair(l40s, 5, h200, 4, 1e-9);
	assert_true(p.seeds_needed == 0 && p.p_margin > 0.05);
}

/* The intervals do not depend on the order of the groups, and the same seed gives the
 * same bootstrap. */
static void symmetric(void **state)
{
	(void)state;
	struct ls_stats_pair p = pair(l40s, 5, h200, 4, 0.005), q = pair(h200, 4, l40s, 5, 0.005);
	assert_true(p.p == q.p && p.t == -q.t && p.df == q.df);
	struct ls_stats_pair again = pair(l40s, 5, h200, 4, 0.005);
	assert_true(p.boot_low == again.boot_low && p.boot_high == again.boot_high);
	assert_true(p.boot_low < p.difference && p.difference < p.boot_high);
}

static bool says(const struct ls_stats_pair *p, const char *words)
{
	struct ls_str s = {0};
	ls_stats_pair_sentence(p, "A", "B", &s);
	bool yes = strstr(s.s, words) != NULL;
	if (!yes)
		print_error("the sentence is: %s\n", s.s);
	ls_str_done(&s);
	return yes;
}

/* Nothing here may end in a probability, nor in an interval of width 0. */
static void no_false_certainty(void **state)
{
	(void)state;
	static const double one[] = {0.82}, same[] = {0.82, 0.82, 0.82}, other[] = {0.9, 0.9, 0.9};
	static const double nan[] = {0.82, NAN, 0.81}, huge[] = {-DBL_MAX, DBL_MAX};
	const struct {
		const double *a, *b;
		size_t n_a, n_b;
		const char *words;
	} cases[] = {
		{one, l40s, 1, 5, "A: One seed cannot show any spread"},
		{l40s, NULL, 5, 0, "B: There is no value"},
		{nan, l40s, 3, 5, "1 of 3 values are NaN or infinite"},
		{same, other, 3, 3, "without any spread over the seeds"},
		{same, same, 3, 3, "without any spread over the seeds"},
		{l40s, huge, 5, 2, "too large or too close"},
	};
	for (size_t i = 0; i < N(cases); i++) {
		struct ls_stats_pair p =
			pair(cases[i].a, cases[i].n_a, cases[i].b, cases[i].n_b, 0.005);
		assert_int_equal(p.verdict, LS_STATS_UNTESTED);
		assert_true(isnan(p.p) && isnan(p.p_margin) && isnan(p.low) && isnan(p.boot_low));
		assert_true(says(&p, cases[i].words));
	}
}

/* A group without spread has the other's, and a mean of 0 has no relative margin. */
static void borrowed(void **state)
{
	(void)state;
	static const double same[] = {0.82, 0.82, 0.82}, zero[] = {-1, 0, 1};
	struct ls_stats_pair p = pair(same, 3, l40s, 5, 0.005);
	assert_true(p.borrowed && p.df == 4 && p.verdict == LS_STATS_EQUIVALENT);
	assert_true(isnan(p.boot_low));
	assert_true(says(&p, "All values of A are equal, so the spread of B was taken"));
	p = pair(zero, 3, l40s, 5, 0.005);
	assert_true(isnan(p.margin) && isnan(p.relative) && p.verdict == LS_STATS_UNDECIDED);
	assert_true(says(&p, "a relative margin has no meaning"));
}

static void refused(void **state)
{
	(void)state;
	struct ls_stats_pair p;
	struct ls_stats_group g;
	struct ls_err err;
	static const double margins[] = {0, -1, NAN, INFINITY};
	for (size_t i = 0; i < N(margins); i++) {
		struct ls_stats_ask ask = {.margin = margins[i]};
		assert_int_equal(ls_stats_compare(l40s, 5, h200, 4, &ask, &p, &err), LS_EINPUT);
	}
	assert_int_equal(ls_stats_describe(l40s, LS_STATS_MAX + 1, &g, &err), LS_EINPUT);
}

/* Equal bytes need no test, whatever the numbers are. */
static void digests(void **state)
{
	(void)state;
	struct ls_stats_pair p;
	struct ls_err err;
	struct ls_stats_ask ask = ls_stats_ask_default;
	ask.same_digests = true;
	assert_int_equal(ls_stats_compare(l40s, 1, l40s, 1, &ask, &p, &err), 0);
	assert_true(isnan(p.p) && p.verdict == LS_STATS_SAME && says(&p, "the same bytes"));
}

static void json(void **state)
{
	(void)state;
	static const double nan[] = {0.82, NAN, 0.81};
	struct ls_stats_pair p = pair(nan, 3, l40s, 5, 0.005);
	json_t *o = ls_stats_pair_json(&p, "A", "B"), *g = ls_stats_group_json(&p.a);
	assert_string_equal(json_string_value(json_object_get(o, "verdict")), "untested");
	assert_true(json_is_null(json_object_get(json_object_get(o, "welch"), "p")));
	assert_true(json_is_null(json_object_get(g, "mean")));
	json_decref(o);
	json_decref(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(student),  cmocka_unit_test(groups),
		cmocka_unit_test(verdicts), cmocka_unit_test(symmetric),
		cmocka_unit_test(borrowed), cmocka_unit_test(no_false_certainty),
		cmocka_unit_test(refused),  cmocka_unit_test(digests),
		cmocka_unit_test(json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
