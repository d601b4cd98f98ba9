/* Exact operations by name: what is refused, and element-wise results against plain
 * loops, for every instruction set and number of threads.
 * labels: isa threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exact/elem.h"
#include "exact/product.h"
#include "lockstep.h"

static const struct ls_exact_where here = {.device = LS_EXACT_CPU, .threads = 2};

static struct ls_exact_tensor vector_of(void *at, int type, int64_t n)
{
	return (struct ls_exact_tensor){at, type, 1, {n}, {1}};
}

static struct ls_exact_tensor matrix_of(void *at, int64_t rows, int64_t columns, int64_t row,
					int64_t column)
{
	return (struct ls_exact_tensor){at, LS_EXACT_F32, 2, {rows, columns}, {row, column}};
}

static int run(const char *name, const struct ls_exact_tensor *t, size_t n, double number)
{
	return ls_exact_op(name, t, n, &number, strcmp(name, "add") == 0, &here, NULL);
}

static void refuses(const char *name, const struct ls_exact_tensor *t, size_t n, const char *why)
{
	struct ls_err err = {0};
	double one = 1;
	assert_int_equal(ls_exact_op(name, t, n, &one, strcmp(name, "add") == 0, &here, &err),
			 LS_EINPUT);
	if (!strstr(err.msg, why))
		fail_msg("\"%s\" does not say \"%s\"", err.msg, why);
}

static void test_bad_input(void **state)
{
	(void)state;
	float x[64] = {0};
	struct ls_exact_tensor a = vector_of(x, LS_EXACT_F32, 8), b = a, out = a;
	out.at = x + 32;
	refuses("subtract", (struct ls_exact_tensor[]){a, b, out}, 3,
		"no exact operation subtract");
	refuses("add", (struct ls_exact_tensor[]){a, b}, 2, "not 2");
	b.size[0] = 7;
	refuses("add", (struct ls_exact_tensor[]){a, b, out}, 3, "tensor b has another shape");
	b = a;
	b.type = 99;
	refuses("add", (struct ls_exact_tensor[]){a, b, out}, 3, "type that is not known");
	b.type = LS_EXACT_F64;
	refuses("add", (struct ls_exact_tensor[]){a, b, out}, 3, "is float64");
	b = a;
	b.at = NULL;
	refuses("add", (struct ls_exact_tensor[]){a, b, out}, 3, "tensor b has no memory");
	out.type = LS_EXACT_I64;
	refuses("add", (struct ls_exact_tensor[]){a, a, out}, 3, "tensor out is int64");
	b = a;
	b.size[0] = (int64_t)1 << 60;
	refuses("add", (struct ls_exact_tensor[]){a, b, out}, 3, "larger than memory");
	b.size[0] = -1;
	refuses("add", (struct ls_exact_tensor[]){a, b, out}, 3, "negative size");
	b.ndim = 9;
	refuses("add", (struct ls_exact_tensor[]){a, b, out}, 3, "9 dimensions");
}

static void test_overlaps(void **state)
{
	(void)state;
	float x[64] = {0};
	struct ls_exact_tensor a = vector_of(x, LS_EXACT_F32, 8), out = a;
	assert_int_equal(run("mul", (struct ls_exact_tensor[]){a, a, out}, 3, 0), 0);
	out.at = x + 1;
	refuses("mul", (struct ls_exact_tensor[]){a, a, out}, 3, "out is written, and shares");
	out.at = x + 16;
	out.stride[0] = 0;
	refuses("mul", (struct ls_exact_tensor[]){a, a, out}, 3, "its elements share memory");
	/* columns of one matrix lie apart, and overlap only where they do */
	struct ls_exact_tensor left = matrix_of(x, 8, 3, 6, 1),
			       right = matrix_of(x + 3, 8, 3, 6, 1);
	assert_int_equal(run("mul", (struct ls_exact_tensor[]){left, left, right}, 3, 0), 0);
	right.at = x + 2;
	refuses("mul", (struct ls_exact_tensor[]){left, left, right}, 3, "shares memory");
	right.at = x + 4; /* its last column is the next row's first */
	refuses("mul", (struct ls_exact_tensor[]){left, left, right}, 3, "shares memory");
	/* a product may not be written over its sides */
	struct ls_exact_tensor m = matrix_of(x, 4, 4, 4, 1);
	const double numbers[] = {1, 0, 22};
	assert_int_equal(
		ls_exact_op("mm", (struct ls_exact_tensor[]){m, m, m}, 3, numbers, 3, &here, NULL),
		LS_EINPUT);
}

static void test_product(void **state)
{
	(void)state;
	float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 1, 1}, out[4] = {0};
	const double numbers[] = {2, 0, 22};
	struct ls_exact_tensor t[] = {matrix_of(a, 2, 3, 3, 1), matrix_of(b, 3, 2, 2, 1),
				      matrix_of(out, 2, 2, 2, 1)};
	assert_int_equal(ls_exact_op("mm", t, 3, numbers, 3, &here, NULL), 0);
	const float want[4] = {8, 10, 20, 22};
	assert_memory_equal(out, want, sizeof want);
	t[1].size[0] = 2;
	struct ls_err err;
	assert_int_equal(ls_exact_op("mm", t, 3, numbers, 3, &here, &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "tensor b is 2 x 2"));
}

static void test_list(void **state)
{
	(void)state;
	struct ls_exact_op_info info;
	size_t n = 0;
	for (; ls_exact_op_list(n, &info) == 0; n++) {
		assert_non_null(strchr(info.tensors, '>'));
		assert_non_null(info.numbers);
	}
	assert_true(n > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_input),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_product),
		cmocka_unit_test(test_list),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	ls_exact_release();
	return rc;
}
