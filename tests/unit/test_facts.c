#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "env/facts/facts.h"

static void three_states(void **state)
{
	(void)state;
	struct ls_facts *f = ls_facts_new();
	assert_null(ls_facts_find(f, "torch"));
	ls_facts_set(f, "torch", "2.3.1+cu121", "torch/version.py");
	ls_facts_absent(f, "torch_cuda", "torch/version.py", "a CPU build");
	ls_facts_unknown(f, "driver", "libnvidia-ml.so.1", "no such library");
	assert_string_equal(ls_facts_value(f, "torch"), "2.3.1+cu121");
	assert_null(ls_facts_value(f, "torch_cuda"));
	assert_null(ls_facts_value(f, "driver"));
	assert_int_equal(ls_facts_find(f, "torch_cuda")->state, LS_FACT_ABSENT);
	assert_int_equal(ls_facts_find(f, "driver")->state, LS_FACT_UNKNOWN);
	ls_facts_set(f, "driver", "535.161.08", "nvml"); /* replaced, not doubled */
	assert_int_equal(f->n, 3);
	assert_null(ls_facts_find(f, "driver")->reason);
	ls_facts_free(f);
	ls_facts_free(NULL);
}

static void package_names_are_normalised(void **state)
{
	(void)state;
	struct ls_facts *f = ls_facts_new();
	ls_facts_set(f, "package.Typing_Extensions", "4", "METADATA");
	assert_string_equal(ls_facts_value(f, "package.typing-extensions"), "4");
	assert_string_equal(ls_facts_value(f, "package.typing.extensions"), "4");
	assert_string_equal(f->items[0].key, "package.typing-extensions");
	ls_facts_free(f);
}

static void copies_survive_growth(void **state)
{
	(void)state;
	struct ls_facts *f = ls_facts_new();
	ls_facts_set(f, "a0", "v", "s");
	ls_facts_note(f, "a0", "n");
	char key[8] = "a0";
	for (char c = '1'; c < 'z'; c++) {
		char from[8];
		memcpy(from, key, sizeof key);
		key[1] = c;
		ls_facts_copy(f, key, from);
	}
	assert_string_equal(ls_facts_value(f, key), "v");
	assert_string_equal(ls_facts_find(f, key)->note, "n");
	ls_facts_copy(f, key, key);
	assert_string_equal(ls_facts_value(f, key), "v");
	ls_facts_free(f);
}

static void gpus_and_json(void **state)
{
	(void)state;
	struct ls_facts *f = ls_facts_new();
	ls_facts_unknown(f, "gpu_count", "nvml", "no driver");
	assert_int_equal(ls_facts_gpu_count(f), 0);
	ls_facts_set(f, "gpu_count", "2", "nvml");
	ls_facts_set(f, "gpu.1.name", "Tesla T4", "nvml");
	ls_facts_set(f, "odd", "\xff\xfe", "nvml");
	assert_int_equal(ls_facts_gpu_count(f), 2);
	assert_string_equal(ls_facts_gpu_value(f, 1, "name"), "Tesla T4");
	assert_null(ls_facts_gpu(f, 0, "name"));
	json_t *j = ls_facts_json(f);
	assert_int_equal(json_array_size(j), 3);
	assert_string_equal(json_string_value(json_object_get(json_array_get(j, 1), "value")),
			    "Tesla T4");
	assert_true(json_is_string(json_object_get(json_array_get(j, 2), "value")));
	json_decref(j);
	ls_facts_free(f);
}

static void many_facts(void **state)
{
	(void)state;
	struct ls_facts *f = ls_facts_new();
	char key[32], value[32];
	for (int i = 0; i < 5000; i++) {
		snprintf(key, sizeof key, "package.p%d", i);
		snprintf(value, sizeof value, "%d", i);
		ls_facts_set(f, key, "old", "s");
		ls_facts_set(f, key, value, "s");
	}
	assert_int_equal(f->n, 5000);
	assert_string_equal(ls_facts_value(f, "package.P4999"), "4999");
	assert_string_equal(ls_facts_value(f, "package.p0"), "0");
	assert_null(ls_facts_find(f, "package.p5000"));
	ls_facts_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_facts),
		cmocka_unit_test(three_states),
		cmocka_unit_test(package_names_are_normalised),
		cmocka_unit_test(copies_survive_growth),
		cmocka_unit_test(gpus_and_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
