#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fm/data.h"

static struct ls_data *load(const char *text, const struct ls_data_opts *o)
{
	struct ls_data *d = NULL;
	struct ls_err err = {0};
	if (ls_data_load_memory("t", text, strlen(text), o, &d, &err))
		fail_msg("%s", err.msg);
	return d;
}

static void refuses(const char *text, const struct ls_data_opts *o, const char *message)
{
	struct ls_data *d = NULL;
	struct ls_err err = {0};
	assert_int_equal(ls_data_load_memory("t", text, strlen(text), o, &d, &err), LS_EINPUT);
	assert_null(d);
	assert_string_equal(err.msg, message);
}

static void libsvm_rows(void **state)
{
	(void)state;
	struct ls_data *d = load("1 3:1 7:0.5\n-1 4294967295:-2e-3\n", NULL);
	const struct ls_rows *r = ls_data_rows(d);
	assert_int_equal(r->n_rows, 2);
	assert_int_equal(r->n_entries, 3);
	assert_true(r->n_features == 4294967296);
	assert_int_equal(r->n_fields, 0);
	assert_null(r->field);
	assert_null(r->weight);
	assert_int_equal(r->start[0], 0);
	assert_int_equal(r->start[1], 2);
	assert_int_equal(r->start[2], 3);
	assert_int_equal(r->feature[1], 7);
	assert_true(r->feature[2] == 4294967295);
	assert_true(r->value[0] == 1 && r->value[1] == 0.5F && r->value[2] == -2e-3F);
	assert_true(r->label[0] == 1 && r->label[1] == -1);
	ls_data_free(d);
}

static void libffm_rows(void **state)
{
	(void)state;
	struct ls_data *d = load("0 0:12345678:1 65535:123456789:1\n1 2:3:1.0\n", NULL);
	const struct ls_rows *r = ls_data_rows(d);
	assert_int_equal(r->n_fields, 65536);
	assert_int_equal(r->n_features, 123456790);
	assert_int_equal(r->feature[0], 12345678);
	assert_int_equal(r->field[1], 65535);
	assert_int_equal(r->field[2], 2);
	assert_null(r->value); /* all ones */
	ls_data_free(d);
}

static void first_faults(void **state)
{
	(void)state;
	refuses("1 3:1\n0 -3:1\n", NULL, "t:2:3: index \"-3:1\" is negative; the least is 0");
	refuses("1 3:nan\n", NULL, "t:1:5: value \"nan\" is not a finite number");
	refuses("", NULL, "t: no rows");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libsvm_rows),
		cmocka_unit_test(libffm_rows),
		cmocka_unit_test(first_faults),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
