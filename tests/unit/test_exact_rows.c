/* Softmax, normalisation and reductions by name: every instruction set, number of threads
 * and layout gives the same bits, and these are near the mathematics.
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

#include "../exact/sum_trials.h"
#include "base/digest.h"
#include "base/mem.h"
#include "exact/grid.h"
#include "exact/product.h"
#include "lockstep.h"
#include "num/philox.h"

enum { TRIALS = 12 /* of an operation */, GOLDEN = 16 /* digits of a digest */ };

enum values { NORMAL, LARGE, MASKED, TINY, NOT_FINITE, KINDS };

static float value_of(int kind, uint64_t seed, uint64_t i)
{
	struct ls_u32x4 r = ls_philox(seed, i, 0);
	float usual =
		ls_f_bits((r.v[0] & 0x80000000) | (r.v[2] % 4 + 125) << 23 | (r.v[1] & 0x7fffff));
	switch (kind) {
	case LARGE:
		return usual * 300.0f;
	case MASKED:
		return r.v[3] & 1 ? usual : -INFINITY;
	case TINY:
		return usual * 0x1p-130f;
	case NOT_FINITE:
		return r.v[3] % 1001 ? usual : r.v[2] & 1 ? NAN : INFINITY;
	default:
		return usual;
	}
}

static void run(const char *name, struct ls_exact_tensor *t, size_t n, const double *number,
		size_t numbers)
{
	struct ls_exact_where where = {.device = LS_EXACT_CPU, .threads = 2};
	struct ls_err err = {0};
	if (ls_exact_op(name, t, n, number, numbers, &where, &err))
		fail_msg("%s: %s", name, err.msg);
}

/* --- every operation, everywhere --- */

/* The outputs of a trial. */
static void add_trial(const struct sum_trial *t, int threads, const char *isa,
		      struct ls_sha256 *digest)
{
	struct ls_exact_where where = {.device = LS_EXACT_CPU, .threads = threads, .isa = isa};
	struct ls_exact_tensor x[SUM_TENSORS] = {0};
	struct ls_err err = {0};
	size_t n = strlen(t->o->tensors);
	for (size_t k = 0; k < n; k++) {
		x[k] = sum_trial_shape(t, k);
		x[k].at = ls_xalloc(sum_trial_bytes(&x[k]));
		sum_trial_fill(t, k, &x[k], x[k].at);
	}
	if (ls_exact_op(t->o->name, x, n, t->o->number, t->o->numbers, &where, &err))
		fail_msg("%s", err.msg);
	for (size_t k = 0; k < n; k++) {
		if (t->o->tensors[k] < 'a')
			ls_sha256_add(digest, x[k].at, sum_trial_bytes(&x[k]));
		free(x[k].at);
	}
}

static void digest_of(const struct sum_operation *o, int threads, const char *isa, char *ret_hex)
{
	struct ls_sha256 *digest = ls_sha256_new();
	for (uint64_t i = 0; i < TRIALS; i++) {
		struct sum_trial t = sum_trial_of(o, i, 30);
		add_trial(&t, threads, isa, digest);
	}
	ls_sha256_final(digest, ret_hex);
}

static void every_operation(void **state)
{
	(void)state;
	char digest[LS_SHA256_HEX];
	int wrong = 0;
	for (const struct sum_operation *o = sum_operations; o->name; o++)
		for (const char *const *isa = ls_exact_isas(); *isa; isa++)
			for (int threads = 1; threads <= 3; threads++) {
				digest_of(o, threads, *isa, digest);
				if (strlen(o->golden) == GOLDEN &&
				    strncmp(digest, o->golden, GOLDEN) == 0)
					continue;
				print_error("%s %s: %.16s (%s, %d threads)\n", o->name, o->tensors,
					    digest, *isa, threads);
				wrong++;
			}
	assert_int_equal(wrong, 0);
}

/* Columns of a matrix in memory give the bits of rows. */
static void any_layout(void **state)
{
	(void)state;
	enum { N = 23 * 37 };
	static float x[N], turned[N], y[N], z[N];
	for (int i = 0; i < N; i++)
		turned[i % 37 * 23 + i / 37] = x[i] = value_of(NORMAL, 2, (uint64_t)i);
	struct ls_exact_tensor a = {x, LS_EXACT_F32, 2, {23, 37}, {37, 1}}, b = a, c = a, d = a;
	b.at = turned;
	c.at = y;
	d.at = z;
	b.stride[0] = d.stride[0] = 1;
	b.stride[1] = d.stride[1] = 23;
	run("softmax", (struct ls_exact_tensor[]){a, c}, 2, NULL, 0);
	run("softmax", (struct ls_exact_tensor[]){b, d}, 2, NULL, 0);
	for (int i = 0; i < N; i++)
		assert_true(ls_bits_f(y[i]) == ls_bits_f(z[i % 37 * 23 + i / 37]));
}

