/* src/num: what the functions promise, and their right answers from MPFR. Golden digests:
 * test_num_golden.c.
 * labels: isa long */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../num_golden.h"
#include "../num_reference.h"
#include "base/digest.h"
#include "base/mem.h"
#include "lockstep.h"
#include "num/elem.h"
#include "num/halve.h"
#include "num/num.h"
#include "num/perm.h"
#include "num/philox.h"
#include "num/sum.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* --- helpers --- */

static uint32_t random_word(uint64_t i)
{
	return ls_philox(0x7e57, i, 0).v[0];
}

/* A finite float, every exponent in [low, high] and both signs. */
static float random_float(uint64_t i, int low, int high)
{
	struct ls_u32x4 r = ls_philox(0x7e58, i, 0);
	uint32_t e = (uint32_t)(low + 127) + r.v[0] % (uint32_t)(high - low + 1);
	return ls_f_bits((r.v[1] & 0x807fffffu) | e << 23);
}

static void expect_bits(const char *what, float x, float y, uint32_t want)
{
	if (ls_bits_f(y) != want)
		fail_msg("%s(%a) = %a (%08x), want %08x", what, (double)x, (double)y, ls_bits_f(y),
			 want);
}

/* --- fma --- */

static void same_fma(float a, float b, float c)
{
	float want = __builtin_fmaf(a, b, c), by_sum = ls_fmaf_by_sum(a, b, c),
	      got = ls_fmaf(a, b, c);
	bool nan = want != want;
	if (nan ? by_sum == by_sum || got == got
		: ls_bits_f(by_sum) != ls_bits_f(want) || ls_bits_f(got) != ls_bits_f(want))
		fail_msg("fma(%a, %a, %a) = %a and %a, want %a", (double)a, (double)b, (double)c,
			 (double)by_sum, (double)got, (double)want);
}

/* Sums that are half way between two floats but for what a binary64 loses: one rounding
 * after another goes wrong. */
static void fma_close_to_half(void **state)
{
	(void)state;
	uint32_t twice_wrong = 0;
	for (uint32_t i = 0; i < 1u << 16; i++) {
		float a = 1.0f + (float)(i & 15) * 0x1p-23f,
		      b = 1.0f - (float)(i >> 4 & 15) * 0x1p-23f;
		float c = 1.0f + (float)(i >> 8 & 7) * 0x1p-23f,
		      scale = ls_f_bits((127u - 20u - (i >> 11 & 7)) << 23);
		for (int sign = 0; sign < 8; sign++) {
			float x = sign & 1 ? -a : a, y = (sign & 2 ? -b : b) * scale,
			      z = sign & 4 ? -c : c;
			same_fma(x, y, z);
			twice_wrong += (float)((double)x * (double)y + (double)z) !=
				       __builtin_fmaf(x, y, z);
		}
	}
	assert_true(twice_wrong > 100);
}

static void fma_of_anything(void **state)
{
	(void)state;
	static const float special[] = {0.0f,
					-0.0f,
					1.0f,
					-1.0f,
					0x1p-149f,
					-0x1p-149f,
					0x1p-126f,
					0x1.fffffep127f,
					-0x1.fffffep127f,
					__builtin_inff(),
					-__builtin_inff(),
					__builtin_nanf("")};
	for (size_t i = 0; i < COUNT(special); i++)
		for (size_t j = 0; j < COUNT(special); j++)
			for (size_t k = 0; k < COUNT(special); k++)
				same_fma(special[i], special[j], special[k]);
	for (uint64_t i = 0; i < 300000; i++) {
		float a = random_float(3 * i, -30, 30), b = random_float(3 * i + 1, -30, 30);
		same_fma(a, b, random_float(3 * i + 2, -70, 70));
		same_fma(a, b, -(a * b));
		same_fma(a * 0x1p-60f, b * 0x1p-60f,
			 random_float(3 * i + 2, -126, -100)); /* where floats are few */
		same_fma(ls_f_bits(random_word(3 * i)), ls_f_bits(random_word(3 * i + 1)),
			 ls_f_bits(random_word(3 * i + 2)));
	}
}

