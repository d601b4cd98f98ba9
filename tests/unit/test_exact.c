/* The exact product: every instruction set and number of threads against the definition
 * (exact/plain.c), and the definition against sums that are worked out another way.
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

#include "base/digest.h"
#include "base/mem.h"
#include "exact/cpu/threads.h"
#include "exact/grid.h"
#include "exact/product.h"
#include "num/philox.h"

/* of the results of random_shapes: never another one under one numerics version */
#define GOLDEN "cc6d9b535786b072b19a01370fc498bf2a0e3499cf2a833dd159cb7c4592a51e"

/* --- random matrices --- */

enum values { NORMAL, WIDE, EXTREME, TINY, ZEROS, OUTLIER, NOT_FINITE, KINDS };

static float value_of(enum values kind, uint64_t seed, uint64_t i)
{
	struct ls_u32x4 r = ls_philox(seed, i, 0);
	uint32_t sign = r.v[0] & 0x80000000, mantissa = r.v[1] & 0x7fffff;
	float usual = ls_f_bits(sign | (r.v[2] % 4 + 124) << 23 | mantissa);
	switch (kind) {
	case WIDE:
		return ls_f_bits(sign | (r.v[2] % 60 + 100) << 23 | mantissa);
	case EXTREME: /* up to the largest floats, and halves of steps */
		return r.v[3] & 1 ? ls_f_bits(sign | 0x7f7fffff)
				  : ls_f_bits(sign | 0x7f000000 | (mantissa & 0xf));
	case TINY:
		return ls_f_bits(sign | mantissa >> r.v[2] % 23);
	case ZEROS:
		return r.v[3] & 7 ? ls_f_bits(sign) : usual;
	case OUTLIER:
		return r.v[3] % 97 ? usual : usual * 1e6f;
	case NOT_FINITE:
		return r.v[3] % 61 ? usual : ls_f_bits(sign | 0x7f800000 | (r.v[2] % 3 ? 0 : 1));
	default:
		return usual;
	}
}

struct matrix {
	struct ls_exact_matrix m;
	size_t bytes;
};

/* batch × rows × columns, transposed in memory or not, with a gap between rows. */
static struct matrix new_matrix(int64_t batch, int64_t rows, int64_t columns,
				enum ls_exact_type type, bool transposed, enum values kind,
				uint64_t seed)
{
	int64_t line = (transposed ? rows : columns) + 3;
	int64_t lines = transposed ? columns : rows;
	size_t count = (size_t)(batch * lines * line), size = type == LS_EXACT_F32 ? 4 : 2;
	struct matrix x = {{ls_xalloc(count * size + 1), transposed ? 1 : line,
			    transposed ? line : 1, lines * line, type},
			   count * size};
	for (size_t i = 0; i < count; i++) {
		float v = value_of(kind, seed, i);
		uint16_t half =
			type == LS_EXACT_BF16 ? ls_bf16_from((double)v) : ls_f16_from((double)v);
		if (type == LS_EXACT_F32)
			((float *)x.m.at)[i] = v;
		else
			((uint16_t *)x.m.at)[i] = half;
	}
	return x;
}

/* --- products --- */

struct shape {
	int64_t batch, m, n, k;
};

struct trial {
	struct shape size;
	enum ls_exact_type in, out;
	enum values a, b;
	bool ta, tb, tc, with_c, with_bias;
	int bits;
	uint64_t seed;
};

