/* Metrics on answers that are known.
 * labels: isa */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fm/eval/metric.h"
#include "num/philox.h"

static void metrics_on_known_answers(void **state)
{
	(void)state;
	float label[6] = {1, 0, 1, 0, 1, 0}, score[6] = {2, -1, 0.5f, 0.5f, -3, -4};
	struct ls_rows rows = {.n_rows = 6, .label = label};
	struct ls_fm_model m = {.opts = {.task = LS_BINARY}, .outputs = 1};
	struct ls_metrics got;
	struct ls_err err = {0};
	assert_int_equal(ls_metrics_compute(&m, &rows, score, &got, &err), 0);
	/* pairs won by the positives: 2 beats 3; 0.5 beats 2 and ties 1; -3 beats 1 → 6.5
	 * of 9 */
	assert_true(got.value[LS_AUC] == 6.5 / 9);
	assert_true(got.value[LS_ACCURACY] == 4.0 / 6);
	assert_true(
		fabs(got.value[LS_LOGLOSS] - (log1p(exp(-2)) + log1p(exp(-1)) + log1p(exp(-0.5)) +
					      log1p(exp(0.5)) + log1p(exp(3)) + log1p(exp(-4))) /
						     6) < 1e-6);
	assert_false(got.has[LS_RMSE]);
	float one[6] = {1, 1, 1, 1, 1, 1};
	rows.label = one;
	assert_int_equal(ls_metrics_compute(&m, &rows, score, &got, &err), 0);
	assert_false(got.has[LS_AUC]); /* one class only: unknown, not zero */
}

static struct ls_metrics metrics_of(const struct ls_fm_model *m, const struct ls_rows *rows,
				    const float *score)
{
	struct ls_metrics got;
	struct ls_err err = {0};
	if (ls_metrics_compute(m, rows, score, &got, &err))
		fail_msg("%s", err.msg);
	return got;
}

/* A score of 0 says the class 0, whatever its sign; labels may be -1. */
static void scores_of_zero(void **state)
{
	(void)state;
	float label[3] = {1, -1, -1}, score[3] = {-0.0f, 0.0f, -1};
	struct ls_rows rows = {.n_rows = 3, .label = label};
	struct ls_fm_model m = {.opts = {.task = LS_BINARY}, .outputs = 1};
	struct ls_metrics got = metrics_of(&m, &rows, score);
	assert_true(got.value[LS_AUC] == 1.5 / 2);
	assert_true(got.value[LS_ACCURACY] == 2.0 / 3);
	assert_true(got.value[LS_MACRO_F1] == (4.0 / 5 + 0.0) / 2);
}

static void regression_is_measured(void **state)
{
	(void)state;
	float label[3] = {0, 2, 5}, score[3] = {1, 2, 3}, weight[3] = {1, 1, 2};
	struct ls_rows rows = {.n_rows = 3, .label = label};
	struct ls_fm_model m = {.opts = {.task = LS_REGRESSION}, .outputs = 1};
	assert_true(metrics_of(&m, &rows, score).value[LS_RMSE] == sqrt(5.0 / 3));
	rows.weight = weight;
	struct ls_metrics got = metrics_of(&m, &rows, score);
	assert_true(got.value[LS_RMSE] == 1.5);
	assert_false(got.has[LS_LOGLOSS] || got.has[LS_ACCURACY] || got.has[LS_AUC] ||
		     got.has[LS_MACRO_F1]);
}

/* Of equal scores the first class is said; class 3 neither occurs nor is said. */
static void classes_are_measured(void **state)
{
	(void)state;
	float label[4] = {0, 1, 1, 0}, weight[4] = {1, 2, 0.5f, 0};
	float score[16] = {2, 1, 0, -9, 1, 1, 0, -9, 0, 3, 0, -9, 0, 0, 4, -9};
	struct ls_rows rows = {.n_rows = 4, .label = label};
	struct ls_fm_model m = {.opts = {.task = LS_MULTICLASS, .classes = 4}, .outputs = 4};
	double loss[4], e9 = exp(-9);
	loss[0] = log(exp(2) + exp(1) + 1 + e9) - 2;
	loss[1] = log(2 * exp(1) + 1 + e9) - 1;
	loss[2] = log(2 + exp(3) + e9) - 3;
	loss[3] = log(2 + exp(4) + e9);
	struct ls_metrics got = metrics_of(&m, &rows, score);
	assert_true(got.value[LS_ACCURACY] == 0.5);
	assert_true(got.value[LS_MACRO_F1] ==
		    (2.0 / 4 + 2.0 / 3 + 0) /
			    3); /* the third is said, the fourth neither is nor is said */
	assert_true(fabs(got.value[LS_LOGLOSS] - (loss[0] + loss[1] + loss[2] + loss[3]) / 4) <
		    1e-6);
	assert_false(got.has[LS_AUC] || got.has[LS_RMSE]);
	rows.weight = weight;
	got = metrics_of(&m, &rows, score);
	assert_true(got.value[LS_ACCURACY] == 1.5 / 3.5);
	assert_true(fabs(got.value[LS_LOGLOSS] - (loss[0] + 2 * loss[1] + 0.5 * loss[2]) / 3.5) <
		    1e-6);
	ls_fm_link(&m, score, 4);
	for (int i = 0; i < 4; i++) /* a loss is that of the probability which the link gives */
		assert_true(fabs((double)score[4 * i + (int)label[i]] - exp(-loss[i])) < 1e-6);
	struct ls_err err = {0};
	struct ls_metrics none;
	score[14] = INFINITY;
	assert_int_equal(ls_metrics_compute(&m, &rows, score, &none, &err), LS_EDIFFER);
	assert_string_equal(
		err.msg,
		"row 4: the score is not finite: smaller feature values would help, or a model "
		"trained with --normalize");
}