/* --- order-free sum --- */

static void exponents(void **state)
{
	(void)state;
	const struct {
		float x;
		int e;
	} cases[] = {{0, LS_EXP_MIN},
		     {-0.0f, LS_EXP_MIN},
		     {0x1p-127f, LS_EXP_MIN},
		     {0x1p-126f, -126},
		     {1, 0},
		     {-1.5f, 0},
		     {0x1.fffffep0f, 0},
		     {2, 1},
		     {0x1p127f, 127},
		     {-3, 1}};
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(ls_exp_of(cases[i].x), cases[i].e);
	assert_int_equal(ls_exp_of(ls_f_bits(0x7f800000u)), LS_EXP_INF);
	assert_int_equal(ls_exp_of(ls_f_bits(0xffc00001u)), LS_EXP_INF);
	assert_int_equal(ls_log2_ceil(0), 0);
	assert_int_equal(ls_log2_ceil(1), 0);
	assert_int_equal(ls_log2_ceil(UINT64_MAX), 64);
	for (int k = 1; k < 64; k++) {
		assert_int_equal(ls_log2_ceil((uint64_t)1 << k), k);
		assert_int_equal(ls_log2_ceil(((uint64_t)1 << k) + 1), k + 1);
	}
	double power = 0x1p-1022;
	for (int e = LS_POW2_MIN; e <= LS_POW2_MAX; e++) {
		assert_true(ls_pow2(e) == power);
		power *= 2;
	}
	assert_true(ls_pow2(5000) == 0x1p1022 && ls_pow2(-5000) == 0x1p-1022);
}

static void grids(void **state)
{
	(void)state;
	assert_int_equal(ls_sum_grid(0, 1), 51);
	assert_int_equal(ls_sum_grid(0, 1 << 11), 51);
	assert_int_equal(ls_sum_grid(0, (1 << 11) + 1), 50);
	assert_int_equal(ls_sum_grid(10, 1 << 20), 32);
	assert_int_equal(ls_sum_grid(-2000, 1), LS_POW2_MAX);
	assert_int_equal(ls_sum_grid(2000, 1), LS_POW2_MIN);
	/* the largest term there is, as often as promised: below 2^63 by construction */
	for (int k = 0; k <= 40; k++) {
		int p = ls_sum_grid(1, (uint64_t)1 << k);
		int64_t term = ls_sum_term(0x1.fffffffffffffp0 * ls_pow2(p));
		assert_true(term <= (int64_t)1 << 51);
		assert_true((__int128)term << k <= (__int128)1 << 62);
	}
}

static void terms_round_to_even(void **state)
{
	(void)state;
	const struct {
		double x;
		int64_t n;
	} cases[] = {{0, 0},
		     {-0.0, 0},
		     {0.5, 0},
		     {1.5, 2},
		     {2.5, 2},
		     {-0.5, 0},
		     {-1.5, -2},
		     {-2.5, -2},
		     {0.5000000000000001, 1},
		     {0x1p-1074, 0},
		     {2251799813685247.5, 2251799813685248},
		     {2251799813685248.0, 2251799813685248},
		     {-2251799813685247.5, -2251799813685248},
		     {-2251799813685248.0, -2251799813685248}};
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_true(ls_sum_term(cases[i].x) == cases[i].n);
	assert_true(ls_sum_value(3, 1) == 1.5);
	assert_true(ls_sum_float(-(1 << 30) - 1, 30) == -1.0f);
}

enum { TERMS = 5000 };

struct products {
	float a[TERMS], b[TERMS];
	int p;
};

