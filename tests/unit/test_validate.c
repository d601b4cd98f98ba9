/* Made-up rows, trials in memory, and the judgement of a validation: what is wrong is
 * found, what is absent is no pass. labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/pool.h"
#include "fm/data/synthetic.h"
#include "fm/model/batch.h"
#include "fm/model/engine.h"
#include "fm/proof/validate.h"
#include "fm/train/trial.h"

/* --- ways that are wrong on purpose --- */

enum fault { NONE, OTHER_START, SEEDLESS, NO_DEVICE, NO_MEMORY, NOT_FINITE, WRONG_SCORES };

struct way {
	enum fault fault;
	int made; /* how often an engine was asked for */
};

static int idle(void *state, uint64_t first, uint64_t n, double *ret_loss, struct ls_err *err)
{
	(void)state;
	(void)first;
	(void)n;
	(void)err;
	*ret_loss = 0;
	return 0;
}

static int zero_scores(void *state, const struct ls_rows *rows, float *ret_score,
		       struct ls_err *err)
{
	(void)state;
	(void)err;
	memset(ret_score, 0, rows->n_rows * sizeof *ret_score);
	return 0;
}

static int make(void *context, struct ls_fm_model *m, const struct ls_rows *rows,
		struct ls_pool *pool, struct ls_engine *ret, struct ls_err *err)
{
	struct way *w = context;
	w->made++;
	if (w->fault == NO_DEVICE)
		return ls_err_set(err, LS_EUNKNOWN, "no such device");
	if (w->fault == NO_MEMORY)
		return ls_err_set(err, LS_ENOMEM, "too small");
	if (w->fault == NOT_FINITE)
		return ls_err_set(err, LS_EDIFFER, "step 1: not finite");
	if (w->fault == OTHER_START)
		m->bias[0] += 1.0f;
	if (w->fault == SEEDLESS)
		memset(m->linear, 0, m->bytes);
	int rc = ls_engine_cpu(m, rows, pool, NULL, ret, err);
	if (rc == 0 && w->fault == SEEDLESS)
		ret->steps = idle;
	if (rc == 0 && w->fault == WRONG_SCORES)
		ret->predict = zero_scores;
	return rc;
}

/* --- a small plan --- */

struct fixture {
	struct ls_pool *two, *one;
	struct ls_synthetic *made;
	struct ls_val_cell cell;
	char golden[LS_SHA256_HEX];
	char scratch[32];
	struct way way[2];
	struct ls_val_way ways[2];
	struct ls_val_plan plan;
};

static void setup(struct fixture *f, enum fault fault)
{
	struct ls_synthetic_spec spec = {.n_rows = 200,
					 .n_features = 120,
					 .n_fields = 3,
					 .values = true,
					 .classes = 2,
					 .seed = 5};
	memset(f, 0, sizeof *f);
	assert_int_equal(ls_pool_new(2, &f->two, NULL), 0);
	assert_int_equal(ls_pool_new(1, &f->one, NULL), 0);
	assert_int_equal(ls_synthetic_new(&spec, f->two, &f->made, NULL), 0);
	f->way[1].fault = fault;
	for (int i = 0; i < 2; i++)
		f->ways[i] = (struct ls_val_way){.name = i ? "other" : "reference",
						 .main = true,
						 .pool = i ? f->one : f->two,
						 .make_engine = make,
						 .context = &f->way[i]};
	f->cell = (struct ls_val_cell){.name = "cell",
				       .opts = ls_fm_defaults(LS_FWFM, LS_BINARY, LS_ADAGRAD),
				       .epochs = 2,
				       .rows = &f->made->rows,
				       .golden = f->golden};
	struct ls_trial t = {.opts = &f->cell.opts,
			     .rows = f->cell.rows,
			     .steps = 2 * ls_fm_steps_per_epoch(&f->cell.opts, 200),
			     .pool = f->one,
			     .make_engine = make,
			     .context = &f->way[0]};
	struct ls_trial_result r;
	assert_int_equal(ls_trial_run(&t, &r, NULL), 0);
	assert_int_equal(r.rows, 400);
	memcpy(f->golden, r.digest, sizeof f->golden);
	snprintf(f->scratch, sizeof f->scratch, "/tmp/test_validate-XXXXXX");
	assert_non_null(mkdtemp(f->scratch));
	f->plan = (struct ls_val_plan){.ways = f->ways,
				       .n_ways = 2,
				       .golden = &f->cell,
				       .n_golden = 1,
				       .small = &f->made->rows,
				       .size = {.batches = {300, 3, 40}},
				       .scratch = f->scratch};
}

static void teardown(struct fixture *f)
{
	assert_int_equal(rmdir(f->scratch), 0); /* left empty */
	ls_synthetic_free(f->made);
	ls_pool_free(f->one);
	ls_pool_free(f->two);
}

static size_t count(const struct ls_val *v, enum ls_val_part part, enum ls_val_state state)
{
	size_t n = 0;
	for (size_t i = 0; i < v->n_checks; i++)
		n += v->checks[i].part == part && v->checks[i].state == state;
	return n;
}

static struct ls_val *run(enum fault fault, int *ret_made)
{
	struct fixture f;
	struct ls_val *v = NULL;
	struct ls_err err = {0};
	setup(&f, fault);
	int rc = ls_val_run(&f.plan, &v, &err);
	if (rc)
		fail_msg("%s", err.msg);
	if (ret_made)
		*ret_made = f.way[1].made;
	teardown(&f);
	return v;
}