/* Squares, weights and differences that binary32 has no numbers for. */
static void metrics_have_no_range(void **state)
{
	(void)state;
	static const struct {
		float label[2], score[2], weight[2];
		double want, plain; /* with weights; without */
	} cases[] = {
		{{3e19f, 3e19f}, {0, 0}, {1, 1}, 3e19, 3e19},
		{{3e-24f, -3e-24f}, {0, 0}, {1, 1}, 3e-24, 3e-24},
		{{3e38f, -3e38f}, {-3e38f, 3e38f}, {1, 1}, 6e38, 6e38},
		{{2, 2}, {0, 0}, {3e38f, 3e38f}, 2, 2},
		{{2, 2}, {0, 0}, {1e-44f, 1e-44f}, 2, 2},
		{{3e30f, 1e-10f}, {0, 0}, {3e38f, 3e38f}, 2.1213203435596e30, 2.1213203435596e30},
		{{0, 0}, {0, 0}, {1, 2}, 0, 0},
		{{1e20f, 0}, {0, 0}, {1e-20f, 3e-20f}, 5e19, 7.0710678118655e19},
	};
	struct ls_fm_model m = {.opts = {.task = LS_REGRESSION}, .outputs = 1};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ls_rows rows = {
			.n_rows = 2, .label = cases[i].label, .weight = cases[i].weight};
		struct ls_metrics got;
		struct ls_err err = {0};
		assert_int_equal(ls_metrics_compute(&m, &rows, cases[i].score, &got, &err), 0);
		assert_true(fabs(got.value[LS_RMSE] - cases[i].want) <= 1e-6 * cases[i].want);
		rows.weight = NULL;
		assert_int_equal(ls_metrics_compute(&m, &rows, cases[i].score, &got, &err), 0);
		assert_true(fabs(got.value[LS_RMSE] - cases[i].plain) <= 1e-6 * cases[i].plain);
	}
	const float label[2] = {1, 0}, score[4] = {3e38f, -3e38f, -1, 1},
		    weight[2] = {3e38f, 3e38f};
	struct ls_rows rows = {.n_rows = 2, .label = label, .weight = weight};
	struct ls_metrics got;
	struct ls_err err = {0};
	m.opts.task = LS_BINARY;
	assert_int_equal(ls_metrics_compute(&m, &rows, score, &got, &err), 0);
	assert_true(got.value[LS_LOGLOSS] == 0 && got.value[LS_ACCURACY] == 1);
	m.opts = (struct ls_fm_opts){.task = LS_MULTICLASS, .classes = 2};
	m.outputs = 2;
	assert_int_equal(ls_metrics_compute(&m, &rows, score, &got, &err), 0);
	assert_true(isfinite(got.value[LS_LOGLOSS]) && got.value[LS_LOGLOSS] > 1e38);
}

/* A row of weight 3 counts as three rows do, one of weight 0 as none; in whatever unit
 * weights are.
 */
static void weights_repeat_rows(void **state)
{
	(void)state;
	enum { N = 7, MOST = 32 };
	const float label[N] = {1, 0, 1, 0, 1, 0, 1}, score[N] = {2, 2, 0.5f, -0.5f, -3, 3, -4};
	const float weight[N] = {1, 2, 3, 1, 2, 1, 0};
	float labels[MOST], scores[MOST], scaled[N];
	struct ls_fm_model m = {.opts = {.task = LS_BINARY}, .outputs = 1};
	struct ls_rows rows = {.n_rows = N, .label = label, .weight = scaled},
		       repeated = {.label = labels};
	for (int i = 0; i < N; i++)
		for (int k = 0; k < (int)weight[i]; k++) {
			labels[repeated.n_rows] = label[i];
			scores[repeated.n_rows++] = score[i];
		}
	struct ls_metrics want = metrics_of(&m, &repeated, scores);
	/* positives 1 at 2, 3 at .5, 2 at -3; negatives 2 at 2, 1 at -.5, 1 at 3 */
	assert_true(want.value[LS_AUC] == (1 * (1 + 2 / 2.0) + 3 * 1 + 2 * 0) / (6 * 4));
	assert_true(want.value[LS_MACRO_F1] == (2 * 4.0 / (6 + 7) + 2 * 1.0 / (4 + 3)) / 2);
	const float units[] = {1,         0.125f,    3,
			       0x1p-140f, 0x1p-100f, 0x1p125f}; /* so that nothing is rounded */
	for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
		for (int i = 0; i < N; i++)
			scaled[i] = weight[i] * units[u];
		struct ls_metrics got = metrics_of(&m, &rows, score);
		const enum ls_metric those[] = {LS_AUC, LS_MACRO_F1, LS_ACCURACY};
		for (int k = 0; k < 3; k++)
			assert_true(got.value[those[k]] == want.value[those[k]]);
	}
}

