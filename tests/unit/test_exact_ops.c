/* Exact operations by name: what is refused; element-wise results against a plain walk
 * over the elements, for every instruction set and number of threads; golden digests;
 * optimizers against the single operations that they stand for.
 * labels: isa threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "exact/elem_double.h"
#include "exact/elem_optim.h"
#include "exact/op/tensor.h"
#include "exact/product.h"
#include "lockstep.h"

#include "../exact/op_trials.h"
#include "../exact/sum_trials.h"

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
	b.stride[0] = 0;
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

/* --- results --- */

static struct ls_exact_where where = {.device = LS_EXACT_CPU};

static int run_trial(struct op_trial *t, struct ls_err *err)
{
	return ls_exact_op(t->name, t->t, t->tensors, t->number, t->numbers, &where, err);
}

/* Every row of the table gives its golden digest, on every instruction set and with 1 to
 * 3 threads. */
static void test_golden(void **state)
{
	(void)state;
	int wrong = 0;
	for (const struct op_row *row = op_rows; row->name; row++)
		for (const char *const *isa = ls_exact_isas(); *isa; isa++)
			for (where.threads = 1; where.threads <= 3; where.threads++) {
				struct ls_err err;
				char digest[OP_DIGEST];
				where.isa = *isa;
				if (op_row_digest(row, run_trial, digest, &err))
					fail_msg("%s: %s", row->name, err.msg);
				if (strcmp(digest, row->golden ? row->golden : "") == 0)
					continue;
				print_error("%s, %g, %g: %s (%s, %d threads)\n", row->name,
					    row->number[0], row->number[1], digest, *isa,
					    where.threads);
				wrong++;
			}
	assert_int_equal(wrong, 0);
}

static int kind_of(const char *name, int *ret_inputs, int *ret_outputs)
{
	static const struct {
		const char *name;
		int inputs, outputs;
	} kinds[] = {
#define KIND(kind, name, inputs, outputs, tensors, numbers) {name, inputs, outputs},
		LS_ELEM_KINDS(KIND)
#undef KIND
	};
	for (int k = 0; k < LS_ELEM_COUNT; k++)
		if (strcmp(kinds[k].name, name) == 0) {
			*ret_inputs = kinds[k].inputs;
			*ret_outputs = kinds[k].outputs;
			return k;
		}
	return -1;
}

static int64_t offset(const struct ls_exact_tensor *x, int64_t number)
{
	int64_t at = 0;
	for (int d = x->ndim - 1; d >= 0; d--) {
		at += number % x->size[d] * x->stride[d];
		number /= x->size[d];
	}
	return at;
}

/* The numbers of the formula, for the optimizers as exact/elem.h says. */
static int formula_numbers(int kind, const double *n, double *ret)
{
	memcpy(ret, n, sizeof *ret * LS_ELEM_NUMBERS);
	if (kind == LS_ELEM_ADAM || kind == LS_ELEM_ADAM_MAX) {
		ls_elem_adam_numbers(n, n[5], ret);
		return (int)n[6];
	}
	if (kind != LS_ELEM_SGD && kind != LS_ELEM_SGD_MOMENTUM)
		return 0;
	ret[0] = -n[0];
	ret[2] = n[3];
	ret[3] = 1 - n[4];
	return (int)n[2];
}

static void formula(int kind, const float *x, const double *n, int flags, double *y)
{
	float f[LS_ELEM_OUTPUTS];
	switch (kind) {
#define FLOAT(kind, name, inputs, outputs, tensors, numbers)                                       \
	case LS_ELEM_##kind:                                                                       \
		ls_elem_do_##kind(x, n, flags, f);                                                 \
		for (int k = 0; k < outputs; k++)                                                  \
			y[k] = (double)f[k];                                                       \
		break;
		LS_ELEM_FLOAT_KINDS(FLOAT)
#undef FLOAT
#define DOUBLE(kind, name, inputs, outputs, tensors, numbers)                                      \
	case LS_ELEM_##kind:                                                                       \
		y[0] = ls_elem_do_##kind((double)x[0], (double)x[1], n);                           \
		break;
		LS_ELEM_DOUBLE_KINDS(DOUBLE)
#undef DOUBLE
	default:
		break;
	}
}

