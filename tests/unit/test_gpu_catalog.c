#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "env/facts/gpu_catalog.h"

static struct ls_gpu_catalog *catalog(void)
{
	struct ls_gpu_catalog *c = NULL;
	struct ls_err err = {0};
	if (ls_gpu_catalog_load(&c, &err))
		fail_msg("%s", err.msg);
	return c;
}

static const struct ls_gpu_model *model(const struct ls_gpu_catalog *c, const char *name)
{
	const struct ls_gpu_model *m = NULL;
	struct ls_err err = {0};
	if (ls_gpu_catalog_find(c, name, &m, &err))
		fail_msg("%s", err.msg);
	return m;
}

static void models_are_plausible(void **state)
{
	(void)state;
	struct ls_gpu_catalog *c = catalog();
	assert_true(ls_gpu_catalog_count(c) >= 20);
	for (size_t i = 0; i < ls_gpu_catalog_count(c); i++) {
		const struct ls_gpu_model *m = ls_gpu_catalog_model(c, i);
		double gib = ls_gpu_model_bytes(m) / 1073741824;
		const json_t *smi = json_object_get(m->row, "smi");
		assert_ptr_equal(model(c, m->name), m);
		assert_true(m->memory_gb >= 8 && gib > 0.93 * m->memory_gb && gib <= m->memory_gb);
		assert_true(m->precisions & LS_FP32 && m->precisions & LS_FP16);
		assert_true(strcmp(m->link, "NVLink") == 0 || strcmp(m->link, "PCIe") == 0 ||
			    strcmp(m->link, "by form") == 0);
		assert_true(json_array_size(smi) > 0);
	}
	ls_gpu_catalog_free(c);
}

/* Names as nvidia-smi prints them lead to one model each, but where they do not say
 * which. */
static void driver_names_are_found(void **state)
{
	(void)state;
	struct ls_gpu_catalog *c = catalog();
	for (size_t i = 0; i < ls_gpu_catalog_count(c); i++) {
		const struct ls_gpu_model *m = ls_gpu_catalog_model(c, i);
		const json_t *smi = json_object_get(m->row, "smi");
		for (size_t j = 0; j < json_array_size(smi); j++)
			assert_string_equal(
				model(c, json_string_value(json_array_get(smi, j)))->family,
				m->family);
	}
	ls_gpu_catalog_free(c);
}

static void names(void **state)
{
	(void)state;
	struct ls_gpu_catalog *c = catalog();
	const struct ls_gpu_model *m;
	struct ls_err err;
	assert_string_equal(model(c, "l40s")->name, "L40S");
	assert_string_equal(model(c, "NVIDIA A100-SXM4-80GB")->name, "A100-80GB");
	assert_string_equal(model(c, "NVIDIA A100 80GB PCIe")->name, "A100-80GB");
	assert_string_equal(model(c, "a100_40gb")->name, "A100-40GB");
	assert_string_equal(model(c, "3060ti")->name, "RTX 3060 Ti");
	assert_string_equal(model(c, "3060")->name, "RTX 3060");
	assert_string_equal(model(c, "NVIDIA H100 80GB HBM3")->name, "H100");
	static const char *const bad[] = {"",        "NVIDIA",  "A100",
					  "V100",    "H1000",   "H100 NVL",
					  "L40",     "T4 24GB", "RTX 4090 Laptop GPU",
					  "\xff\x01"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		m = NULL;
		if (ls_gpu_catalog_find(c, bad[i], &m, &err) != LS_EINPUT)
			fail_msg("\"%s\" was found", bad[i]);
		assert_null(m);
	}
	ls_gpu_catalog_find(c, "H20O", &m, &err);
	assert_non_null(strstr(err.msg, "\"H200\""));
	ls_gpu_catalog_find(c, "A100", &m, &err);
	assert_non_null(strstr(err.msg, "A100-40GB or A100-80GB"));
	ls_gpu_catalog_free(c);
}

static void precisions(void **state)
{
	(void)state;
	struct ls_gpu_catalog *c = catalog();
	assert_int_equal(model(c, "V100-32GB")->precisions, LS_FP32 | LS_FP16);
	assert_int_equal(model(c, "A100-40GB")->precisions, LS_FP32 | LS_FP16 | LS_TF32 | LS_BF16);
	/* compute capability 8.9 has FP8: the L40S, too */
	assert_true(model(c, "L40S")->precisions & LS_FP8);
	assert_false(model(c, "H200")->precisions & LS_FP4);
	assert_true(model(c, "B200")->precisions & LS_FP4);
	for (unsigned i = 0; i < LS_PRECISIONS; i++)
		assert_int_equal(ls_precision_of(ls_precision_name((enum ls_precision)(1u << i))),
				 1u << i);
	assert_int_equal(ls_precision_of("fp64"), 0);
	ls_gpu_catalog_free(c);
}

static void batches_by_memory(void **state)
{
	(void)state;
	struct ls_gpu_catalog *c = catalog();
	assert_null(ls_gpu_catalog_batch(c, 3.9));
	assert_int_equal(ls_gpu_catalog_batch(c, 4)->batch_max, 16);
	assert_int_equal(ls_gpu_catalog_batch(c, 11)->batch_max, 32);
	assert_int_equal(ls_gpu_catalog_batch(c, 12)->batch_min, 32);
	assert_int_equal(ls_gpu_catalog_batch(c, 31)->batch_max, 128);
	assert_int_equal(ls_gpu_catalog_batch(c, 48)->batch_max, 256); /* in proportion */
	assert_int_equal(ls_gpu_catalog_batch(c, 141)->batch_max, 752);
	ls_gpu_catalog_free(c);
}

static unsigned least(const struct ls_gpu_catalog *c, const char *name, unsigned mib)
{
	const struct ls_batch_range *r = ls_gpu_catalog_batch_of(c, name, mib);
	return r ? r->batch_min : 0;
}

/* What a GPU reports is less than its nameplate; the table goes by nameplates. */
static void batches_of_a_card(void **state)
{
	(void)state;
	struct ls_gpu_catalog *c = catalog();
	assert_int_equal(least(c, "NVIDIA L4", 23034), 64);
	assert_int_equal(least(c, "Tesla T4", 15360), 32);
	assert_int_equal(least(c, "NVIDIA A100-SXM4-40GB", 40339), 106);
	assert_int_equal(least(c, "NVIDIA A100-SXM4-80GB", 81920), 213);
	assert_int_equal(least(c, "NVIDIA GeForce GTX 1080 Ti", 11264), 16);
	assert_int_equal(least(c, "NVIDIA H200", 143771), 376);
	/* a slice of a known card, an unknown card, an unknown memory */
	assert_int_equal(least(c, "NVIDIA H200", 16384), 32);
	assert_int_equal(least(c, "a card to come", 23034), 32);
	assert_int_equal(least(c, NULL, 4096), 8);
	assert_int_equal(least(c, "NVIDIA L4", 0), 0);
	ls_gpu_catalog_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_are_plausible),
		cmocka_unit_test(driver_names_are_found),
		cmocka_unit_test(names),
		cmocka_unit_test(precisions),
		cmocka_unit_test(batches_by_memory),
		cmocka_unit_test(batches_of_a_card),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