/* Of more rows than are sorted one by one, against all pairs: scores that differ in any
 * of their bits, and many alike.
 */
static void auc_is_of_all_pairs(void **state)
{
	(void)state;
	enum { N = 3000 };
	static float label[N], score[N], weight[N];
	struct ls_fm_model m = {.opts = {.task = LS_BINARY}, .outputs = 1};
	struct ls_rows rows = {.n_rows = N, .label = label, .weight = weight};
	for (uint32_t pattern = 0; pattern < 6; pattern++) {
		static const uint32_t bits[] = {0xffffffffu, 0x80000003u, 0xffu,
						0x8000ff00u, 0xff0000u,   0u};
		for (uint32_t i = 0; i < N; i++) {
			struct ls_u32x4 r = ls_philox(7, i, pattern);
			uint32_t u = (r.v[0] & bits[pattern]) | 0x10000000u;
			score[i] =
				ls_f_bits((u & 0x7f800000u) == 0x7f800000u ? u & 0x807fffffu : u);
			label[i] = (float)(r.v[1] % 3 == 0);
			weight[i] = (float)(r.v[2] % 5);
		}
		double pairs = 0, halves = 0;
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N && label[i] > 0; j++) {
				double both =
					label[j] > 0 ? 0 : (double)weight[i] * (double)weight[j];
				pairs += both;
				halves += both * (score[i] > score[j]    ? 2
						  : score[i] == score[j] ? 1
									 : 0);
			}
		assert_true(metrics_of(&m, &rows, score).value[LS_AUC] == halves / (2 * pairs));
	}
}

/* Classes whose rows all have a weight of 0 are not there. */
static void rows_that_do_not_count(void **state)
{
	(void)state;
	const float label[4] = {1, 0, 1, 0}, score[4] = {1, 2, -1, 3}, weight[4] = {1, 0, 1, 0};
	struct ls_fm_model m = {.opts = {.task = LS_BINARY}, .outputs = 1};
	struct ls_rows rows = {.n_rows = 4, .label = label, .weight = weight};
	struct ls_metrics got = metrics_of(&m, &rows, score);
	assert_false(got.has[LS_AUC]);
	assert_true(got.value[LS_MACRO_F1] ==
		    (2.0 / 3 + 0) / 2); /* 0 is said of the third row, which counts */
	struct ls_err err = {0};
	assert_int_equal(ls_metric_check(LS_AUC, &rows, &err), LS_EINPUT);
	assert_non_null(
		strstr(err.msg, "all rows with a weight are of one class: there is no auc"));
	assert_int_equal(ls_metric_check(LS_MACRO_F1, &rows, &err), 0);
	rows.weight = NULL;
	assert_int_equal(ls_metric_check(LS_AUC, &rows, &err), 0);
}

/* However unlike weights are: a perfect ranking is 1, not next to it, and a class of
 * small ones is one all the same. */
static void weights_may_be_unlike(void **state)
{
	(void)state;
	enum { N = 4000 };
	static float label[N], score[N], weight[N];
	struct ls_fm_model m = {.opts = {.task = LS_BINARY}, .outputs = 1};
	struct ls_rows rows = {.n_rows = N, .label = label, .weight = weight};
	uint32_t x = 1;
	for (int seed = 0; seed < 40; seed++) {
		for (int i = 0; i < N; i++) {
			x = x * 1664525 + 1013904223;
			label[i] = (float)(x >> 31);
			score[i] = label[i] > 0.0f ? 1.0f : -1.0f;
			weight[i] = (0.5f + (float)(x >> 8 & 0xfffff) * 0x1p-21f) *
				    (x & 0x10000000 ? 1.0f : 0x1p-28f);
		}
		assert_true(metrics_of(&m, &rows, score).value[LS_AUC] == 1.0);
	}
	const float two[4] = {1, 1, 0, 0}, tiny[4] = {0x1p-66f, 3 * 0x1p-66f, 1, 3},
		    mixed[4] = {2, 0, 1, -1};
	rows = (struct ls_rows){.n_rows = 4, .label = two, .weight = tiny};
	assert_true(metrics_of(&m, &rows, mixed).value[LS_AUC] == (1 * 4 + 3 * 3) / 16.0);
	struct ls_err err = {0};
	assert_int_equal(ls_metric_check(LS_AUC, &rows, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_on_known_answers),
		cmocka_unit_test(scores_of_zero),
		cmocka_unit_test(regression_is_measured),
		cmocka_unit_test(classes_are_measured),
		cmocka_unit_test(metrics_have_no_range),
		cmocka_unit_test(weights_repeat_rows),
		cmocka_unit_test(auc_is_of_all_pairs),
		cmocka_unit_test(rows_that_do_not_count),
		cmocka_unit_test(weights_may_be_unlike),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