static void products_init(struct products *t, uint64_t seed, int spread)
{
	int max_a = LS_EXP_MIN, max_b = LS_EXP_MIN;
	for (int i = 0; i < TERMS; i++) {
		t->a[i] = random_float(seed + 2 * (uint64_t)i, -spread, spread);
		t->b[i] = random_float(seed + 2 * (uint64_t)i + 1, -3, 9);
		max_a = ls_exp_of(t->a[i]) > max_a ? ls_exp_of(t->a[i]) : max_a;
		max_b = ls_exp_of(t->b[i]) > max_b ? ls_exp_of(t->b[i]) : max_b;
	}
	t->p = ls_sum_grid(max_a + 1 + max_b + 1, TERMS);
}

static int64_t product_term(const struct products *t, uint64_t i)
{
	return ls_sum_term((double)t->a[i] * (double)t->b[i] * ls_pow2(t->p));
}

/* mantissa(a) * mantissa(b) * 2^shift rounded half to even, by integers alone */
static __int128 exact_term(float a, float b, int p)
{
	uint32_t ua = ls_bits_f(a), ub = ls_bits_f(b);
	int64_t m = (int64_t)((ua & 0x7fffff) | 0x800000) * (int64_t)((ub & 0x7fffff) | 0x800000);
	int shift = ls_exp_of(a) + ls_exp_of(b) - 46 + p;
	__int128 n;
	if (shift >= 0) {
		n = (__int128)m << shift;
	} else if (shift < -60) {
		n = 0;
	} else {
		int64_t half = (int64_t)1 << (-shift - 1), rest = m & (2 * half - 1);
		n = m >> -shift;
		n += rest > half || (rest == half && (n & 1));
	}
	return (ua ^ ub) >> 31 ? -n : n;
}

static void sum_is_exact_on_its_grid(void **state)
{
	(void)state;
	static struct products t;
	for (uint64_t round = 0; round < 8; round++) {
		products_init(&t, round << 20, 1 + (int)round * 8);
		__int128 want = 0;
		int64_t got = 0;
		for (uint64_t i = 0; i < TERMS; i++) {
			__int128 one = exact_term(t.a[i], t.b[i], t.p);
			assert_true(product_term(&t, i) == (int64_t)one);
			want += one;
			got += product_term(&t, i);
		}
		assert_true((__int128)got == want);
	}
}

static void sum_has_no_order(void **state)
{
	(void)state;
	static struct products t;
	products_init(&t, 99, 20);
	int64_t want = 0;
	for (uint64_t i = 0; i < TERMS; i++)
		want += product_term(&t, i);
	for (uint64_t key = 0; key < 20; key++) { /* any order, split into any parts */
		uint64_t part[7] = {0}, total = 0;
		for (uint64_t i = 0; i < TERMS; i++)
			part[random_word(i ^ key << 32) % 7] +=
				(uint64_t)product_term(&t, ls_perm(key, TERMS, i));
		for (int k = 0; k < 7; k++)
			total += part[k];
		assert_true((int64_t)total == want);
	}
	uint64_t raw = 0; /* the form for vector loops */
	for (int i = 0; i < TERMS; i++)
		raw += ls_bits_d((double)t.a[i] * (double)t.b[i] * ls_pow2(t.p) + LS_MAGIC);
	assert_true((int64_t)(raw - TERMS * LS_MAGIC_BITS) == want);
	float forward = 0, backward = 0; /* what a sum of floats does instead */
	for (int i = 0; i < TERMS; i++) {
		forward += t.a[i] * t.b[i];
		backward += t.a[TERMS - 1 - i] * t.b[TERMS - 1 - i];
	}
	assert_true(forward != backward);
}

struct share {
	const struct products *t;
	uint64_t from, to;
	int64_t *acc;
};

static void *add_share(void *arg)
{
	const struct share *s = arg;
	for (uint64_t i = s->from; i < s->to; i++)
		__atomic_fetch_add(s->acc, product_term(s->t, i), __ATOMIC_RELAXED);
	return NULL;
}

