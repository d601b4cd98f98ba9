/* The metrics of eval against what scikit-learn 1.7.2 says of the same rows: the values that
 * tests/fm/more_metrics.py printed. labels: isa */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fm/eval/more_metrics.h"

enum { N = 200, CLASSES = 3 };

static struct {
	float score[N * CLASSES], first[N], label[3][N], weight[N], group[N];
} data;

static uint32_t state_of_draw;

static uint32_t draw(uint32_t n)
{
	state_of_draw = state_of_draw * 1664525u + 1013904223u;
	return (state_of_draw >> 8) % n;
}

static uint32_t largest(const float *score)
{
	uint32_t best = 0;
	for (uint32_t c = 1; c < CLASSES; c++)
		best = score[c] > score[best] ? c : best;
	return best;
}

static void make_data(void)
{
	state_of_draw = 7;
	for (size_t i = 0; i < N; i++) {
		float *s = data.score + CLASSES * i;
		for (size_t k = 0; k < CLASSES; k++)
			s[k] = (float)draw(40) * 0.25f - 5.0f;
		data.first[i] = s[0];
		data.label[0][i] = (float)draw(10) + s[0] > 6.0f ? 1.0f : 0.0f;
		data.label[1][i] = draw(3) ? (float)draw(3) : (float)largest(s);
		data.label[2][i] = (float)draw(5);
		data.weight[i] = (float)draw(5) * 0.5f;
		data.group[i] = (float)draw(9);
	}
}

static struct ls_more_metrics metrics_of(enum ls_fm_task task, size_t labels, const float *score,
					 const float *weight, const float *group)
{
	struct ls_rows rows = {.n_rows = N, .label = data.label[labels], .weight = weight};
	uint32_t outputs = task == LS_MULTICLASS ? CLASSES : 1;
	struct ls_fm_model m = {.opts = {.task = task, .classes = outputs}, .outputs = outputs};
	struct ls_more_metrics got;
	struct ls_err err = {0};
	if (ls_more_compute(&m, &rows, score, group, &got, &err))
		fail_msg("%s", err.msg);
	return got;
}

/* Probabilities are rounded to binary32. */
static void expect(const struct ls_more_metrics *got, enum ls_more_metric metric, double want)
{
	if (!got->has[metric] || fabs(got->value[metric] - want) > 2e-7)
		fail_msg("%s is %.17g, not %.17g", ls_more_name(metric), got->value[metric], want);
}

static void check(const float *weight, const double want[11])
{
	struct ls_more_metrics r = metrics_of(LS_REGRESSION, 2, data.first, weight, data.group);
	struct ls_more_metrics b = metrics_of(LS_BINARY, 0, data.first, weight, NULL);
	struct ls_more_metrics m = metrics_of(LS_MULTICLASS, 1, data.score, weight, NULL);
	expect(&r, LS_MORE_MAE, want[0]);
	expect(&r, LS_MORE_R2, want[1]);
	expect(&b, LS_MORE_PRECISION, want[2]);
	expect(&b, LS_MORE_RECALL, want[3]);
	expect(&b, LS_MORE_PR_AUC, want[4]);
	expect(&b, LS_MORE_BRIER, want[5]);
	expect(&b, LS_MORE_CALIBRATION, want[6]);
	expect(&r, LS_MORE_NDCG, want[7]);
	expect(&m, LS_MORE_PRECISION, want[8]);
	expect(&m, LS_MORE_RECALL, want[9]);
	expect(&m, LS_MORE_AUC, want[10]);
	assert_false(b.has[LS_MORE_AUC] || b.has[LS_MORE_NDCG] || r.has[LS_MORE_PRECISION]);
}

static void test_plain(void **state)
{
	(void)state;
	static const double want[] = {2.9987499999999998,  -6.2422794644835813, 0.63725490196078427,
				      0.82278481012658233, 0.74158787945511184, 0.18786114549915425,
				      0.13944424163329264, 0.81769349242484202, 0.61617861778066196,
				      0.61191808384553903, 0.71535846982893991};
	make_data();
	check(NULL, want);
}

static void test_weights(void **state)
{
	(void)state;
	static const double want[] = {2.9981662591687042,  -6.1893308760964976, 0.61111111111111116,
				      0.80981595092024539, 0.73846031498934428, 0.1974196246899865,
				      0.1499143430054164,  0.81531777598440958, 0.59193262612408837,
				      0.58520221982672582, 0.70278925110692969};
	make_data();
	check(data.weight, want);
}

/* What rows of one class leave out is said. */
static void test_one_class(void **state)
{
	(void)state;
	make_data();
	for (size_t i = 0; i < N; i++) {
		data.label[0][i] = 0;
		data.label[1][i] = 2;
		data.label[2][i] = 0;
		data.first[i] = -1;
	}
	struct ls_more_metrics b = metrics_of(LS_BINARY, 0, data.first, NULL, data.group);
	struct ls_more_metrics m = metrics_of(LS_MULTICLASS, 1, data.score, NULL, NULL);
	struct ls_more_metrics r = metrics_of(LS_REGRESSION, 2, data.first, NULL, NULL);
	assert_string_equal(b.why[LS_MORE_PR_AUC], "no row is of class 1");
	assert_string_equal(b.why[LS_MORE_RECALL], "no row is of class 1");
	assert_string_equal(b.why[LS_MORE_PRECISION], "no row is predicted to be of class 1");
	assert_string_equal(b.why[LS_MORE_NDCG], "no group has a label above 0");
	assert_string_equal(m.why[LS_MORE_AUC], "a class has no row, or all");
	assert_string_equal(r.why[LS_MORE_R2], "all labels are the same");
	assert_false(b.has[LS_MORE_PR_AUC] || m.has[LS_MORE_AUC] || r.has[LS_MORE_R2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_one_class),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