/* --- near the mathematics --- */

static struct ls_exact_tensor row_of(float *at, int64_t n)
{
	return (struct ls_exact_tensor){at, LS_EXACT_F32, 2, {1, n}, {n, 1}};
}

static void softmax_is_near(void **state)
{
	(void)state;
	enum { N = 777 };
	float x[N], y[N], l[N], one;
	long double sum = 0;
	for (int i = 0; i < N; i++) {
		x[i] = value_of(NORMAL, 4, (uint64_t)i) * 5;
		sum += expl((long double)x[i]);
	}
	run("softmax", (struct ls_exact_tensor[]){row_of(x, N), row_of(y, N)}, 2, NULL, 0);
	run("log_softmax", (struct ls_exact_tensor[]){row_of(x, N), row_of(l, N)}, 2, NULL, 0);
	run("logsumexp", (struct ls_exact_tensor[]){row_of(x, N), row_of(&one, 1)}, 2, NULL, 0);
	for (int i = 0; i < N; i++) {
		long double p = expl((long double)x[i]) / sum;
		assert_true(fabsl(y[i] - p) <= 2e-7L * p);
		assert_true(fabsl(l[i] - logl(p)) <= 1e-7L * fabsl(logl(p)) + 1e-7L);
	}
	assert_true(fabsl(one - logl(sum)) <= 1e-7L * fabsl(logl(sum)));
}

static void norm_is_near(void **state)
{
	(void)state;
	enum { N = 777 };
	float x[N], w[N], b[N], y[N], mean, inverse;
	long double m = 0, v = 0;
	const double eps = 1e-5;
	for (int i = 0; i < N; i++) {
		x[i] = value_of(NORMAL, 4, (uint64_t)i) + 30;
		w[i] = value_of(NORMAL, 5, (uint64_t)i);
		b[i] = value_of(NORMAL, 6, (uint64_t)i);
		m += (long double)x[i] / N;
	}
	for (int i = 0; i < N; i++)
		v += ((long double)x[i] - m) * ((long double)x[i] - m) / N;
	run("layer_norm",
	    (struct ls_exact_tensor[]){row_of(x, N), row_of(w, N), row_of(b, N), row_of(y, N),
				       row_of(&mean, 1), row_of(&inverse, 1)},
	    6, &eps, 1);
	assert_true(fabsl(mean - m) <= 1e-7L * m);
	assert_true(fabsl(inverse - 1 / sqrtl(v + 1e-5L)) <= 1e-7L * inverse);
	for (int i = 0; i < N; i++) {
		long double want = ((long double)x[i] - m) / sqrtl(v + 1e-5L) * w[i] + b[i];
		assert_true(fabsl(y[i] - want) <= 3e-6L * (1 + fabsl(want)));
	}
}

static void of_nothing_finite(void **state)
{
	(void)state;
	float x[3] = {-INFINITY, -INFINITY, -INFINITY}, y[3], one;
	run("softmax", (struct ls_exact_tensor[]){row_of(x, 3), row_of(y, 3)}, 2, NULL, 0);
	assert_true(ls_bits_f(y[0]) == LS_NAN_BITS && ls_bits_f(y[2]) == LS_NAN_BITS);
	run("logsumexp", (struct ls_exact_tensor[]){row_of(x, 3), row_of(&one, 1)}, 2, NULL, 0);
	assert_true(one == -INFINITY);
	x[1] = 5;
	run("softmax", (struct ls_exact_tensor[]){row_of(x, 3), row_of(y, 3)}, 2, NULL, 0);
	assert_true(y[0] == 0 && y[1] == 1 && y[2] == 0);
	run("log_softmax", (struct ls_exact_tensor[]){row_of(x, 3), row_of(y, 3)}, 2, NULL, 0);
	assert_true(y[0] == -INFINITY && y[1] == 0);
	x[1] = INFINITY;
	run("logsumexp", (struct ls_exact_tensor[]){row_of(x, 3), row_of(&one, 1)}, 2, NULL, 0);
	assert_true(one == INFINITY);
}

