/* The floating-point mode that a caller's thread is in does not reach what is computed
 * beside training and scores, which test_fm has. labels: isa */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fm/data/data.h"
#include "fm/eval/metric.h"
#include "modes.h"
#include "num/num.h"

/* Data from text, a fresh model with FTRL's states, metrics,
 * probabilities. */
struct beside {
	struct ls_data *data;
	struct ls_fm_model *m;
	struct ls_metrics metrics;
	float probability[2];
};

static struct beside computed_in(uint64_t mode)
{
	static const char text[] = "1 0.3 1:0.7 2:0.1\n0 0.9 0:3.3333 3:-0.01\n";
	struct ls_fm_opts o = ls_fm_defaults(LS_FM, LS_BINARY, LS_FTRL);
	struct beside b = {.probability = {0.123f, -1.7f}};
	struct ls_pool *pool = NULL;
	struct ls_err err = {0};
	o.lr = 0.07f;
	o.init_scale = 0.3f;
	uint64_t plain = ls_fp_enter();
	ls_fp_leave(mode);
	int rc = ls_pool_new(1, &pool, &err);
	rc = rc ? rc : ls_data_load_memory("t", text, sizeof text - 1, NULL, &b.data, &err);
	rc = rc ? rc : ls_fm_model_new(&o, 10, 0, &b.m, &err);
	if (rc == 0)
		ls_fm_model_init(b.m, pool);
	rc = rc ? rc
		: ls_metrics_compute(b.m, ls_data_rows(b.data), b.probability, &b.metrics, &err);
	if (rc == 0)
		ls_fm_link(b.m, b.probability, 2);
	uint64_t left = ls_fp_enter();
	ls_fp_leave(plain);
	assert_int_equal(rc, 0);
	assert_true((left & mode) == mode);
	ls_pool_free(pool);
	return b;
}

static void forget(struct beside *b)
{
	ls_data_free(b->data);
	ls_fm_model_free(b->m);
}

static void modes_reach_nothing_else(void **state)
{
	(void)state;
	uint64_t plain = ls_fp_enter();
	ls_fp_leave(plain);
	struct beside want = computed_in(plain);
	for (size_t k = 0; k < sizeof fp_modes / sizeof *fp_modes; k++) {
		struct beside got = computed_in(fp_modes[k]);
		const struct ls_rows *a = ls_data_rows(want.data), *b = ls_data_rows(got.data);
		assert_memory_equal(b->value, a->value, sizeof(float) * a->n_entries);
		assert_memory_equal(b->weight, a->weight, sizeof(float) * a->n_rows);
		assert_memory_equal(got.m->linear, want.m->linear, want.m->bytes);
		assert_memory_equal(got.m->bias, want.m->bias,
				    sizeof(float) * ls_fm_linear_size(want.m));
		assert_memory_equal(got.probability, want.probability, sizeof want.probability);
		for (int i = 0; i < LS_METRICS; i++)
			assert_true(got.metrics.value[i] == want.metrics.value[i]);
		forget(&got);
	}
	forget(&want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(modes_reach_nothing_else)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