static void test_green(void **state)
{
	(void)state;
	struct ls_val *v = run(NONE, NULL);
	assert_int_equal(ls_val_verdict(v), LS_VAL_PASSED);
	assert_int_equal(count(v, LS_VAL_GOLDEN, LS_VAL_PASSED), 2);
	assert_int_equal(count(v, LS_VAL_SCORES, LS_VAL_PASSED), 1 + 9 + 6);
	assert_int_equal(count(v, LS_VAL_BATCHES, LS_VAL_PASSED), 9);
	assert_int_equal(count(v, LS_VAL_TWINS, LS_VAL_PASSED), 6);
	assert_int_equal(count(v, LS_VAL_CONTROL, LS_VAL_PASSED), 6);
	assert_int_equal(count(v, LS_VAL_HANDOVER, LS_VAL_PASSED), 6);
	ls_val_free(v);
}

static void test_differs(void **state)
{
	(void)state;
	struct ls_val *v = run(OTHER_START, NULL);
	assert_int_equal(ls_val_verdict(v), LS_VAL_DIFFERS);
	assert_int_equal(count(v, LS_VAL_GOLDEN, LS_VAL_DIFFERS), 1);
	assert_int_equal(count(v, LS_VAL_GOLDEN, LS_VAL_PASSED), 1);
	assert_int_equal(count(v, LS_VAL_BATCHES, LS_VAL_DIFFERS), 9);
	assert_int_equal(count(v, LS_VAL_TWINS, LS_VAL_DIFFERS),
			 0); /* wrong, but the same each time */
	assert_int_equal(count(v, LS_VAL_HANDOVER, LS_VAL_DIFFERS), 6);
	for (size_t i = 0; i < v->n_checks; i++)
		assert_int_equal(v->checks[i].reason != NULL, v->checks[i].state != LS_VAL_PASSED);
	ls_val_free(v);
}

static void test_control(void **state)
{
	(void)state;
	struct ls_val *v = run(SEEDLESS, NULL);
	assert_int_equal(count(v, LS_VAL_TWINS, LS_VAL_DIFFERS), 0);
	assert_int_equal(count(v, LS_VAL_CONTROL, LS_VAL_DIFFERS), 3);
	ls_val_free(v);
}

static void test_scores(void **state)
{
	(void)state;
	struct ls_val *v = run(WRONG_SCORES, NULL);
	assert_int_equal(count(v, LS_VAL_GOLDEN, LS_VAL_DIFFERS), 0);
	assert_int_equal(count(v, LS_VAL_SCORES, LS_VAL_DIFFERS), 1 + 9 + 3);
	assert_int_equal(ls_val_verdict(v), LS_VAL_DIFFERS);
	ls_val_free(v);
}

static void test_absent(void **state)
{
	(void)state;
	int made;
	struct ls_val *v = run(NO_DEVICE, &made);
	assert_int_equal(made, 1); /* a device that is not there is asked once */
	assert_int_equal(ls_val_verdict(v), LS_VAL_NOT_RUN);
	for (int part = 0; part < LS_VAL_PARTS; part++)
		assert_true(count(v, (enum ls_val_part)part, LS_VAL_NOT_RUN) > 0);
	ls_val_free(v);
	v = run(NO_MEMORY, &made);
	assert_true(made > 1); /* the next one may fit */
	assert_int_equal(ls_val_verdict(v), LS_VAL_NOT_RUN);
	ls_val_free(v);
	v = run(NOT_FINITE, NULL);
	assert_int_equal(ls_val_verdict(v), LS_VAL_DIFFERS);
	ls_val_free(v);
}

static void test_stop(void **state)
{
	(void)state;
	struct fixture f;
	struct ls_val *v = NULL;
	struct ls_err err = {0};
	volatile sig_atomic_t stop = 1;
	setup(&f, NONE);
	f.plan.stop = &stop;
	assert_int_equal(ls_val_run(&f.plan, &v, &err), LS_EINTR);
	assert_null(v);
	teardown(&f);
}

/* Nothing at all is no pass either. */
static void test_nothing(void **state)
{
	(void)state;
	struct ls_val v = {0};
	assert_int_equal(ls_val_verdict(&v), LS_VAL_NOT_RUN);
}

static void test_made(void **state)
{
	(void)state;
	struct ls_synthetic_spec spec = {
		.n_rows = 1000, .n_features = 703, .n_fields = 7, .classes = 3, .seed = 1};
	struct ls_synthetic *made[2];
	for (int i = 0; i < 2; i++) {
		struct ls_pool *pool;
		assert_int_equal(ls_pool_new(i ? 3 : 1, &pool, NULL), 0);
		assert_int_equal(ls_synthetic_new(&spec, pool, &made[i], NULL), 0);
		ls_pool_free(pool);
	}
	const struct ls_rows *a = &made[0]->rows, *b = &made[1]->rows;
	uint32_t seen[3] = {0};
	assert_memory_equal(a->feature, b->feature, a->n_entries * sizeof *a->feature);
	assert_memory_equal(a->label, b->label, a->n_rows * sizeof *a->label);
	for (uint64_t i = 0; i < a->n_rows; i++) {
		assert_int_equal(a->start[i + 1] - a->start[i], 7);
		seen[(uint32_t)a->label[i]]++;
		for (uint64_t e = a->start[i]; e < a->start[i + 1]; e++) {
			assert_int_equal(a->field[e], e - a->start[i]);
			assert_int_equal(a->feature[e] / 100,
					 /* each field has its own features */
					 a->field[e]);
		}
	}
	assert_true(seen[0] > 250 && seen[1] > 250 && seen[2] > 250);
	assert_null(a->value);
	ls_synthetic_free(made[0]);
	ls_synthetic_free(made[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_green),   cmocka_unit_test(test_differs),
		cmocka_unit_test(test_control), cmocka_unit_test(test_scores),
		cmocka_unit_test(test_absent),  cmocka_unit_test(test_stop),
		cmocka_unit_test(test_nothing), cmocka_unit_test(test_made),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