static void sum_over_threads(void **state)
{
	(void)state;
	static struct products t;
	products_init(&t, 1234567, 20);
	int64_t want = 0;
	for (uint64_t i = 0; i < TERMS; i++)
		want += product_term(&t, i);
	for (uint64_t n = 1; n <= 7; n++) {
		pthread_t thread[7];
		struct share share[7];
		int64_t acc = 0;
		for (uint64_t k = 0; k < n; k++) {
			share[k] = (struct share){&t, TERMS * k / n, TERMS * (k + 1) / n, &acc};
			assert_int_equal(pthread_create(&thread[k], NULL, add_share, &share[k]), 0);
		}
		for (uint64_t k = 0; k < n; k++)
			pthread_join(thread[k], NULL);
		assert_true(acc == want);
	}
}

/* --- halving sum --- */

static float padded_halving(const float *t, int n)
{
	float a[LS_HALVE_MAX] = {0};
	int width = 1;
	while (width < n)
		width *= 2;
	memcpy(a, t, (size_t)n * sizeof *t);
	for (int h = width / 2; h >= 1; h /= 2)
		for (int i = 0; i < h; i++)
			a[i] += a[i + h];
	return a[0];
}

static void halving_order(void **state)
{
	(void)state;
	float t[LS_HALVE_MAX];
	int differs = 0;
	for (int i = 0; i < LS_HALVE_MAX; i++)
		t[i] = random_float((uint64_t)i, -12, 12);
	for (int n = 0; n <= LS_HALVE_MAX; n++) {
		float in_order = 0;
		for (int i = 0; i < n; i++)
			in_order += t[i];
		expect_bits("halving", (float)n, ls_halve_sum(t, n),
			    ls_bits_f(padded_halving(t, n)));
		differs += in_order != ls_halve_sum(t, n);
	}
	assert_true(differs > 100); /* the order is visible: another one would be caught */
	expect_bits("halving of 8", 8, ls_halve_sum(t, 8), ls_bits_f(padded_halving(t, 8)));
	expect_bits("halving of 16", 16, ls_halve_sum(t, 16), ls_bits_f(padded_halving(t, 16)));
	const float zeros[3] = {-0.0f, -0.0f, -0.0f};
	expect_bits("-0 alone", 1, ls_halve_sum(zeros, 1), 0x80000000u);
	expect_bits("-0 padded", 3, ls_halve_sum(zeros, 3), ls_bits_f(padded_halving(zeros, 3)));
}

/* --- elementary functions --- */

static void special_values(void **state)
{
	(void)state;
	enum {
		INF = 0x7f800000,
		MINUS_INF = (int)0xff800000,
		ONE = 0x3f800000,
		HALF = 0x3f000000,
		NO = LS_NAN_BITS
	};
	const uint32_t in[] = {0,          0x80000000, 0x7f800000, 0xff800000,
			       0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff};
	const uint32_t want[5][8] = {
		{ONE, ONE, INF, 0, NO, NO, NO, NO},                                  /* exp */
		{(uint32_t)MINUS_INF, (uint32_t)MINUS_INF, INF, NO, NO, NO, NO, NO}, /* log */
		{0, 0x80000000, INF, NO, NO, NO, NO, NO},                            /* log1p */
		{HALF, HALF, ONE, 0, NO, NO, NO, NO},                                /* sigmoid */
		{0x3f317218, 0x3f317218, INF, 0, NO, NO, NO, NO}, /* softplus: log 2 */
	};
	for (int f = 0; f < 5; f++)
		for (size_t i = 0; i < COUNT(in); i++)
			expect_bits(num_golden[f].name, ls_f_bits(in[i]),
				    ls_selftest_function(f, ls_f_bits(in[i])), want[f][i]);
	expect_bits("log1p", -1, ls_log1pf(-1), (uint32_t)MINUS_INF);
	expect_bits("log1p", -1.0000001f, ls_log1pf(-1.0000001f), NO);
	expect_bits("log", -0x1p-149f, ls_logf(-0x1p-149f), NO);
	expect_bits("exp", 89, ls_expf(89), INF);
	expect_bits("exp", -103.97f, ls_expf(-103.97f), 1); /* gradual underflow */
	expect_bits("exp", -103.98f, ls_expf(-103.98f), 0);
	expect_bits("sigmoid", -103.97f, ls_sigmoidf(-103.97f), 1);
	expect_bits("softplus", -103.97f, ls_softplusf(-103.97f), 1);
	expect_bits("log1p", 0x1p-149f, ls_log1pf(0x1p-149f), 1);
	expect_bits("log1p", -0x1p-149f, ls_log1pf(-0x1p-149f), 0x80000001u);
}