static void beginnings(void **state)
{
	(void)state;
	float x[5] = {1e8f, 1, -1e8f, INFINITY, 3}, y[5];
	run("cumsum", (struct ls_exact_tensor[]){row_of(x, 5), row_of(y, 5)}, 2, NULL, 0);
	assert_true(y[0] == 1e8f && y[1] == 1e8f && y[2] == 1);
	assert_true(y[3] == INFINITY && y[4] == INFINITY);
	x[4] = -INFINITY;
	run("cumsum", (struct ls_exact_tensor[]){row_of(x, 5), row_of(x, 5)}, 2, NULL, 0);
	assert_true(x[2] == 1 && ls_bits_f(x[4]) == LS_NAN_BITS);
}

/* Group norm is layer norm of groups, with a weight for each channel. */
static void groups(void **state)
{
	(void)state;
	enum { SAMPLES = 2, GROUPS = 3, CHANNELS = 2, WIDTH = 5, N = CHANNELS * WIDTH };
	float x[SAMPLES * GROUPS * N], y[SAMPLES * GROUPS * N], z[N], w[GROUPS * CHANNELS], wide[N];
	const double number[] = {1e-5, GROUPS, WIDTH};
	for (int i = 0; i < SAMPLES * GROUPS * N; i++)
		x[i] = value_of(NORMAL, 8, (uint64_t)i);
	for (int i = 0; i < GROUPS * CHANNELS; i++)
		w[i] = value_of(NORMAL, 9, (uint64_t)i);
	struct ls_exact_tensor rows = {
		x, LS_EXACT_F32, 3, {SAMPLES, GROUPS, N}, {GROUPS * N, N, 1}};
	struct ls_exact_tensor out = rows, none = {0};
	out.at = y;
	run("layer_norm", (struct ls_exact_tensor[]){rows, row_of(w, GROUPS * CHANNELS), none, out},
	    4, number, 3);
	for (int row = 0; row < SAMPLES * GROUPS; row++) {
		for (int i = 0; i < N; i++)
			wide[i] = w[row % GROUPS * CHANNELS + i / WIDTH];
		run("layer_norm",
		    (struct ls_exact_tensor[]){row_of(x + row * N, N), row_of(wide, N), none,
					       row_of(z, N)},
		    4, number, 1);
		assert_memory_equal(z, y + row * N, sizeof z);
	}
}

/* --- reductions and maps by name --- */

static struct ls_exact_tensor plane(float *at, int64_t rows, int64_t columns)
{
	return (struct ls_exact_tensor){at, LS_EXACT_F32, 2, {rows, columns}, {columns, 1}};
}

static void reductions(void **state)
{
	(void)state;
	float x[6] = {1, 2, 3, 4, 5, 7}, sums[2], means[3], one, mean;
	int64_t at[3];
	const double unbiased = 1;
	run("sum", (struct ls_exact_tensor[]){plane(x, 2, 3), plane(sums, 2, 1)}, 2, NULL, 0);
	assert_true(sums[0] == 6 && sums[1] == 16);
	run("mean", (struct ls_exact_tensor[]){plane(x, 2, 3), plane(means, 1, 3)}, 2, NULL, 0);
	assert_true(means[0] == 2.5f && means[1] == 3.5f && means[2] == 5);
	run("norm2", (struct ls_exact_tensor[]){plane(x, 2, 3), plane(&one, 1, 1)}, 2, NULL, 0);
	assert_true(one == sqrtf(104));
	x[3] = -9;
	run("norm_inf", (struct ls_exact_tensor[]){plane(x, 2, 3), plane(&one, 1, 1)}, 2, NULL, 0);
	assert_true(one == 9);
	run("amin", (struct ls_exact_tensor[]){plane(x, 2, 3), plane(&one, 1, 1)}, 2, NULL, 0);
	assert_true(one == -9);
	run("argmin",
	    (struct ls_exact_tensor[]){plane(x, 2, 3), {at, LS_EXACT_I64, 2, {1, 3}, {3, 1}}}, 2,
	    NULL, 0);
	assert_true(at[0] == 1 && at[1] == 0 && at[2] == 0);
	run("var",
	    (struct ls_exact_tensor[]){plane(x, 2, 3), plane(sums, 2, 1), plane(means, 2, 1)}, 3,
	    &unbiased, 1);
	assert_true(sums[0] == 1 && means[0] == 2 && sums[1] == 76 && means[1] == 1);
	float y[6] = {1, 2, 3, -9, 5, 6};
	const double divisor = 6;
	run("mse_loss",
	    (struct ls_exact_tensor[]){plane(x, 2, 3), plane(y, 2, 3), plane(&mean, 1, 1)}, 3,
	    &divisor, 1);
	assert_true(mean == 1.0f / 6);
	one = 3;
	struct ls_exact_tensor g = plane(&one, 2, 3);
	g.stride[0] = g.stride[1] = 0;
	run("mse_loss_back",
	    (struct ls_exact_tensor[]){plane(x, 2, 3), plane(y, 2, 3), g, plane(x, 2, 3)}, 4,
	    &divisor, 1);
	assert_true(x[0] == 0 && x[5] == 1);
}