/* The same, element after element. */
static void walk(struct op_trial *t, int kind, int inputs, int outputs)
{
	double n[LS_ELEM_NUMBERS], y[LS_ELEM_OUTPUTS];
	float x[LS_ELEM_INPUTS] = {0};
	int flags = formula_numbers(kind, t->number, n);
	for (int64_t i = 0; i < ls_exact_count(&t->t[0]); i++) {
		for (int k = 0; k < inputs; k++)
			x[k] = ls_elem_load(t->t[k].at, t->t[k].type, offset(&t->t[k], i));
		formula(kind, x, n, flags, y);
		for (int k = inputs; k < inputs + outputs; k++)
			ls_elem_store(t->t[k].at, t->t[k].type, offset(&t->t[k], i), y[k - inputs]);
	}
}

static void test_walk(void **state)
{
	(void)state;
	int trials = 0;
	where = (struct ls_exact_where){.device = LS_EXACT_CPU, .threads = 2};
	for (const struct op_row *row = op_rows; row->name; row++) {
		int inputs, outputs, kind = kind_of(row->name, &inputs, &outputs);
		for (uint64_t seed = 100; seed < 130 && kind >= 0; seed++, trials++) {
			struct op_trial got, want;
			op_trial_make(row, seed, &got);
			op_trial_make(row, seed, &want);
			assert_int_equal(run_trial(&got, NULL), 0);
			walk(&want, kind, inputs, outputs);
			for (size_t k = 0; k < got.tensors; k++)
				if (memcmp(got.block[k], want.block[k], got.bytes[k]) != 0)
					fail_msg("%s, seed %d: tensor %zu", row->name, (int)seed,
						 k);
			op_trial_free(&got);
			op_trial_free(&want);
		}
	}
	assert_true(trials > 1000);
}

/* --- optimizers: one operation, or the single ones that PyTorch's loop is made of --- */

enum { PARAMS = 500 };

static struct ls_exact_tensor *params(float at[][PARAMS], struct ls_exact_tensor *ret, int n)
{
	for (int i = 0; i < n; i++)
		ret[i] = vector_of(at[i], LS_EXACT_F32, PARAMS);
	return ret;
}

/* out = name(a[, b[, c]]); out may be one of them. number: of its only number. */
static void single(const char *name, float *a, float *b, float *c, float *out, double number)
{
	float *at[] = {a, b, c};
	struct ls_exact_tensor t[4];
	size_t n = 0;
	for (int i = 0; i < 3; i++)
		if (at[i])
			t[n++] = vector_of(at[i], LS_EXACT_F32, PARAMS);
	t[n++] = vector_of(out, LS_EXACT_F32, PARAMS);
	bool plain = strcmp(name, "sqrt") == 0 || strcmp(name, "neg") == 0 ||
		     strcmp(name, "maximum") == 0;
	assert_int_equal(ls_exact_op(name, t, n, &number, !plain, &here, NULL), 0);
}

enum { PARAM, GRAD, M, V, TOP, STATES };

static void start(float x[STATES][PARAMS])
{
	for (int k = 0; k < STATES; k++)
		for (int i = 0; i < PARAMS; i++) {
			float v = op_value(i % 7 == 0 ? 1 : 0, (uint64_t)k + 77, (uint64_t)i);
			x[k][i] = k < V ? v : ls_f_bits(ls_bits_f(v) & 0x7fffffff);
		}
}

/* torch/optim/adam.py, _single_tensor_adam; n: the numbers of "adam". */
static void adam_by_steps(float x[STATES][PARAMS], const double *n, bool largest)
{
	int flags = (int)n[6];
	double first = 1 - ls_whole_power(n[1], (uint64_t)n[5]);
	double second = 1 - ls_whole_power(n[2], (uint64_t)n[5]);
	float denominator[PARAMS];
	if (flags & LS_ELEM_MAXIMIZE)
		single("neg", x[GRAD], NULL, NULL, x[GRAD], 0);
	if (n[4] != 0 && (flags & LS_ELEM_DECOUPLED))
		single("mul_number", x[PARAM], NULL, NULL, x[PARAM], 1 - n[0] * n[4]);
	else if (n[4] != 0)
		single("add", x[GRAD], x[PARAM], NULL, x[GRAD], n[4]);
	single("lerp", x[M], x[GRAD], NULL, x[M], 1 - n[1]);
	single("mul_number", x[V], NULL, NULL, x[V], n[2]);
	single("addcmul", x[V], x[GRAD], x[GRAD], x[V], 1 - n[2]);
	if (largest)
		single("maximum", x[TOP], x[V], NULL, x[TOP], 0);
	single("sqrt", largest ? x[TOP] : x[V], NULL, NULL, denominator, 0);
	single("div_number", denominator, NULL, NULL, denominator, ls_sqrt_d(second));
	single("add_number", denominator, NULL, NULL, denominator, n[3]);
	single("addcdiv", x[PARAM], x[M], denominator, x[PARAM], -(n[0] / first));
}