/* The inputs around which range reduction and results change: thresholds and every power
 * of two. */
static float near_input(uint32_t i)
{
	static const float around[] = {1,           -1,         0.5f,        2,
				       0.70710677f, 1.4142135f, 0.34657359f, 88.7228f,
				       -87.33654f,  -103.9720f, 0.41421354f, -0.29289323f,
				       16.635532f,  0.6931472f};
	uint32_t which = i / 64, step = i % 64;
	if (which < COUNT(around))
		return ls_f_bits(ls_bits_f(around[which]) + step - 32);
	which -= (uint32_t)COUNT(around);
	return ls_f_bits((which << 23) + step - 32); /* wraps: both signs, all exponents */
}

struct sample {
	struct reference r;
	struct ls_sha256 *results;
	bool by_digest;
};

static void expect_right(struct sample *s, int f, float x)
{
	float y = ls_selftest_function(f, x);
	ls_sha256_add(s->results, &y, sizeof y);
	if (s->by_digest)
		return;
	float want = reference_float(&s->r, f, x);
	uint32_t bits = want == want ? ls_bits_f(want) : LS_NAN_BITS;
	expect_bits(num_golden[f].name, x, y, bits);
}

/* With LS_NUM_BY_DIGEST the digest alone speaks, of the results that other builds ask
 * MPFR about: under emulation it takes 15 s. */
static void correctly_rounded_on_a_sample(void **state)
{
	(void)state;
	struct sample s = {.results = ls_sha256_new(), .by_digest = getenv("LS_NUM_BY_DIGEST")};
	char hex[LS_SHA256_HEX];
	reference_init(&s.r);
	for (int f = 0; f < 5; f++) {
		for (uint64_t u = 0; u < (uint64_t)1 << 32; u += 524309)
			expect_right(&s, f, ls_f_bits((uint32_t)u));
		for (uint32_t i = 0; i < (14 + 512) * 64; i += 5)
			expect_right(&s, f, near_input(i));
		for (uint64_t i = 0; i < 4096;
		     i++) /* where most results are neither 0, 1 nor infinite */
			expect_right(&s, f, random_float(i, -20, 6));
	}
	reference_done(&s.r);
	mpfr_free_cache();
	ls_sha256_final(s.results, hex);
	assert_string_equal(hex, NUM_GOLDEN_SAMPLE);
}