/* digest: NULL, or what gets the result */
static void same_everywhere(const struct trial *t, struct ls_sha256 *digest)
{
	const struct shape *s = &t->size;
	struct matrix a = new_matrix(s->batch, s->m, s->k, t->in, t->ta, t->a, t->seed);
	struct matrix b = new_matrix(s->batch, s->k, s->n, t->in, t->tb, t->b, t->seed + 1);
	struct matrix c = new_matrix(s->batch, s->m, s->n, t->out, t->tc, NORMAL, t->seed + 2);
	struct matrix bias = new_matrix(1, 1, s->n, t->in, false, NORMAL, t->seed + 3);
	struct matrix want = new_matrix(s->batch, s->m, s->n, t->out, t->tc, ZEROS, 1);
	struct matrix got = new_matrix(s->batch, s->m, s->n, t->out, t->tc, ZEROS, 1);
	struct ls_exact_product p = {.batch = s->batch,
				     .m = s->m,
				     .n = s->n,
				     .k = s->k,
				     .a = a.m,
				     .b = b.m,
				     .out = want.m,
				     .bits = t->bits,
				     .alpha = t->with_c ? -0.3f : 1.0f,
				     .beta = 1.7f};
	if (t->with_c)
		p.c = c.m;
	if (t->with_bias) {
		p.bias = bias.m;
		p.bias.row = p.bias.batch = 0;
	}
	assert_int_equal(ls_exact_plain(&p, NULL), 0);
	p.out = got.m;
	for (const char *const *isa = ls_exact_isas(); *isa; isa++)
		for (int threads = 1; threads <= 3; threads += 2) {
			memset(got.m.at, 0x5a, 1);
			assert_int_equal(ls_exact_product(&p, threads, *isa, NULL), 0);
			if (memcmp(got.m.at, want.m.at, want.bytes) != 0)
				fail_msg("%s, %d threads: %lld × %lld × %lld, seed %llu differs "
					 "from the definition",
					 *isa, threads, (long long)s->m, (long long)s->n,
					 (long long)s->k, (unsigned long long)t->seed);
		}
	if (digest)
		ls_sha256_add(digest, want.m.at, want.bytes);
	struct matrix *all[] = {&a, &b, &c, &bias, &want, &got};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]->m.at);
}

static struct trial random_trial(uint64_t seed)
{
	struct ls_u32x4 r = ls_philox(0xe8ac7, seed, 0), q = ls_philox(0xe8ac7, seed, 1);
	return (struct trial){
		.size = {1 + r.v[0] % 3, 1 + r.v[1] % 40, 1 + r.v[2] % 60, 1 + r.v[3] % 150},
		.in = q.v[0] % 3,
		.out = q.v[0] / 3 % 3,
		.a = q.v[1] % KINDS,
		.b = q.v[1] / KINDS % KINDS,
		.ta = q.v[2] & 1,
		.tb = q.v[2] & 2,
		.tc = q.v[2] & 4,
		.with_c = q.v[2] & 8,
		.with_bias = q.v[2] & 16,
		.bits = q.v[2] & 32 ? LS_GRID_FINE : LS_GRID_COARSE,
		.seed = seed * 8,
	};
}

static void random_shapes(void **state)
{
	(void)state;
	struct ls_sha256 *digest = ls_sha256_new();
	char hex[LS_SHA256_HEX];
	for (uint64_t i = 0; i < 60; i++) {
		struct trial t = random_trial(i);
		same_everywhere(&t, digest);
	}
	ls_sha256_final(digest, hex);
	assert_string_equal(hex, GOLDEN);
}

/* --- the definition --- */

/* A sum just beside the middle between two floats goes to the nearer one, however long it
 * is. */
static void beside_the_middle(void **state)
{
	(void)state;
	for (int top = 25; top < 62; top++)
		for (int beside = -1; beside <= 1; beside++) {
			int64_t sum = ((int64_t)1 << top) + ((int64_t)1 << (top - 24)) + beside;
			assert_true((float)ls_grid_value(sum, 3) == ldexpf((float)sum, 3));
			assert_true((float)ls_grid_value(-sum, 3) == ldexpf((float)-sum, 3));
		}
	for (int top = 20; top < 62; top++)
		for (int beside = -1; beside <= 1; beside++) {
			int64_t high =
				((int64_t)1 << top) + (top < 24 ? 0 : (int64_t)1 << (top - 24));
			__int128 sum = ((__int128)high << LS_GRID_SPLIT) + beside;
			assert_true((float)ls_grid_value_wide(high, beside, 3) ==
				    ldexpf((float)sum, 3));
			assert_true((float)ls_grid_value_wide(-high, beside, 3) ==
				    ldexpf((float)(beside - ((__int128)high << LS_GRID_SPLIT)), 3));
		}
}

/* The element by other means: frexp, ldexp, nearbyint, 128-bit integers, and the
 * compiler's conversion of those. */