static void test_adam(void **state)
{
	(void)state;
	for (int form = 0; form < 16; form++) {
		static float one[STATES][PARAMS], steps[STATES][PARAMS];
		const double n[] = {1e-3,
				    0.9,
				    0.999,
				    1e-8,
				    form & 1 ? 0.01 : 0,
				    7,
				    (form & 2 ? LS_ELEM_DECOUPLED : 0) |
					    (form & 4 ? LS_ELEM_MAXIMIZE : 0)};
		bool largest = form & 8;
		struct ls_exact_tensor t[STATES + 4], *x = params(one, t, STATES);
		size_t inputs = largest ? 5 : 4;
		start(one);
		start(steps);
		struct ls_exact_tensor out[] = {x[PARAM], x[M], x[V], x[TOP]};
		memcpy(t + inputs, out, sizeof out);
		assert_int_equal(ls_exact_op(largest ? "adam_max" : "adam", t, 2 * inputs - 1, n, 7,
					     &here, NULL),
				 0);
		adam_by_steps(steps, n, largest);
		assert_memory_equal(one[PARAM], steps[PARAM], sizeof one[PARAM]);
		assert_memory_equal(one[M], steps[M], sizeof one[M]);
		assert_memory_equal(one[V], steps[V], sizeof one[V]);
		assert_memory_equal(one[TOP], steps[TOP], sizeof one[TOP]);
	}
}

/* The number of the step as a tensor, as the fused optimizers have it. */
static void test_adam_step(void **state)
{
	(void)state;
	static float one[STATES][PARAMS], two[STATES][PARAMS];
	double n[] = {1e-3, 0.9, 0.999, 1e-8, 0.01, 3, 0};
	float step = 3;
	struct ls_exact_tensor t[8];
	start(one);
	start(two);
	params(one, t, 4);
	t[4] = t[PARAM], t[5] = t[M], t[6] = t[V];
	assert_int_equal(ls_exact_op("adam", t, 7, n, 7, &here, NULL), 0);
	params(two, t, 4);
	t[4] = t[PARAM], t[5] = t[M], t[6] = t[V];
	t[7] = vector_of(&step, LS_EXACT_F32, 1);
	n[5] = 0;
	assert_int_equal(ls_exact_op("adam", t, 8, n, 7, &here, NULL), 0);
	assert_memory_equal(one, two, sizeof one);
	assert_int_equal(ls_exact_op("adam", t, 7, n, 7, &here, NULL), LS_EINPUT);
}

/* torch/optim/sgd.py, _single_tensor_sgd; x[M]: the buffer. */
static void sgd_by_steps(float x[STATES][PARAMS], const double *n)
{
	int flags = (int)n[2];
	if (flags & LS_ELEM_MAXIMIZE)
		single("neg", x[GRAD], NULL, NULL, x[GRAD], 0);
	if (n[1] != 0)
		single("add", x[GRAD], x[PARAM], NULL, x[GRAD], n[1]);
	if (flags & LS_ELEM_FIRST) {
		memcpy(x[M], x[GRAD], sizeof x[M]);
	} else {
		single("mul_number", x[M], NULL, NULL, x[M], n[3]);
		single("add", x[M], x[GRAD], NULL, x[M], 1 - n[4]);
	}
	if (flags & LS_ELEM_NESTEROV)
		single("add", x[GRAD], x[M], NULL, x[GRAD], n[3]);
	single("add", x[PARAM], flags & LS_ELEM_NESTEROV ? x[GRAD] : x[M], NULL, x[PARAM], -n[0]);
}