static void softmax_and_logsumexp(void **state)
{
	(void)state;
	const float inf = ls_f_bits(0x7f800000u), nan = ls_f_bits(0xffc00123u);
	float p[3] = {1000, 1000, 1000};
	ls_softmaxf(p, p, 3); /* in place, and nothing overflows */
	for (int i = 0; i < 3; i++)
		assert_true(p[i] == 0x1.555556p-2f);
	ls_softmaxf((const float[]){0, -inf, -1000}, p, 3);
	assert_true(p[0] == 1 && p[1] == 0 && p[2] == 0);
	const float bad[][3] = {
		{0, nan, 1}, {nan, 0, 1}, {0, 1, nan}, {inf, 0, 1}, {-inf, -inf, -inf}};
	for (size_t i = 0; i < COUNT(bad); i++) {
		ls_softmaxf(bad[i], p, 3);
		for (int k = 0; k < 3; k++)
			expect_bits("softmax", (float)i, p[k], LS_NAN_BITS);
	}
	expect_bits("logsumexp", 0, ls_logsumexpf(bad[0], 3), LS_NAN_BITS);
	expect_bits("logsumexp", 3, ls_logsumexpf(bad[3], 3), 0x7f800000u);
	expect_bits("logsumexp", 4, ls_logsumexpf(bad[4], 3), 0xff800000u);
	expect_bits("logsumexp of none", 0, ls_logsumexpf(bad[0], 0), 0xff800000u);
	assert_true(ls_logsumexpf((const float[]){1000, 1000}, 2) == 1000.6931471805599f);
	assert_true(ls_logsumexpf((const float[]){-3.25f}, 1) == -3.25f);
	ls_softmaxf(p, p, 0);
}

/* How far p is from e^score / sum, in units in the last place of the right answer, which
 * are never below 2^-149. */
static double softmax_error(struct reference *r, float score, float max, const mpfr_t sum, float p)
{
	mpfr_set_flt(r->x, score, MPFR_RNDN);
	mpfr_set_flt(r->t, max, MPFR_RNDN);
	mpfr_sub(r->x, r->x, r->t, MPFR_RNDN);
	mpfr_exp(r->y, r->x, MPFR_RNDN);
	mpfr_div(r->y, r->y, sum, MPFR_RNDN);
	mpfr_exp_t e = mpfr_get_exp(r->y) - 24; /* y is in [1/2, 1) times 2^its exponent */
	mpfr_set_flt(r->t, p, MPFR_RNDN);
	mpfr_sub(r->t, r->t, r->y, MPFR_RNDN);
	mpfr_mul_2si(r->t, r->t, -(e < -149 ? -149 : e), MPFR_RNDN);
	mpfr_abs(r->t, r->t, MPFR_RNDN);
	return mpfr_get_d(r->t, MPFR_RNDU);
}

/* Random scores in sets of 1 to 4096, of every spread: from such that differ in their
 * last bits to such of which one takes all. The bound is in docs/NUMERICS.md, with what
 * was measured. */
static void softmax_is_accurate(void **state)
{
	(void)state;
	static const int sizes[] = {1, 2, 3, 4, 7, 16, 20, 100, 1000, 4096};
	float score[4096], p[4096];
	double worst = 0;
	uint64_t wrong = 0;
	struct reference r;
	mpfr_t sum;
	reference_init(&r);
	mpfr_init2(sum, 160);
	bool brief = getenv("LS_NUM_BY_DIGEST");
	for (uint64_t set = 0; set < (brief ? 60 : 300); set++) {
		int n = sizes[set % COUNT(sizes)], spread = (int)(set / COUNT(sizes)) % 10 - 3;
		for (int i = 0; i < n; i++)
			score[i] = ls_symf(ls_philox(0x50f7, set, (uint64_t)i).v[0]) *
				   ls_f_bits((uint32_t)(127 + spread) << 23);
		ls_softmaxf(score, p, n);
		float max = ls_max_score(score, n);
		mpfr_set_zero(sum, 1);
		for (int i = 0; i < n; i++) {
			mpfr_set_flt(r.x, score[i], MPFR_RNDN);
			mpfr_set_flt(r.t, max, MPFR_RNDN);
			mpfr_sub(r.x, r.x, r.t, MPFR_RNDN);
			mpfr_exp(r.y, r.x, MPFR_RNDN);
			mpfr_add(sum, sum, r.y, MPFR_RNDN);
		}
		for (int i = 0; i < n; i++) {
			double error = softmax_error(&r, score[i], max, sum, p[i]);
			worst = error > worst ? error : worst;
			wrong += error > 0.5;
		}
	}
	mpfr_clear(sum);
	reference_done(&r);
	mpfr_free_cache();
	if (!(worst <= 0.50001))
		fail_msg("softmax is %.9f units off, at most", worst);
	assert_int_equal(wrong, 0); /* of these sets */
}