static float by_other_means(const float *a, const float *b, int64_t k, int bits)
{
	double top_a = 0, top_b = 0;
	for (int64_t i = 0; i < k; i++) {
		/* no fmax: gcc 12 for aarch64 ends with an internal error */
		double x = fabs((double)a[i]), y = fabs((double)b[i]);
		top_a = x > top_a ? x : top_a;
		top_b = y > top_b ? y : top_b;
	}
	int ea, eb;
	frexp(top_a, &ea);
	frexp(top_b, &eb);
	ea = ea < -126 ? -126 : ea;
	eb = eb < -126 ? -126 : eb;
	__int128 sum = 0;
	for (int64_t i = 0; i < k; i++) {
		double x = nearbyint(ldexp((double)a[i], bits - ea));
		double y = nearbyint(ldexp((double)b[i], bits - eb));
		if (bits == LS_GRID_COARSE) {
			x = fmax(-32767, fmin(32767, x));
			y = fmax(-32767, fmin(32767, y));
		}
		sum += (__int128)(int64_t)x * (int64_t)y;
	}
	return ldexpf((float)sum, ea + eb - 2 * bits);
}

static void the_definition(void **state)
{
	(void)state;
	static const int64_t depths[] = {1, 2, 7, 300, (1 << 18) + 5, LS_EXACT_MOST_K};
	for (uint64_t i = 0; i < 6 * 2 * KINDS; i++) {
		int64_t k = depths[i % 6];
		enum values kind = i / 12 % KINDS;
		if (kind == NOT_FINITE || (kind != EXTREME && k > 300))
			continue;
		struct matrix a = new_matrix(1, 1, k, LS_EXACT_F32, false, kind, i);
		struct matrix b = new_matrix(1, 1, k, LS_EXACT_F32, false, kind, i + 1000);
		float out;
		struct ls_exact_product p = {.batch = 1,
					     .m = 1,
					     .n = 1,
					     .k = k,
					     .alpha = 1,
					     .bits = i / 6 % 2 ? LS_GRID_FINE : LS_GRID_COARSE,
					     .a = a.m,
					     .b = {b.m.at, 1, 0, 0, LS_EXACT_F32},
					     .out = {.at = &out, .column = 1}};
		assert_int_equal(ls_exact_plain(&p, NULL), 0);
		float want = by_other_means(a.m.at, b.m.at, k, p.bits);
		bool once =
			want == 0 || fabsf(want) >= 0x1p-126f; /* ldexpf rounds no second time */
		if (once && ls_bits_f(out) != ls_bits_f(want))
			fail_msg("trial %llu, depth %lld: %a, want %a", (unsigned long long)i,
				 (long long)k, (double)out, (double)want);
		free(a.m.at);
		free(b.m.at);
	}
}

/* Every kind of values with every other, on both grids. */
static void adversarial_values(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < KINDS * KINDS * 2; i++) {
		struct trial t = {.size = {1, 19, 26, 140},
				  .a = i % KINDS,
				  .b = i / KINDS % KINDS,
				  .tb = i & 1,
				  .bits = i < KINDS * KINDS ? LS_GRID_FINE : LS_GRID_COARSE,
				  .seed = 1000 + i};
		same_everywhere(&t, NULL);
	}
}

/* So many blocks that threads share them, and sums of one and of two words. */
static void large(void **state)
{
	(void)state;
	struct trial blocks = {.size = {2, 50, 110, 130}, .bits = LS_GRID_FINE, .seed = 77};
	same_everywhere(&blocks, NULL);
	struct trial deep = {.size = {1, 2, 1, (1 << 18) + 77},
			     .a = EXTREME,
			     .b = EXTREME,
			     .tb = true,
			     .bits = LS_GRID_FINE,
			     .seed = 78};
	same_everywhere(&deep, NULL);
	deep.size = (struct shape){1, 1, 1, LS_EXACT_MOST_K};
	same_everywhere(&deep, NULL);
}

/* Nothing to sum is +0, and then c and bias. */
static void empty(void **state)
{
	(void)state;
	struct trial t = {.size = {2, 3, 4, 0}, .bits = LS_GRID_FINE};
	same_everywhere(&t, NULL);
	float out[2] = {7, 7};
	struct ls_exact_product p = {
		.batch = 1, .m = 0, .n = 2, .out = {.at = out, .column = 1}, .bits = LS_GRID_FINE};
	assert_int_equal(ls_exact_product(&p, 1, NULL, NULL), 0);
	assert_true(out[0] == 7 && out[1] == 7);
	p.m = 1;
	assert_int_equal(ls_exact_product(&p, 1, NULL, NULL), 0);
	assert_true(ls_bits_f(out[0]) == 0 && ls_bits_f(out[1]) == 0);
}

