/* The golden digests of src/num: the same on every machine, with every compiler, at every
 * optimisation level.
 * labels: isa */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../num_golden.h"
#include "base/digest.h"
#include "base/file.h"
#include "num/halve.h"
#include "num/num.h"
#include "num/perm.h"
#include "num/philox.h"
#include "num/sum.h"

enum { STRIDE = 4099, CHUNK = 4096 };

static int digest_is(const char *what, struct ls_sha256 *h, const char *golden)
{
	char hex[LS_SHA256_HEX];
	ls_sha256_final(h, hex);
	if (strcmp(hex, golden) == 0)
		return 1;
	printf("%s: digest %s, golden %s\n", what, hex, golden);
	return 0;
}

static int digest_of_function(int f)
{
	static float out[CHUNK];
	struct ls_sha256 *h = ls_sha256_new();
	for (uint64_t u = 0; u < (uint64_t)1 << 32;) {
		size_t n = 0;
		for (; n < CHUNK && u < (uint64_t)1 << 32; n++, u += STRIDE)
			out[n] = ls_selftest_function(f, ls_f_bits((uint32_t)u));
		ls_sha256_add(h, out, n * sizeof *out);
	}
	return digest_is(num_golden[f].name, h, num_golden[f].sampled);
}

/* The inner functions on their domains, 0 elsewhere: here a single changed rounding
 * shows, which the one rounding to binary32 mostly hides. */
static double inner(int f, double x)
{
	if (!(x == x))
		return 0;
	switch (f) {
	case 0:
		return ls_exp_d(x);
	case 1:
		return x > 0 && x < 0x1p200 ? ls_log_d(x) : 0;
	case 2:
		return x > -1 && x < 0x1p200 ? ls_log1p_d(x) : 0;
	case 3:
		return ls_sigmoid_d(x);
	default:
		return ls_softplus_d(x);
	}
}

static struct ls_sha256 *hash_inner(double (*function)(int, double), int f)
{
	static double out[CHUNK];
	struct ls_sha256 *h = ls_sha256_new();
	for (uint64_t u = 0; u < (uint64_t)1 << 32;) {
		size_t n = 0;
		for (; n < CHUNK && u < (uint64_t)1 << 32; n++, u += STRIDE)
			out[n] = function(f, (double)ls_f_bits((uint32_t)u));
		ls_sha256_add(h, out, n * sizeof *out);
	}
	return h;
}

static void elementary(void **state)
{
	(void)state;
	int ok = 1;
	for (int f = 0; f < NUM_FUNCTIONS; f++) {
		ok &= digest_of_function(f);
		if (num_golden[f].inner)
			ok &= digest_is(num_golden[f].name, hash_inner(inner, f),
					num_golden[f].inner);
	}
	assert_true(ok);
}

/* exp with one mul and add fused where they stand apart */
static double fused(int f, double x)
{
	(void)f;
	if (!(x > LS_EXP_D_MIN && x < LS_EXP_D_MAX))
		return x == x ? ls_exp_d(x) : 0;
	double m = x * LS_LOG2_E + LS_MAGIC, k = m - LS_MAGIC;
	double r = (x - k * LS_LN2_HI) - k * LS_LN2_LO;
	return (1.0 + __builtin_fma(r * r, ls_exp_poly(r), r)) *
	       ls_d_bits((ls_bits_d(m) + 1023) << 52);
}

static void one_fused_operation_is_seen(void **state)
{
	(void)state;
	char hex[LS_SHA256_HEX];
	ls_sha256_final(hash_inner(fused, 0), hex);
	assert_string_not_equal(hex, num_golden[0].inner);
}

/* Close to a standard normal: the eight 16-bit halves added, centred, times what makes
 * the variance 1. */
static float normal(struct ls_u32x4 r)
{
	int32_t sum = 0;
	for (int i = 0; i < 4; i++)
		sum += (int32_t)(r.v[i] & 0xffff) + (int32_t)(r.v[i] >> 16);
	return (float)(2 * sum - 8 * 65535) * 0x1.3988e2p-17f;
}

static float variate(uint64_t i)
{
	return normal(ls_philox(3, i, 0));
}

static struct ls_sha256 *hash_softmax(void)
{
	struct ls_sha256 *h = ls_sha256_new();
	for (uint64_t i = 0; i < 5000; i++) {
		float s[12];
		int n = 1 + (int)(i % 11);
		for (int k = 0; k < n; k++)
			s[k] = variate(i * 16 + (uint64_t)k) * (float)(1 + i % 30);
		s[n] = ls_logsumexpf(s, n);
		ls_softmaxf(s, s, n);
		ls_sha256_add(h, s, ((size_t)n + 1) * sizeof *s);
	}
	return h;
}