static void batch_norm_is_layer_norm(void **state)
{
	(void)state;
	enum { N = 9, C = 4 };
	float x[N * C], y[N * C], z[N * C], mean[C], inverse[C], turned[N * C], ones[N];
	const double number[] = {1e-5, 0.1};
	for (int i = 0; i < N * C; i++) {
		x[i] = value_of(NORMAL, 3, (uint64_t)i);
		turned[i % C * N + i / C] = x[i];
	}
	for (int i = 0; i < N; i++)
		ones[i] = 1;
	struct ls_exact_tensor m = plane(mean, 1, C), v = plane(inverse, 1, C), none = {0};
	float running_mean[C] = {0}, running_var[C] = {1, 1, 1, 1};
	run("batch_norm_stats",
	    (struct ls_exact_tensor[]){plane(x, N, C), m, v, plane(running_mean, 1, C),
				       plane(running_var, 1, C)},
	    5, number, 2);
	m.size[0] = v.size[0] = N;
	m.stride[0] = v.stride[0] = 0;
	run("batch_norm",
	    (struct ls_exact_tensor[]){plane(x, N, C), m, v, none, none, plane(y, N, C)}, 6, NULL,
	    0);
	run("layer_norm",
	    (struct ls_exact_tensor[]){plane(turned, C, N), row_of(ones, N), none, plane(z, C, N)},
	    4, number, 1);
	for (int i = 0; i < N * C; i++)
		assert_true(ls_bits_f(y[i]) == ls_bits_f(z[i % C * N + i / C]));
	assert_true(running_mean[0] == (float)(0.1 * (double)mean[0]) ||
		    fabsf(running_mean[0] - 0.1f * mean[0]) < 1e-6f);
}

/* --- scatter --- */

/* What arrives in any order, beside the order-free sum of the same elements. */
static void scatter_is_a_sum(void **state)
{
	(void)state;
	enum { N = 400, PLACES = 7, INNER = 3 };
	static float g[N * INNER], out[PLACES * INNER], turned[N * INNER], again[PLACES * INNER];
	int64_t index[N], back[N];
	const double number[] = {2, 0};
	for (int i = 0; i < N * INNER; i++)
		g[i] = value_of(i / INNER % KINDS == NOT_FINITE ? NORMAL : i / INNER % KINDS % 2, 3,
				(uint64_t)i);
	for (int i = 0; i < N; i++) {
		index[i] = ls_philox(4, (uint64_t)i, 0).v[0] % (PLACES - 1);
		back[N - 1 - i] = index[i];
		memcpy(turned + (N - 1 - i) * INNER, g + i * INNER, sizeof *g * INNER);
	}
	struct ls_exact_tensor at = {index, LS_EXACT_I64, 1, {N}, {1}};
	run("embedding_back",
	    (struct ls_exact_tensor[]){plane(g, N, INNER), at, plane(out, PLACES, INNER)}, 3,
	    number, 2);
	at.at = back;
	run("embedding_back",
	    (struct ls_exact_tensor[]){plane(turned, N, INNER), at, plane(again, PLACES, INNER)}, 3,
	    number, 2);
	assert_memory_equal(out, again, sizeof out);
	for (int p = 0; p < PLACES; p++)
		for (int c = 0; c < INNER; c++) {
			float list[N], want;
			int n = 0;
			for (int i = 0; i < N; i++)
				if (index[i] == p && p != 2)
					list[n++] = g[i * INNER + c];
			run("sum", (struct ls_exact_tensor[]){row_of(list, n), row_of(&want, 1)}, 2,
			    NULL, 0);
			assert_true(ls_bits_f(want) == ls_bits_f(out[p * INNER + c]));
		}
}