/* Whole numbers of less than 22 bits lie on the grid, so that the product is theirs. */
static void whole_numbers(void **state)
{
	(void)state;
	enum { N = 64 };
	float a[N], b[N], out;
	int64_t want = 0;
	for (int i = 0; i < N; i++) {
		struct ls_u32x4 r = ls_philox(5, (uint64_t)i, 0);
		int64_t x = (int64_t)(r.v[0] % 4194305) - 2097152,
			y = (int64_t)(r.v[1] % 4194305) - 2097152;
		a[i] = (float)x;
		b[i] = (float)y;
		want += x * y;
	}
	a[0] = b[0] = 2097152;
	want += (int64_t)2097152 * 2097152 -
		(int64_t)(((ls_philox(5, 0, 0).v[0] % 4194305) - (int64_t)2097152) *
			  ((ls_philox(5, 0, 0).v[1] % 4194305) - (int64_t)2097152));
	struct ls_exact_product p = {.batch = 1,
				     .m = 1,
				     .n = 1,
				     .k = N,
				     .alpha = 1,
				     .bits = LS_GRID_FINE,
				     .a = {.at = a, .column = 1},
				     .b = {.at = b, .row = 1},
				     .out = {.at = &out, .column = 1}};
	assert_int_equal(ls_exact_product(&p, 1, NULL, NULL), 0);
	assert_true(out == (float)want);
}

/* --- conversions to 16 bits --- */

static double next_double(double x, int by)
{
	return ls_d_bits(ls_bits_d(x) + (uint64_t)(int64_t)by);
}

static void narrow(uint16_t (*from)(double), float (*value)(uint16_t), uint16_t infinity)
{
	for (uint16_t h = 0; h < infinity; h++) {
		double low = (double)value(h), high = h + 1 == infinity
							      ? low + (low - (double)value(h - 1))
							      : (double)value(h + 1);
		double middle = (low + high) / 2;
		assert_int_equal(from(low), h);
		assert_int_equal(from(-low), h | 0x8000);
		assert_int_equal(from(middle), h + (h & 1));
		assert_int_equal(from(next_double(middle, -1)), h);
		assert_int_equal(from(next_double(middle, 1)), h + 1);
		assert_int_equal(from(-next_double(middle, 1)), (h + 1) | 0x8000);
	}
	double nan = ls_d_bits(0x7ff8000000000001u);
	assert_int_equal(from(nan), infinity + ((infinity & -infinity) >> 1));
}

static uint16_t to_bf16(double t)
{
	return ls_bf16_from(t);
}

static uint16_t to_f16(double t)
{
	return ls_f16_from(t);
}

static float of_bf16(uint16_t h)
{
	return ls_bf16_value(h);
}

static float of_f16(uint16_t h)
{
	return ls_f16_value(h);
}

static void halves(void **state)
{
	(void)state;
	narrow(to_bf16, of_bf16, 0x7f80);
	narrow(to_f16, of_f16, 0x7c00);
}

static void refused(void **state)
{
	(void)state;
	struct ls_err err;
	struct ls_exact_product p = {
		.batch = 1, .m = 1, .n = 1, .k = LS_EXACT_MOST_K + 1, .bits = LS_GRID_FINE};
	assert_int_equal(ls_exact_product(&p, 1, NULL, &err), LS_EINPUT);
	p.k = 1;
	p.bits = 16;
	assert_int_equal(ls_exact_product(&p, 1, NULL, &err), LS_EINPUT);
	p.bits = LS_GRID_FINE;
	assert_int_equal(ls_exact_product(&p, 1, "mmx", &err), LS_EINPUT);
	p.m = -1;
	assert_int_equal(ls_exact_product(&p, 1, NULL, &err), LS_EINPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_shapes),
		cmocka_unit_test(adversarial_values),
		cmocka_unit_test(large),
		cmocka_unit_test(empty),
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(halves),
		cmocka_unit_test(refused),
		cmocka_unit_test(the_definition),
		cmocka_unit_test(beside_the_middle),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	ls_exact_threads_free();
	return rc;
}
