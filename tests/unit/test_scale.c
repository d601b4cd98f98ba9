/* Units of a training (fm/train/scale.h): by what rule, and that they change no digit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* after the others */
#include <cmocka.h>

#include "base/pool.h"
#include "fm/cpu/cpu.h"
#include "fm/train/begin.h"
#include "fm/train/constant.h"
#include "fm/train/scale.h"
#include "num/num.h"

enum { ROWS = 40, EACH = 3, FEATURES = 6 };

static struct ls_pool *pool;

/* Of feature j values of about size[j]; labels of about 300, and 40 apart. */
static const float size[FEATURES] = {1.0f, 100.0f, 1e-4f, 1.9f, 2.1f, 0.0f};

struct data {
	uint64_t start[ROWS + 1];
	uint32_t feature[ROWS * EACH];
	float value[ROWS * EACH], label[ROWS];
	struct ls_rows rows;
};

static void make(struct data *d)
{
	for (uint32_t r = 0; r <= ROWS; r++)
		d->start[r] = (uint64_t)r * EACH;
	for (uint32_t e = 0; e < ROWS * EACH; e++) {
		uint32_t j = (e + e / EACH) % FEATURES;
		d->feature[e] = j;
		d->value[e] = e % 2 ? size[j] : -size[j];
	}
	for (uint32_t r = 0; r < ROWS; r++)
		d->label[r] = 300.0f + 40.0f * (float)(r % 2 ? 1 : -1);
	d->rows = (struct ls_rows){.n_rows = ROWS,
				   .n_entries = ROWS * EACH,
				   .n_features = FEATURES,
				   .start = d->start,
				   .feature = d->feature,
				   .value = d->value,
				   .label = d->label};
}

static struct ls_fm_model *begin(struct ls_fm_opts *o, const struct ls_rows *rows)
{
	struct ls_fm_model *m;
	struct ls_err err;
	uint64_t saved = ls_fp_enter();
	o->factors = 4;
	assert_int_equal(ls_fm_begin(o, rows, FEATURES, 0, pool, &m, &err), 0);
	ls_fp_leave(saved);
	return m;
}

static void test_rule(void **state)
{
	(void)state;
	static const float exps[FEATURES] = {0, 7, -13, 0, 1, 0};
	struct data d;
	make(&d);
	struct ls_fm_opts o = ls_fm_defaults(LS_FM, LS_REGRESSION, LS_ADAGRAD);
	struct ls_fm_model *m = begin(&o, &d.rows);
	for (int j = 0; j < FEATURES; j++)
		assert_true(m->exps[j] == exps[j]);
	/* the variance is 1600: between 4^5 and 4^7 */
	assert_int_equal(m->label_exp, 3);
	assert_true(m->bias[0] == 300.0f / 64.0f);
	ls_fm_model_free(m);
	o.scale = false;
	m = begin(&o, &d.rows);
	assert_true(!ls_fm_is_scaled(m) && m->bias[0] == 300.0f);
	ls_fm_model_free(m);
	o.scale = o.normalize = true;
	m = begin(&o, &d.rows);
	assert_true(!m->exps && m->label_exp == 3);
	ls_fm_model_free(m);
	o.normalize = false;
	d.rows.value = NULL;
	m = begin(&o, &d.rows);
	assert_null(m->exps);
	ls_fm_model_free(m);
}

/* Of the training's rows and parameters, and of the data's: the same digits. */
static void test_scores(void **state)
{
	(void)state;
	struct data d;
	struct ls_fm_scaled rows;
	struct ls_fm_model *out, *back;
	struct ls_err err;
	float in[ROWS], score[ROWS];
	make(&d);
	struct ls_fm_opts o = ls_fm_defaults(LS_FM, LS_REGRESSION, LS_ADAGRAD);
	struct ls_fm_model *m = begin(&o, &d.rows);
	for (uint64_t j = 0; j < FEATURES; j++)
		m->linear[j * ls_fm_stride(m)] = 0.3f * (float)(j + 1);
	assert_int_equal(ls_fm_scale_rows(m, &d.rows, true, &rows, &err), 0);
	assert_true(rows.rows.label[0] == 260.0f / 64.0f);
	assert_int_equal(ls_cpu_predict(m, &rows.rows, pool, in, &err), 0);
	assert_int_equal(ls_fm_model_new_bare(&m->opts, FEATURES, 0, &out, &err), 0);
	ls_fm_scale_out(m, out);
	assert_int_equal(ls_cpu_predict(out, &d.rows, pool, score, &err), 0);
	for (int r = 0; r < ROWS; r++)
		assert_true(score[r] == 64.0f * in[r]);
	/* and back, where a model in the units of the data is started from */
	bool with = false;
	uint64_t saved = ls_fp_enter();
	assert_int_equal(ls_fm_begin_from(&o, &d.rows, FEATURES, 0, out, &with, pool, &back, &err),
			 0);
	ls_fp_leave(saved);
	assert_true(!with && memcmp(back->linear, m->linear, sizeof(float) * 4) == 0);
	assert_true(memcmp(back->record, m->record, sizeof(float) * 4) == 0);
	assert_true(back->bias[0] == m->bias[0]);
	ls_fm_scaled_done(&rows);
	ls_fm_model_free(back);
	ls_fm_model_free(out);
	ls_fm_model_free(m);
}

/* The start by its definition, in binary64. */
static void test_start(void **state)
{
	(void)state;
	struct data d;
	float weight[ROWS], constant[4];
	double all = 0, ones = 0, by_class[3] = {0};
	make(&d);
	for (int r = 0; r < ROWS; r++) {
		weight[r] = 0.5f + (float)(r % 3);
		d.label[r] = (float)(r % 3 == 1);
		all += (double)weight[r];
		ones += (double)(d.label[r] * weight[r]);
		by_class[r % 3] += (double)weight[r];
	}
	d.rows.weight = weight;
	struct ls_fm_opts o = ls_fm_defaults(LS_FM, LS_BINARY, LS_ADAGRAD);
	double half = all / (2.0 * ROWS);
	struct ls_fm_model *m = begin(&o, &d.rows);
	assert_true(fabs((double)m->bias[0] - log((ones + half) / (all - ones + half))) < 1e-6);
	ls_fm_model_free(m);
	for (int r = 0; r < ROWS; r++)
		d.label[r] = (float)(r % 3);
	o = ls_fm_defaults(LS_FM, LS_MULTICLASS, LS_ADAGRAD);
	o.classes = 4;
	m = begin(&o, &d.rows);
	ls_fm_constant(&o, &d.rows, constant);
	for (int c = 0; c < 4; c++) {
		double v = (c < 3 ? by_class[c] : 0) + half;
		assert_true(fabs((double)m->bias[c] - log(v / (all + 4 * half))) < 1e-6);
		assert_true(m->bias[c] == constant[c]);
	}
	ls_fm_model_free(m);
	memset(weight, 0, sizeof weight);
	o = ls_fm_defaults(LS_FM, LS_REGRESSION, LS_ADAGRAD);
	m = begin(&o, &d.rows);
	assert_true(m->bias[0] == 0.0f);
	ls_fm_model_free(m);
}

int main(void)
{
	struct ls_err err;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule),
		cmocka_unit_test(test_scores),
		cmocka_unit_test(test_start),
	};
	if (ls_pool_new(2, &pool, &err))
		return 1;
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	ls_pool_free(pool);
	return rc;
}