static void scatter_adds(void **state)
{
	(void)state;
	float self[12], source[20], by_hand[12];
	int64_t index[5] = {1, 0, 1, 1, 0}, each[20];
	for (int i = 0; i < 12; i++)
		by_hand[i] = self[i] = (float)i;
	for (int i = 0; i < 20; i++) {
		source[i] = (float)(i * i);
		each[i] = i / 2 % 3;
		by_hand[i / 10 * 6 + each[i] * 2 + i % 2] += source[i];
	}
	struct ls_exact_tensor s = {self, LS_EXACT_F32, 3, {2, 3, 2}, {6, 2, 1}};
	struct ls_exact_tensor x = {source, LS_EXACT_F32, 3, {2, 5, 2}, {10, 2, 1}}, e = x;
	e.at = each;
	e.type = LS_EXACT_I64;
	run("scatter_add", (struct ls_exact_tensor[]){s, e, x, s}, 4, NULL, 0);
	assert_memory_equal(self, by_hand, sizeof self);
	const double alpha = -2;
	run("index_add", (struct ls_exact_tensor[]){s, {index, LS_EXACT_I64, 1, {5}, {1}}, x, s}, 4,
	    &alpha, 1);
	for (int i = 0; i < 20; i++)
		by_hand[i / 10 * 6 + index[i % 10 / 2] * 2 + i % 2] -= 2 * source[i];
	assert_memory_equal(self, by_hand, sizeof self);
	struct ls_exact_where where = {.device = LS_EXACT_CPU};
	struct ls_err err;
	index[3] = 3;
	assert_int_equal(
		ls_exact_op("index_add",
			    (struct ls_exact_tensor[]){s, {index, LS_EXACT_I64, 1, {5}, {1}}, x, s},
			    4, &alpha, 1, &where, &err),
		LS_EINPUT);
	assert_non_null(strstr(err.msg, "index 3 is 3; there are 3 places"));
	assert_memory_equal(self, by_hand, sizeof self);
}

static void refused(void **state)
{
	(void)state;
	float x[64] = {0};
	struct ls_exact_where where = {.device = LS_EXACT_CPU};
	struct ls_err err;
	struct ls_exact_tensor a = plane(x, 2, 3), b = plane(x + 10, 2, 2);
	assert_int_equal(
		ls_exact_op("sum", (struct ls_exact_tensor[]){a, b}, 2, NULL, 0, &where, &err),
		LS_EINPUT);
	assert_non_null(strstr(err.msg, "tensor out"));
	assert_int_equal(ls_exact_op("argmax", (struct ls_exact_tensor[]){a, plane(x + 10, 2, 1)},
				     2, NULL, 0, &where, &err),
			 LS_EINPUT);
	assert_non_null(strstr(err.msg, "int64"));
	b = plane(x + 10, 0, 3);
	assert_int_equal(ls_exact_op("amax", (struct ls_exact_tensor[]){b, plane(x + 20, 1, 3)}, 2,
				     NULL, 0, &where, &err),
			 LS_EINPUT);
	assert_int_equal(ls_exact_op("softmax", (struct ls_exact_tensor[]){a, plane(x + 10, 3, 2)},
				     2, NULL, 0, &where, &err),
			 LS_EINPUT);
	assert_non_null(strstr(err.msg, "another shape"));
	const double eps = 0;
	assert_int_equal(ls_exact_op("layer_norm",
				     (struct ls_exact_tensor[]){
					     a, plane(x + 30, 1, 2), {0}, plane(x + 10, 2, 3)},
				     4, &eps, 1, &where, &err),
			 LS_EINPUT);
	assert_non_null(strstr(err.msg, "tensor weight has 2 elements, not 3"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation),
		cmocka_unit_test(any_layout),
		cmocka_unit_test(softmax_is_near),
		cmocka_unit_test(norm_is_near),
		cmocka_unit_test(of_nothing_finite),
		cmocka_unit_test(groups),
		cmocka_unit_test(beginnings),
		cmocka_unit_test(reductions),
		cmocka_unit_test(batch_norm_is_layer_norm),
		cmocka_unit_test(scatter_is_a_sum),
		cmocka_unit_test(scatter_adds),
		cmocka_unit_test(refused),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	ls_exact_release();
	return rc;
}