/* --- randomness --- */

static void philox_known_answers(void **state)
{
	(void)state;
	/* published with Random123: counter, key, result */
	const struct {
		uint64_t lo, hi, key;
		uint32_t want[4];
	} cases[] = {
		{0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{UINT64_MAX,
		 UINT64_MAX,
		 UINT64_MAX,
		 {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{0x85a308d3243f6a88,
		 0x0370734413198a2e,
		 0x299f31d0a4093822,
		 {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct ls_u32x4 r = ls_philox(cases[i].key, cases[i].lo, cases[i].hi);
		assert_memory_equal(r.v, cases[i].want, sizeof r.v);
	}
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static void keys_are_distinct(void **state)
{
	(void)state;
	enum { N = 20 * 20 * 20 };
	uint64_t *key = ls_xalloc((N + 400) * sizeof *key), n = 0;
	for (uint64_t seed = 0; seed < 20; seed++)
		for (uint32_t purpose = 0; purpose < 20; purpose++) {
			key[n++] = ls_seed_key(seed, purpose);
			for (uint64_t epoch = 0; epoch < 20; epoch++)
				key[n++] = ls_epoch_key(seed, purpose, epoch);
		}
	qsort(key, n, sizeof *key, by_value);
	for (uint64_t i = 1; i < n; i++)
		assert_true(key[i] != key[i - 1]);
	free(key);
}

static void variates(void **state)
{
	(void)state;
	assert_true(ls_u01f(0) == 0x1p-24f && ls_u01f(UINT32_MAX) == 1 - 0x1p-24f);
	assert_true(ls_symf(0) == -1 + 0x1p-23f && ls_symf(UINT32_MAX) == 1 - 0x1p-23f);
	enum { N = 100000 };
	double mean = 0, square = 0, uniform = 0;
	for (uint64_t i = 0; i < N; i++) {
		struct ls_u32x4 r = ls_philox(ls_seed_key(1, 2), i, 0);
		double x = (double)ls_symf(r.v[0]);
		assert_true(ls_symf(r.v[1]) == -ls_symf(~r.v[1]));
		assert_true(ls_u01f(r.v[2]) == 1 - ls_u01f(~r.v[2]));
		mean += x;
		square += x * x;
		uniform += (double)ls_u01f(r.v[3]);
	}
	/* five standard deviations of each; of the squares of what is uniform in (-1, 1)
	 * the mean is 1/3 */
	assert_true(mean / N > -0.0092 && mean / N < 0.0092);
	assert_true(square / N > 0.3286 && square / N < 0.3381);
	assert_true(uniform / N > 0.4954 && uniform / N < 0.5046);
}

static void expect_bijection(uint64_t key, uint64_t n)
{
	uint8_t *seen = ls_xalloc(n);
	struct ls_perm p;
	ls_perm_init(&p, key, n);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t j = ls_perm_at(&p, i);
		if (j >= n || seen[j])
			fail_msg("n = %llu: %llu is taken twice or out of range",
				 (unsigned long long)n, (unsigned long long)j);
		seen[j] = 1;
	}
	assert_true(ls_perm(key, n, n / 2) == ls_perm_at(&p, n / 2));
	free(seen);
}

static void permutation_is_a_bijection(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 300; n++)
		expect_bijection(ls_epoch_key(7, 1, n), n);
	for (uint64_t k = 9; k <= 16; k++)
		for (uint64_t n = ((uint64_t)1 << k) - 1; n <= ((uint64_t)1 << k) + 1; n++)
			expect_bijection(n, n);
	expect_bijection(5, 99991);
}

/* At sizes that cannot be enumerated: in range, no two alike, and not in order. */
static void permutation_of_many(void **state)
{
	(void)state;
	enum { N = 4096 };
	static uint64_t at[N];
	const uint64_t sizes[] = {45840617, (uint64_t)1 << 32, ((uint64_t)1 << 39) + 1,
				  (uint64_t)1 << 40};
	for (size_t s = 0; s < COUNT(sizes); s++) {
		int falls = 0;
		for (uint64_t i = 0; i < N; i++) {
			at[i] = ls_perm(11, sizes[s], i);
			assert_true(at[i] < sizes[s]);
			falls += i > 0 && at[i] < at[i - 1];
		}
		assert_true(falls > N / 2 - 160 &&
			    falls < N / 2 + 160); /* half, give or take eight deviations */
		qsort(at, N, sizeof *at, by_value);
		for (int i = 1; i < N; i++)
			assert_true(at[i] != at[i - 1]);
	}
}

/* All 120 orders of 5 things, about equally often over the epochs. */
static void small_permutations_are_even(void **state)
{
	(void)state;
	static int count[3125];
	enum { EACH = 500, EPOCHS = 120 * EACH };
	int seen = 0;
	double chi = 0;
	for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
		struct ls_perm p;
		uint64_t code = 0;
		ls_perm_init(&p, ls_epoch_key(1, 2, epoch), 5);
		for (uint64_t i = 0; i < 5; i++)
			code = code * 5 + ls_perm_at(&p, i);
		count[code]++;
	}
	for (int i = 0; i < 3125; i++) {
		double off = count[i] - EACH;
		seen += count[i] > 0;
		chi += count[i] > 0 ? off * off / EACH : 0;
	}
	assert_int_equal(seen, 120);
	assert_true(chi < 200); /* 119 degrees of freedom: 1e-5 */
}

/* --- version and environment --- */

static float tiny_product(void)
{
	volatile float a = 0x1p-100f, b = 0x1p-40f;
	return a * b;
}

static void flush_to_zero_is_undone(void **state)
{
	(void)state;
#if defined(__x86_64__)
	const uint64_t flush = 0x9fc0; /* flush to zero, denormals are zero, exceptions masked */
#else
	const uint64_t flush = (uint64_t)1 << 24;
#endif
	uint64_t before = ls_fp_enter();
	ls_fp_leave(flush);
	assert_true(tiny_product() == 0); /* what a library loaded earlier may have done */
	uint64_t found = ls_fp_enter();
	assert_true((found & flush) == flush); /* x86 keeps exception flags beside it */
	assert_true(tiny_product() == 0x1p-140f);
	ls_fp_leave(found);
	assert_true(tiny_product() == 0);
	ls_fp_leave(before);
}

static void version_is_public(void **state)
{
	(void)state;
	assert_int_equal(ls_numerics_version(), LS_NUMERICS_VERSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fma_close_to_half),
		cmocka_unit_test(fma_of_anything),
		cmocka_unit_test(exponents),
		cmocka_unit_test(grids),
		cmocka_unit_test(terms_round_to_even),
		cmocka_unit_test(sum_is_exact_on_its_grid),
		cmocka_unit_test(sum_has_no_order),
		cmocka_unit_test(sum_over_threads),
		cmocka_unit_test(halving_order),
		cmocka_unit_test(special_values),
		cmocka_unit_test(correctly_rounded_on_a_sample),
		cmocka_unit_test(softmax_and_logsumexp),
		cmocka_unit_test(softmax_is_accurate),
		cmocka_unit_test(philox_known_answers),
		cmocka_unit_test(keys_are_distinct),
		cmocka_unit_test(variates),
		cmocka_unit_test(permutation_is_a_bijection),
		cmocka_unit_test(permutation_of_many),
		cmocka_unit_test(small_permutations_are_even),
		cmocka_unit_test(flush_to_zero_is_undone),
		cmocka_unit_test(version_is_public),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
