/* Functions of num/function.h against the C library's: what is asked is that a fit or a
 * reduction is right, to some 2^-40; their bits are pinned by the golden digests of
 * test_exact_ops.
 * labels: isa */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "exact/elem_double.h"
#include "num/philox.h"

/* Floats of every exponent below `most`, both signs. */
static float any_float(uint32_t i, int most)
{
	struct ls_u32x4 r = ls_philox(7, i, 0);
	uint32_t exponent = r.v[0] % (uint32_t)(most + 127);
	return ls_f_bits((r.v[1] & 0x80000000u) | exponent << 23 | (r.v[2] & 0x7fffff));
}

static void near(const char *what, double x, double got, double want, double relative)
{
	double bound = relative * fabs(want) + 0x1p-160;
	if (got == want || fabs(got - want) <= bound || (got != got && want != want))
		return;
	fail_msg("%s(%a): %a, not %a", what, x, got, want);
}

enum { SAMPLES = 40000 };

static void test_functions(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < SAMPLES; i++) {
		float f = any_float(i, 8);
		double x = (double)f;
		near("tanh", x, ls_tanh_d(x), tanh(x), 0x1p-48);
		near("erf", x, ls_erf_d(x), erf(x), 0x1p-38);
		near("expm1", x, ls_expm1_d(x), expm1(x), 0x1p-49);
		if (x > -4)
			near("gelu", x, ls_elem_do_GELU(x, 0, NULL), 0.5 * x * erfc(-x * sqrt(0.5)),
			     0x1p-24);
		near("silu", x, ls_elem_do_SILU(x, 0, NULL), x / (1 + exp(-x)), 0x1p-48);
		double inner = sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x);
		if (x > -2)
			near("gelu_tanh", x, ls_elem_do_GELU_TANH(x, 0, NULL),
			     0.5 * x * (1 + tanh(inner)), 0x1p-44);
	}
}

/* Up to the largest float. Where the result is all but 0, some 2^-62 of a turn is what is
 * left. */
static void test_sine(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < SAMPLES; i++) {
		float f = any_float(i, 127);
		near("sin", (double)f, ls_sin_d(f), sin((double)f), 0x1p-30);
		near("cos", (double)f, ls_cos_d(f), cos((double)f), 0x1p-30);
	}
	assert_true(ls_sin_d(INFINITY) != ls_sin_d(INFINITY));
	assert_true(ls_cos_d(NAN) != ls_cos_d(NAN));
}

static void test_pow(void **state)
{
	(void)state;
	const float special[] = {0.0f, -0.0f,    1.0f,      -1.0f, 0.5f,  -0.5f, 2.0f,
				 3.0f, INFINITY, -INFINITY, NAN,   -2.0f, -3.0f, 1e30f};
	enum { N = sizeof special / sizeof *special };
	for (int i = 0; i < N * N; i++) {
		double x = (double)special[i / N], y = (double)special[i % N], want = pow(x, y);
		double got = ls_pow_d(x, y);
		near("pow", x, (double)(float)got, (double)(float)want, 0);
		if (want == want && !(signbit(got) == signbit(want)))
			fail_msg("pow(%g, %g): the sign is wrong", x, y);
	}
	for (uint32_t i = 0; i < SAMPLES; i++) {
		double x = fabs((double)any_float(i, 20)), y = (double)any_float(i + SAMPLES, 3);
		double want = pow(x, y);
		if (want < 0x1p127 && want > 0x1p-140)
			near("pow", x, ls_pow_d(x, y), want, 0x1p-44);
	}
}

/* beta^step of Adam: glibc's pow is within 0.52 units in the last place, ours within 0.5
 * and very little. */
static void test_whole_power(void **state)
{
	(void)state;
	const double base[] = {0.9, 0.999, 0.95, 0.98, 0.99, 0.8, 0.9999};
	int other = 0;
	for (int i = 0; i < 7; i++)
		for (uint64_t n = 1; n < 3000; n++) {
			double want = pow(base[i], (double)n), got = ls_whole_power(base[i], n);
			if (want < 0x1p-199)
				continue;
			near("whole_power", (double)n, got, want, 0x1p-51);
			other += got != want;
		}
	assert_true(other < 200);
	assert_true(ls_whole_power(0.9, 1) == 0.9);
	assert_true(ls_whole_power(0.9, 1000000) == 0.0);
	assert_true(ls_whole_power(0.0, 3) == 0.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_sine),
		cmocka_unit_test(test_pow),
		cmocka_unit_test(test_whole_power),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
