/* Exact convolutions by name: every instruction set and number of threads against the
 * definition (exact/conv_plain.c), the definition against float64 where that is exact, and
 * what is refused.
 * labels: isa threads */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "exact/conv_plan.h"
#include "exact/product.h"
#include "lockstep.h"

#include "../exact/op_trials.h"

enum { FIRST, SECOND, OUT, BIAS };

static struct ls_conv_tensor part_of(const struct ls_exact_tensor *x)
{
	return (struct ls_conv_tensor){x->at,
				       x->type,
				       x->stride[0],
				       x->stride[1],
				       {x->stride[2], x->stride[3], x->stride[4]}};
}

/* What a trial asks for, as the definition wants it. */
static struct ls_conv_plan plan_of(const struct op_trial *t)
{
	bool back_input = strcmp(t->name, "conv_back_input") == 0,
	     back_weight = strcmp(t->name, "conv_back_weight") == 0;
	const struct ls_exact_tensor *x = &t->t[back_input    ? OUT
						: back_weight ? SECOND
							      : FIRST],
				     *w = &t->t[back_weight ? OUT : SECOND],
				     *y = &t->t[back_input || back_weight ? FIRST : OUT];
	struct ls_conv_plan p = {.conv.kind = back_input    ? LS_CONV_BACK_INPUT
					      : back_weight ? LS_CONV_BACK_WEIGHT
							    : LS_CONV_FORWARD};
	p.conv.bits = (int)t->number[0];
	p.conv.groups = (int64_t)t->number[1];
	p.conv.samples = x->size[0];
	p.conv.lines = back_input ? w->size[1] : w->size[0] / p.conv.groups;
	p.conv.channels = back_input ? w->size[0] / p.conv.groups : w->size[1];
	p.conv.source = part_of(back_input ? y : x);
	p.conv.other = part_of(back_weight ? y : w);
	p.conv.w_group = w->size[0] / p.conv.groups * w->stride[0];
	if (back_input) {
		p.conv.other.sample = w->stride[1];
		p.conv.other.channel = w->stride[0];
	}
	p.conv.out = part_of(&t->t[OUT]);
	if (t->tensors > BIAS) {
		p.conv.bias = t->t[BIAS].at;
		p.conv.bias_step = t->t[BIAS].stride[0];
		p.conv.bias_type = t->t[BIAS].type;
	}
	for (int d = 0; d < LS_CONV_DIMS; d++) {
		p.in[d] = x->size[2 + d];
		p.out[d] = y->size[2 + d];
		p.kernel[d] = w->size[2 + d];
		p.stride[d] = (int64_t)t->number[2 + d];
		p.pad[d] = (int64_t)t->number[5 + d];
		p.dilation[d] = (int64_t)t->number[8 + d];
	}
	return p;
}

static bool compare(const struct op_row *row, uint64_t seed, const char *isa, int threads)
{
	struct op_trial want, found;
	struct ls_err err;
	const struct ls_exact_where where = {
		.device = LS_EXACT_CPU, .threads = threads, .isa = isa};
	op_trial_make(row, seed, &want);
	op_trial_make(row, seed, &found);
	struct ls_conv_plan p = plan_of(&want);
	if (ls_conv_plain(&p, &err))
		fail_msg("%s, seed %llu: %s", row->name, (unsigned long long)seed, err.msg);
	if (ls_exact_op(found.name, found.t, found.tensors, found.number, found.numbers, &where,
			&err))
		fail_msg("%s, seed %llu: %s", row->name, (unsigned long long)seed, err.msg);
	bool same = memcmp(want.block[OUT], found.block[OUT], want.bytes[OUT]) == 0;
	if (!same)
		print_error("%s, %g, %g, seed %llu: %s with %d threads is not the definition\n",
			    row->name, row->number[0], row->number[1], (unsigned long long)seed,
			    isa, threads);
	op_trial_free(&want);
	op_trial_free(&found);
	return same;
}

static void test_random_shapes(void **state)
{
	(void)state;
	int wrong = 0, rows = 0;
	for (const struct op_row *row = op_rows; row->name; row++) {
		if (strncmp(row->name, "conv", 4) != 0)
			continue;
		rows++;
		for (uint64_t seed = 0; seed < 60; seed++)
			for (const char *const *isa = ls_exact_isas(); *isa; isa++)
				wrong += !compare(row, seed, *isa, 1 + (int)(seed % 3));
	}
	assert_int_equal(rows, 11);
	assert_int_equal(wrong, 0);
}

/* --- one channel: tensors of 1 × 1 × 1 × 1 × n --- */

static struct ls_exact_tensor line(void *at, int64_t n)
{
	return (struct ls_exact_tensor){at, LS_EXACT_F32, 5, {1, 1, 1, 1, n}, {n, n, n, n, 1}};
}

