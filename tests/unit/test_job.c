/* What the store of experiments is made of: file systems it refuses, placeholders,
 * batches and schedules. The store itself is tested through the program
 * (tests/cli/cases/exp). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "job/command.h"
#include "job/design.h"
#include "job/experiment.h"
#include "job/metric_file.h"
#include "job/row.h"
#include "job/tfevents.h"
#include "tensor/proto.h"

static void test_file_systems(void **state)
{
	(void)state;
	assert_string_equal(ls_store_unsafe(0x6969), "NFS");
	assert_string_equal(ls_store_unsafe(0x0bd00bd0), "Lustre");
	/* statfs gives a signed word on some machines */
	assert_string_equal(ls_store_unsafe((uint64_t)(int32_t)0xff534d42), "CIFS");
	assert_null(ls_store_unsafe(0xef53));     /* ext4 */
	assert_null(ls_store_unsafe(0x01021994)); /* tmpfs */
	assert_null(ls_store_unsafe(0x794c7630)); /* overlay */
}

/* CRC-32C of "123456789" is 0xe3069283; TFRecords rotate it by 15 bits and add a
 * constant. */
static void test_checksum(void **state)
{
	(void)state;
	uint32_t crc = 0xe3069283;
	assert_int_equal(ls_masked_crc((const uint8_t *)"123456789", 9),
			 (uint32_t)((crc >> 15 | crc << 17) + 0xa282ead8));
}

/* The points that a pattern finds, as "name step value;". */
static char *printed(const char *pattern, const char *text)
{
	struct ls_points p = {0};
	struct ls_str s = {0};
	if (ls_metric_printed(text, strlen(text), pattern, &p, NULL))
		ls_str_add(&s, "refused");
	for (size_t i = 0; i < p.n; i++)
		ls_str_addf(&s, "%s %d %g;", p.names[p.items[i].name], (int)p.items[i].step,
			    p.items[i].value);
	ls_points_done(&p);
	return ls_str_take(&s);
}

static void test_printed(void **state)
{
	(void)state;
	static const char *const cases[][3] = {
		{"loss", "loss: 3 my_loss 4\nloss=5", "loss 1 3;loss 2 5;"},
		{"step {step} loss {loss}", "x step 7  loss 0.5 y", "loss 7 0.5;"},
		{"step{step}: {} f1 {f1}", "step1: my_f1 3 f1 4", "f1 1 4;"},
		{"{epoch}/{}[{step}] {a} {b}", "1/3 [20] 5 6\r2/3 [40] 7 8",
		 "a 20 5;b 20 6;a 40 7;b 40 8;"},
		{"a {x}", "a a a 5", "x 1 5;"},
		{"a {} {x}", "a 12ms 5", "x 1 5;"},
		{"a {x}{}", "a nan", "x 1 nan;"},
		{"step {step} a {x}", "step 1.5 a 2", "x 1 2;"}, /* no step: counted */
		{"{x", "1", "refused"},
		{"{step}", "1", "refused"},
		{"", "1", "refused"},
		{"a {x}", "", ""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *found = printed(cases[i][0], cases[i][1]);
		assert_string_equal(found, cases[i][2]);
		free(found);
	}
}

/* Half a number in a last line that is still being written looks like a number. */
static void test_cut(void **state)
{
	(void)state;
	static const char text[] = "step,f1\n1,0.5\n2,0.7";
	for (int ended = 0; ended < 2; ended++) {
		struct ls_points p = {0};
		bool cut = false;
		assert_int_equal(ls_metric_text_read(LS_METRIC_CSV, text, strlen(text), ended, &p,
						     &cut, NULL),
				 0);
		assert_int_equal(p.n, ended ? 2 : 1);
		assert_int_equal(cut, !ended);
		ls_points_done(&p);
	}
}

static char *fill(const char *word, const json_t *values, int *ret_rc)
{
	struct ls_str out = {0};
	struct ls_err err = {0};
	*ret_rc =
		ls_command_fill(word, ls_experiment_value, (json_t *)(uintptr_t)values, &out, &err);
	return ls_str_take(&out);
}

static void test_placeholders(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"--seed={seed}", "--seed=7"},
		{"{seed}{lr}{seed}", "70.17"},
		{"{\"a\": 1}", "{\"a\": 1}"},
		{"{}", "{}"},
		{"{1}", "{1}"},
		{"{{seed}}", "{7}"},
		{"{seed", "{seed"},
		{"{", "{"},
		{"", ""},
	};
	json_t *values = json_pack("{s:s,s:s}", "seed", "7", "lr", "0.1");
	int rc;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = fill(cases[i][0], values, &rc);
		assert_int_equal(rc, 0);
		assert_string_equal(text, cases[i][1]);
		free(text);
	}
	free(fill("{sed}", values, &rc));
	assert_int_equal(rc, LS_EINPUT);
	json_decref(values);
}

