/* What is read from Slurm's programs, and what follows from it. A real Slurm is in
 * tests/slurm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "job/row.h"
#include "job/slurm_partitions.h"

/* --- partitions --- */

static void add_line(struct ls_str *out, const char *const f[9])
{
	static const int widths[] = {128, 16, 32, 256, 32, 64, 32, 1024, 1024};
	for (int i = 0; i < 9; i++)
		ls_str_addf(out, "%-*s", widths[i], f[i]);
	ls_str_add(out, "\n");
}

static json_t *gpus_at(const json_t *partition, size_t i)
{
	return json_array_get(json_object_get(partition, "gpus"), i);
}

static void partitions_add_up(void **state)
{
	(void)state;
	static const char *const nodes[][9] = {
		{"h200*", "up", "2-00:00:00", "n1", "mix", "4/12/0/16", "64000",
		 "gpu:h200:4(S:0-1),gpu:a100:2,shard:8",
		 "gpu:h200:3(IDX:0,2-3),gpu:a100:0(IDX:N/A)"},
		{"h200*", "up", "2-00:00:00", "n2", "idle~", "0/8/0/8", "32000", "gpu:h200:2",
		 "gpu:h200:0(IDX:N/A)"},
		{"h200*", "up", "2-00:00:00", "n3", "down*", "0/0/32/32", "96000", "gpu:h200:8",
		 "gpu:h200:0"},
		{"plain", "inact", "infinite", "n4", "drain", "0/0/4/4", "1000", "(null)", ""},
		{"short", "up", "30:00", "n1", "idle", "0/4/0/4", "1000", "gpu:2", "gpu:1(IDX:0)"}};
	struct ls_str text = {0};
	ls_str_add(&text, "sinfo: something else\n\n");
	for (size_t i = 0; i < 5; i++)
		add_line(&text, nodes[i]);
	json_t *list = ls_slurm_partitions_parse(text.s), *p = json_array_get(list, 0);
	assert_int_equal(json_array_size(list), 3);
	assert_string_equal(ls_col_text(p, "partition"), "h200");
	assert_true(json_is_true(json_object_get(p, "default")));
	assert_int_equal(ls_col_int(p, "time_limit_s", 0), 2 * 86400);
	assert_int_equal(ls_col_int(p, "nodes", 0), 3);
	assert_int_equal(ls_col_int(p, "usable_nodes", 0), 2);
	assert_int_equal(ls_col_int(p, "idle_nodes", 0), 1);
	assert_int_equal(ls_col_int(p, "cpus_per_node", 0), 32);
	assert_int_equal(json_array_size(json_object_get(p, "gpus")), 2);
	assert_string_equal(ls_col_text(gpus_at(p, 0), "type"), "h200");
	assert_int_equal(ls_col_int(gpus_at(p, 0), "total", 0), 14);
	assert_int_equal(ls_col_int(gpus_at(p, 0), "per_node", 0), 8);
	assert_int_equal(ls_col_int(gpus_at(p, 0), "free", 0), 3);
	assert_int_equal(ls_col_int(gpus_at(p, 0), "free_on_one_node", 0), 2);
	assert_int_equal(ls_col_int(gpus_at(p, 1), "free", 0), 2);
	p = json_array_get(list, 1);
	assert_true(json_is_null(json_object_get(p, "time_limit_s")));
	assert_false(json_is_true(json_object_get(p, "up")));
	assert_int_equal(ls_col_int(p, "usable_nodes", 7), 0);
	p = json_array_get(list, 2);
	assert_int_equal(ls_col_int(p, "time_limit_s", 0), 1800);
	assert_null(ls_col_text(gpus_at(p, 0), "type"));
	assert_int_equal(ls_col_int(gpus_at(p, 0), "free", 0), 1);
	json_decref(list);
	ls_str_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(partitions_add_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