static int convolve(const char *name, struct ls_exact_tensor a, struct ls_exact_tensor b,
		    struct ls_exact_tensor out, double stride, double pad, struct ls_err *err)
{
	const double numbers[] = {22, 1, 1, 1, stride, 0, 0, pad, 1, 1, 1};
	const struct ls_exact_where where = {.device = LS_EXACT_CPU, .threads = 2};
	return ls_exact_op(name, (struct ls_exact_tensor[]){a, b, out}, 3, numbers, 11, &where,
			   err);
}

/* Small whole numbers, which no grid changes. */
static void test_known(void **state)
{
	(void)state;
	float x[7] = {1, 2, 3, 4, 5, 6, 7}, w[3] = {1, -2, 4}, y[4], back[7], by_w[3];
	struct ls_err err;
	assert_int_equal(convolve("conv", line(x, 7), line(w, 3), line(y, 4), 2, 1, &err), 0);
	const float want[4] = {6, 12, 18, -8};
	assert_memory_equal(y, want, sizeof want);
	assert_int_equal(
		convolve("conv_back_input", line(y, 4), line(w, 3), line(back, 7), 2, 1, &err), 0);
	const float want_back[7] = {-12, 36, -24, 66, -36, 64, 16};
	assert_memory_equal(back, want_back, sizeof want_back);
	assert_int_equal(
		convolve("conv_back_weight", line(y, 4), line(x, 7), line(by_w, 3), 2, 1, &err), 0);
	const float want_w[3] = {24 + 72 - 48, 6 + 36 + 90 - 56, 12 + 48 + 108};
	assert_memory_equal(by_w, want_w, sizeof want_w);
}

/* An infinity reaches the results that read it, and no others. */
static void test_not_finite(void **state)
{
	(void)state;
	float x[6] = {1, 1, 1, 1, 1, INFINITY}, w[2] = {1, 2}, y[5];
	struct ls_err err;
	assert_int_equal(convolve("conv", line(x, 6), line(w, 2), line(y, 5), 1, 0, &err), 0);
	const float want[5] = {3, 3, 3, 3, INFINITY};
	assert_memory_equal(y, want, sizeof want);
	w[1] = 0;
	assert_int_equal(convolve("conv", line(x, 6), line(w, 2), line(y, 5), 1, 0, &err), 0);
	assert_true(y[4] != y[4] && y[3] == 1);
	/* padding is no term: nothing is multiplied there */
	w[0] = INFINITY;
	float z[6];
	x[5] = 1;
	assert_int_equal(
		convolve("conv_back_input", line(y, 5), line(w, 2), line(z, 6), 1, 0, &err), 0);
	assert_true(z[5] != z[5] && z[0] == INFINITY);
}

/* More terms than one word holds, all of them the largest: the sum of 2^19 + 3 squares of
 * 2^22 steps is known. */
static void test_long(void **state)
{
	(void)state;
	enum { N = (1 << 19) + 3 };
	float *x = ls_xalloc(sizeof *x * N), *y = ls_xalloc(sizeof *y * N), sum;
	for (int i = 0; i < N; i++)
		x[i] = y[i] = 3.9999999f; /* rounds up to 4 */
	struct ls_err err;
	assert_int_equal(
		convolve("conv_back_weight", line(y, N), line(x, N), line(&sum, 1), 1, 0, &err), 0);
	assert_true(sum == 16.0f * N);
	x[N - 1] = -x[N - 1] * 0.5f;
	assert_int_equal(
		convolve("conv_back_weight", line(y, N), line(x, N), line(&sum, 1), 1, 0, &err), 0);
	assert_true(sum == 16.0f * (N - 1) - 8.0f);
	free(x);
	free(y);
}

static void refuses(struct ls_exact_tensor x, struct ls_exact_tensor w, struct ls_exact_tensor y,
		    double stride, const char *why)
{
	struct ls_err err = {0};
	assert_int_equal(convolve("conv", x, w, y, stride, 0, &err), LS_EINPUT);
	if (!strstr(err.msg, why))
		fail_msg("\"%s\" does not say \"%s\"", err.msg, why);
}

static void test_bad_input(void **state)
{
	(void)state;
	float x[8] = {0}, w[3] = {0}, y[8];
	refuses(line(x, 8), line(w, 3), line(y, 7), 1, "has no 7 places");
	refuses(line(x, 8), line(w, 3), line(y, 6), 0, "below 1");
	refuses(line(x, 8), line(w, 3), line(y, 6), 1.0 / 0.0, "number 4 is inf");
	struct ls_exact_tensor two = line(x, 4), flat = line(x, 8);
	two.size[1] = 2;
	refuses(two, line(w, 3), line(y, 2), 1, "tensor x has 2 channels");
	flat.ndim = 3;
	refuses(flat, line(w, 3), line(y, 6), 1, "tensor x has 3 dimensions");
	flat = line(x, 8);
	flat.type = LS_EXACT_I32;
	refuses(flat, line(w, 3), line(y, 6), 1, "tensor x is int32");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_shapes), cmocka_unit_test(test_known),
		cmocka_unit_test(test_not_finite),    cmocka_unit_test(test_long),
		cmocka_unit_test(test_bad_input),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