static struct ls_sha256 *hash_sums(float (*sum)(const float *, int))
{
	struct ls_sha256 *h = ls_sha256_new();
	for (uint64_t i = 0; i < 4000; i++) {
		float t[LS_HALVE_MAX], s;
		int n = (int)(i % (LS_HALVE_MAX + 1));
		for (int k = 0; k < n; k++)
			t[k] = variate(i << 8 | (uint64_t)k);
		s = sum(t, n);
		ls_sha256_add(h, &s, sizeof s);
	}
	return h;
}

static float halving(const float *t, int n)
{
	return ls_halve_sum(t, n);
}

static float left_to_right(const float *t, int n)
{
	float s = 0;
	for (int i = 0; i < n; i++)
		s += t[i];
	return s;
}

static float order_free(const float *t, int n)
{
	int max = LS_EXP_MIN, p;
	int64_t acc = 0;
	for (int i = 0; i < n; i++)
		max = ls_exp_of(t[i]) > max ? ls_exp_of(t[i]) : max;
	p = ls_sum_grid(max + 1, (uint64_t)n);
	for (int i = 0; i < n; i++)
		acc += ls_sum_term((double)t[i] * ls_pow2(p));
	return ls_sum_float(acc, p);
}

static struct ls_sha256 *hash_random(void)
{
	struct ls_sha256 *h = ls_sha256_new();
	for (uint64_t i = 0; i < 20000; i++) {
		struct ls_u32x4 r = ls_philox(ls_epoch_key(5, 6, i % 7), i, i >> 3);
		float x[3] = {ls_u01f(r.v[0]), ls_symf(r.v[1]), normal(r)};
		ls_sha256_add(h, &r, sizeof r);
		ls_sha256_add(h, x, sizeof x);
	}
	return h;
}

static struct ls_sha256 *hash_permutations(void)
{
	struct ls_sha256 *h = ls_sha256_new();
	for (uint64_t n = 1; n < (uint64_t)1 << 40; n = n * 3 / 2 + 1) {
		struct ls_perm p;
		ls_perm_init(&p, ls_seed_key(n, 1), n);
		for (uint64_t i = 0; i < n && i < 1000; i++) {
			uint64_t j = ls_perm_at(&p, n - 1 - i);
			ls_sha256_add(h, &j, sizeof j);
		}
	}
	return h;
}

static void the_rest(void **state)
{
	(void)state;
	int ok = digest_is("softmax and log-sum-exp", hash_softmax(), NUM_GOLDEN_SOFTMAX);
	ok &= digest_is("halving sum", hash_sums(halving), NUM_GOLDEN_HALVING);
	ok &= digest_is("order-free sum", hash_sums(order_free), NUM_GOLDEN_ORDER_FREE);
	ok &= digest_is("philox and variates", hash_random(), NUM_GOLDEN_RANDOM);
	ok &= digest_is("permutation", hash_permutations(), NUM_GOLDEN_PERMUTATION);
	assert_true(ok);
}

static void another_order_is_seen(void **state)
{
	(void)state;
	char hex[LS_SHA256_HEX];
	ls_sha256_final(hash_sums(left_to_right), hex);
	assert_string_not_equal(hex, NUM_GOLDEN_HALVING);
}

/* docs/NUMERICS.md has the same digests, counts, errors and version. */
static void the_page_agrees(void **state)
{
	(void)state;
	char *page, want[256];
	size_t len;
	assert_int_equal(
		ls_file_read(LS_SOURCE_DIR "/docs/NUMERICS.md", 1 << 20, &page, &len, NULL), 0);
	for (int f = 0; f < NUM_FUNCTIONS; f++) {
		const struct num_golden *g = &num_golden[f];
		snprintf(want, sizeof want, "| `ls_%s%s` |", g->name, g->inner ? "f" : "");
		const char *row = strstr(page, want);
		assert_non_null(row);
		const char *end = strchr(row, '\n'), *digest = strstr(row, g->all);
		snprintf(want, sizeof want, "| %ld | %s ulp |", g->wrong, g->worst);
		const char *count = strstr(row, want);
		assert_true(digest && digest < end && count && count < end);
	}
	snprintf(want, sizeof want, "`numerics %d`", LS_NUMERICS_VERSION);
	assert_non_null(strstr(page, want));
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elementary),      cmocka_unit_test(one_fused_operation_is_seen),
		cmocka_unit_test(the_rest),        cmocka_unit_test(another_order_is_seen),
		cmocka_unit_test(the_page_agrees),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