struct batch_case {
	int64_t gpus, batch, accum, global;       /* 0: not given */
	int64_t ret_batch, ret_accum, ret_global; /* -1: refused */
};

static json_t *design_of(const struct batch_case *c)
{
	json_t *d = json_object();
	const int64_t values[] = {c->gpus, c->batch, c->accum, c->global};
	static const char *const keys[] = {"num_gpus", "batch_size", "accumulation",
					   "global_batch"};
	for (size_t i = 0; i < 4; i++)
		if (values[i])
			json_object_set_new(d, keys[i], json_integer(values[i]));
	return d;
}

static void test_batches(void **state)
{
	(void)state;
	static const struct batch_case cases[] = {
		{4, 48, 0, 0, 48, 1, 192},
		{2, 0, 0, 192, 96, 1, 192},
		{2, 48, 0, 192, 48, 2, 192},
		{2, 0, 2, 192, 48, 2, 192},
		{0, 32, 4, 0, 32, 4, 128},
		{5, 0, 0, 192, -1, 0, 0},
		{4, 48, 1, 191, -1, 0, 0},
		{4, 48, 1, 192, 48, 1, 192},
		{0, 0, 0, 0, 0, 0, 0},
		{2, 64, 0, 192, -1, 0, 0},
		{1 << 30, 1 << 30, 1 << 30, 0, 1 << 30, 1 << 30, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct batch_case *c = &cases[i];
		json_t *d = design_of(c);
		struct ls_err err;
		int rc = ls_design_batch(d, &err);
		assert_int_equal(rc, c->ret_batch < 0 ? LS_EINPUT : 0);
		if (!rc) {
			assert_int_equal(ls_col_int(d, "batch_size", 0), c->ret_batch);
			assert_int_equal(ls_col_int(d, "accumulation", 0), c->ret_accum);
			assert_int_equal(ls_col_int(d, "global_batch", 0), c->ret_global);
		}
		json_decref(d);
	}
}

/* The numbers of a training on 103,000 samples. */
static void test_steps(void **state)
{
	(void)state;
	struct ls_err err;
	json_t *d = json_pack("{s:i,s:i}", "samples", 103000, "global_batch", 192);
	assert_int_equal(ls_design_steps(d, 30, 5, &err), 0);
	assert_int_equal(ls_col_int(d, "total_steps", 0), 16110);
	assert_int_equal(ls_col_int(d, "warmup_steps", 0), 2685);
	json_object_del(d, "samples");
	assert_int_equal(ls_design_steps(d, 30, -1, &err), LS_EINPUT);
	assert_int_equal(ls_design_steps(d, -1, -1, &err), 0);
	json_decref(d);
}

static void test_seeds(void **state)
{
	(void)state;
	static const char *const wrong[] = {"", ",", "1,x", "-1", "1.5"};
	json_t *d = json_pack("{s:s}", "name", "b15"), *list;
	struct ls_err err;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(ls_design_seeds(d, wrong[i], &list, &err), LS_EINPUT);
	assert_int_equal(ls_design_seeds(d, "42, 123", &list, &err), 0);
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(ls_col_text(json_array_get(list, 1), "name"), "b15_seed123");
	json_decref(list);
	json_decref(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_systems), cmocka_unit_test(test_checksum),
		cmocka_unit_test(test_printed),      cmocka_unit_test(test_cut),
		cmocka_unit_test(test_placeholders), cmocka_unit_test(test_batches),
		cmocka_unit_test(test_steps),        cmocka_unit_test(test_seeds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