static void test_sgd(void **state)
{
	(void)state;
	for (int flags = 0; flags < 8; flags++) {
		static float one[STATES][PARAMS], steps[STATES][PARAMS];
		const double n[] = {0.1, flags & 1 ? 0 : 0.01, flags, 0.9, 0.2};
		struct ls_exact_tensor t[5];
		start(one);
		start(steps);
		params(one, t, 3);
		t[3] = t[PARAM], t[4] = t[M];
		assert_int_equal(ls_exact_op("sgd_momentum", t, 5, n, 5, &here, NULL), 0);
		sgd_by_steps(steps, n);
		assert_memory_equal(one[PARAM], steps[PARAM], sizeof one[PARAM]);
		assert_memory_equal(one[M], steps[M], sizeof one[M]);
	}
}

/* --- random numbers --- */

/* A part of a tensor, by `first`, has the numbers that the whole has there; another call
 * or seed has others; the moments are those of the distribution. */
static void test_random(void **state)
{
	(void)state;
	enum { N = 60000 };
	static float all[N], part[N], other[N];
	double n[] = {0, 1, 5, 6, 7, 0}, sum = 0, squares = 0;
	struct ls_exact_tensor t = vector_of(all, LS_EXACT_F32, N);
	assert_int_equal(ls_exact_op("randn", &t, 1, n, 6, &here, NULL), 0);
	for (int i = 0; i < N; i++) {
		sum += (double)all[i];
		squares += (double)all[i] * (double)all[i];
	}
	assert_true(sum / N < 0.02 && sum / N > -0.02);
	assert_true(squares / N < 1.03 && squares / N > 0.97);
	t = vector_of(part, LS_EXACT_F32, 1001);
	n[5] = 777;
	assert_int_equal(ls_exact_op("randn", &t, 1, n, 6, &here, NULL), 0);
	assert_memory_equal(part, all + 777, 1001 * sizeof *part);
	t = vector_of(other, LS_EXACT_F32, N);
	n[5] = 0;
	n[4] = 8;
	assert_int_equal(ls_exact_op("randn", &t, 1, n, 6, &here, NULL), 0);
	assert_true(memcmp(other, all, sizeof all) != 0);
}

static void test_randperm(void **state)
{
	(void)state;
	enum { N = 1000 };
	static int64_t at[N];
	bool seen[N] = {false};
	const double n[] = {N, 1, 0, 0, 0};
	struct ls_exact_tensor t = vector_of(at, LS_EXACT_I64, N);
	assert_int_equal(ls_exact_op("randperm", &t, 1, n, 5, &here, NULL), 0);
	for (int i = 0; i < N; i++) {
		assert_true(at[i] >= 0 && at[i] < N && !seen[at[i]]);
		seen[at[i]] = true;
	}
}

/* What is random: bad numbers are refused. */
static void test_random_refused(void **state)
{
	(void)state;
	float x[8];
	struct ls_exact_tensor t = vector_of(x, LS_EXACT_F32, 8), whole = t;
	struct ls_err err;
	const double odd_seed[] = {0, 1, 0.5, 0, 0, 0}, no_chance[] = {1.5, 0, 0, 0, 0};
	assert_int_equal(ls_exact_op("rand", &t, 1, odd_seed, 6, &here, &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "0.5 is no value for seed_low"));
	assert_int_equal(ls_exact_op("bernoulli", &t, 1, no_chance, 5, &here, &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "1.5 is no value for probability"));
	whole.type = LS_EXACT_I64;
	assert_int_equal(ls_exact_op("rand", &whole, 1, odd_seed, 6, &here, &err), LS_EINPUT);
}

/* Every operation of the library has a row in the table, and so a golden digest. */
static void test_all_have_rows(void **state)
{
	(void)state;
	struct ls_exact_op_info info;
	for (size_t i = 0; ls_exact_op_list(i, &info) == 0; i++) {
		bool found = false;
		for (const struct op_row *row = op_rows; row->name; row++)
			found = found || strcmp(row->name, info.name) == 0;
		for (const struct sum_operation *o = sum_operations; o->name; o++)
			found = found || strcmp(o->name, info.name) == 0;
		if (!found)
			fail_msg("%s has no row in tests/exact/", info.name);
	}
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
		cmocka_unit_test(test_bad_input),      cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_product),        cmocka_unit_test(test_list),
		cmocka_unit_test(test_all_have_rows),  cmocka_unit_test(test_walk),
		cmocka_unit_test(test_golden),         cmocka_unit_test(test_adam),
		cmocka_unit_test(test_adam_step),      cmocka_unit_test(test_sgd),
		cmocka_unit_test(test_random),         cmocka_unit_test(test_randperm),
		cmocka_unit_test(test_random_refused),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	ls_exact_release();
	return rc;
}
