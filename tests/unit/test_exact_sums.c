/* Sums and statistics: every instruction set, number of threads and layout gives the same
 * bits, and these are those of the definition, worked out another way.
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
#include "exact/product.h"
#include "exact/reduce_plan.h"
#include "num/philox.h"

/* of the results of every_kind: never another one under one numerics version */
#define GOLDEN "5a21cdc8b506a0ce998936add4188354d3144616f4331f1293e68110b391c333"

enum values { NORMAL, WIDE, EXTREME, TINY, ZEROS, OUTLIER, CANCEL, NOT_FINITE, KINDS };

static float value_of(int kind, uint64_t seed, uint64_t i)
{
	struct ls_u32x4 r = ls_philox(seed, i, 0);
	uint32_t sign = r.v[0] & 0x80000000, mantissa = r.v[1] & 0x7fffff;
	float usual = ls_f_bits(sign | (r.v[2] % 4 + 124) << 23 | mantissa);
	switch (kind) {
	case WIDE:
		return ls_f_bits(sign | (r.v[2] % 60 + 100) << 23 | mantissa);
	case EXTREME:
		return ls_f_bits(sign | (r.v[3] & 1 ? 0x7f7fffff : 0x7f000000 | (mantissa & 15)));
	case TINY:
		return ls_f_bits(sign | mantissa >> r.v[2] % 23);
	case ZEROS:
		return r.v[3] & 7 ? ls_f_bits(sign) : usual;
	case OUTLIER:
		return r.v[3] % 97 ? usual : usual * 1e6f;
	case CANCEL: /* pairs that are each other's negative, and a little */
		return i & 1 ? -value_of(WIDE, seed, i - 1) : value_of(WIDE, seed, i);
	case NOT_FINITE:
		return r.v[3] % 61 ? usual : ls_f_bits(sign | 0x7f800000 | (r.v[2] % 3 == 0));
	default:
		return usual;
	}
}

static float *new_values(int64_t n, int kind, uint64_t seed)
{
	float *x = ls_xalloc(sizeof *x * (size_t)(n + 1));
	for (int64_t i = 0; i < n; i++)
		x[i] = value_of(kind, seed, (uint64_t)i);
	return x;
}

/* --- a reduction of a matrix, over its columns or over its rows --- */

struct matrix {
	int64_t rows, columns;
	bool transposed; /* in memory */
};

static struct ls_reduce_in operand(const void *at)
{
	return (struct ls_reduce_in){.at = at};
}

static void plan(struct ls_reduce *r, struct matrix m, int operands, bool over_rows)
{
	struct ls_reduce_axis axes[2] = {{.size = m.rows, .reduced = over_rows},
					 {.size = m.columns, .reduced = !over_rows}};
	for (int k = 0; k < operands; k++) {
		axes[0].in[k] = m.transposed ? 1 : m.columns;
		axes[1].in[k] = m.transposed ? m.rows : 1;
	}
	for (int k = 0; k < LS_REDUCE_OUTS; k++)
		axes[over_rows].out[k] = 1;
	assert_int_equal(ls_reduce_plan(r, axes, 2, NULL), 0);
}

/* --- the sum by other means --- */

static float sum_by_other_means(const float *x, int64_t n)
{
	int top = -1074, e;
	__int128 sum = 0;
	for (int64_t i = 0; i < n; i++) {
		frexp((double)x[i], &e);
		top = x[i] != 0 && e > top ? e : top;
	}
	int lg = 0;
	while ((int64_t)1 << lg < n)
		lg++;
	int p = (62 - lg < 51 ? 62 - lg : 51) - top;
	for (int64_t i = 0; i < n; i++)
		sum += (int64_t)nearbyint(ldexp((double)x[i], p));
	return ldexpf((float)sum, -p);
}

static float sum_of(const float *x, int64_t n, int threads)
{
	float out;
	struct ls_reduce r = {.kind = LS_TERM_SUM, .in = {operand(x)}, .out = {{.at = &out}}};
	plan(&r, (struct matrix){1, n, false}, 1, false);
	assert_int_equal(ls_reduce_cpu(&r, threads, NULL, NULL), 0);
	return out;
}

static void the_definition(void **state)
{
	(void)state;
	static const int64_t sizes[] = {1, 2, 3, 255, 257, 2049, 70000};
	for (uint64_t i = 0; i < 7 * (KINDS - 1); i++) {
		int64_t n = sizes[i % 7];
		int kind = (int)(i / 7);
		float *x = new_values(n, kind, 10 + i);
		float got = sum_of(x, n, 3), want = sum_by_other_means(x, n);
		/* ldexpf rounds no second time where the result is normal */
		if ((want == 0 || fabsf(want) >= 0x1p-126f) && ls_bits_f(got) != ls_bits_f(want))
			fail_msg("kind %d, %lld terms: %a, want %a", kind, (long long)n,
				 (double)got, (double)want);
		free(x);
	}
}

static void no_order(void **state)
{
	(void)state;
	enum { N = 5000 };
	for (int kind = 0; kind < KINDS; kind++) {
		float *x = new_values(N, kind, 3), want = sum_of(x, N, 1);
		for (uint64_t i = N - 1; i > 0; i--) {
			uint64_t k = ls_philox(9, i, 0).v[0] % (i + 1);
			float t = x[i];
			x[i] = x[k];
			x[k] = t;
		}
		assert_true(ls_bits_f(sum_of(x, N, 2)) == ls_bits_f(want));
		free(x);
	}
}

static void not_finite(void **state)
{
	(void)state;
	const float inf = INFINITY;
	assert_true(sum_of((float[]){1, inf, 2}, 3, 1) == inf);
	assert_true(sum_of((float[]){1, -inf, 2}, 3, 1) == -inf);
	assert_true(ls_bits_f(sum_of((float[]){1, -inf, inf}, 3, 1)) == LS_NAN_BITS);
	assert_true(ls_bits_f(sum_of((float[]){1, ls_f_bits(0xffc01234), 2}, 3, 1)) == LS_NAN_BITS);
	assert_true(sum_of((float[]){0x1.fffffep127f, 0x1.fffffep127f, -0x1.fffffep127f}, 3, 1) ==
		    0x1.fffffep127f);
	assert_true(sum_of((float[]){0x1.fffffep127f, 0x1.fffffep127f}, 2, 1) == inf);
	assert_true(ls_bits_f(sum_of(NULL, 0, 1)) == 0);
}

/* --- every kind, everywhere --- */

static void run_one(struct ls_reduce *r, struct matrix m, float **x, bool over_rows, int threads,
		    const char *isa, float out[LS_REDUCE_OUTS][80])
{
	int operands = ls_term_operands(r->kind);
	memset(out, 0, sizeof(float) * LS_REDUCE_OUTS * 80);
	for (int k = 0; k < LS_REDUCE_OUTS; k++)
		r->out[k] = (struct ls_reduce_out){.at = out[k]};
	for (int k = 0; k < operands; k++)
		r->in[k] = operand(x[k]);
	plan(r, m, operands, over_rows);
	assert_int_equal(ls_reduce_cpu(r, threads, isa, NULL), 0);
}

static void transpose(const float *x, int64_t rows, int64_t columns, float *ret)
{
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < columns; j++)
			ret[j * rows + i] = x[i * columns + j];
}

static void same_everywhere(const struct ls_reduce *given, int64_t rows, int64_t columns, int kind,
			    bool over_rows, struct ls_sha256 *digest)
{
	float *x[LS_TERM_OPERANDS], *y[LS_TERM_OPERANDS];
	float want[LS_REDUCE_OUTS][80], got[LS_REDUCE_OUTS][80];
	struct ls_reduce r = *given;
	for (int k = 0; k < LS_TERM_OPERANDS; k++) {
		x[k] = new_values(rows * columns, kind, 50 + (uint64_t)k);
		y[k] = new_values(rows * columns, kind, 0);
		transpose(x[k], rows, columns, y[k]);
	}
	run_one(&r, (struct matrix){rows, columns, false}, x, over_rows, 1, "baseline", want);
	for (const char *const *isa = ls_exact_isas(); *isa; isa++)
		for (int way = 0; way < 6; way++) {
			run_one(&r, (struct matrix){rows, columns, way & 1}, way & 1 ? y : x,
				over_rows, 1 + way / 2, *isa, got);
			if (memcmp(want, got, sizeof want) != 0)
				fail_msg("%s, %d threads, kind %d, values %d, %lld × %lld differ",
					 *isa, 1 + way / 2, r.kind, kind, (long long)rows,
					 (long long)columns);
		}
	ls_sha256_add(digest, want, sizeof want);
	for (int k = 0; k < LS_TERM_OPERANDS; k++) {
		free(x[k]);
		free(y[k]);
	}
}

static struct ls_reduce example(int kind)
{
	struct ls_reduce r = {.kind = kind, .number = {0.75, 3.0}, .finish = {.how = LS_AS_SUM}};
	if (kind == LS_TERM_MOMENTS)
		r.finish = (struct ls_finish_conf){LS_AS_NORM, 7.0, 1e-5, 0.1, 6.0};
	if (ls_term_is_loss(kind))
		r.finish = (struct ls_finish_conf){.how = LS_AS_MEAN, .divisor = 7.0};
	return r;
}

static void every_kind(void **state)
{
	(void)state;
	struct ls_sha256 *digest = ls_sha256_new();
	char hex[LS_SHA256_HEX];
	for (int kind = 0; kind < LS_MAP_NORMAL; kind++)
		for (int values = 0; values < KINDS; values++) {
			struct ls_reduce r = example(kind);
			if (ls_term_is_index(kind))
				continue;
			same_everywhere(&r, 11, 271, values, false, digest);
			same_everywhere(&r, 271, 11, values, true, digest);
			if (kind <= LS_TERM_GRADS)
				same_everywhere(&r, 1, 17000, values, false, digest);
		}
	ls_sha256_final(digest, hex);
	assert_string_equal(hex, GOLDEN);
}

static void moments(void **state)
{
	(void)state;
	enum { N = 3000 };
	for (int kind = 0; kind < CANCEL; kind++)
		for (int shifted = 0; shifted < 2; shifted++) {
			float *x = new_values(N, kind, 77), out[2];
			long double mean = 0, squares = 0;
			for (int i = 0; i < N; i++) {
				x[i] += shifted ? 1000.0f : 0.0f;
				mean += (long double)x[i] / N;
			}
			for (int i = 0; i < N; i++)
				squares += ((long double)x[i] - mean) * ((long double)x[i] - mean);
			struct ls_reduce r = {.kind = LS_TERM_MOMENTS,
					      .in = {operand(x)},
					      .out = {{.at = &out[0]}, {.at = &out[1]}},
					      .finish = {.how = LS_AS_VAR, .divisor = N - 1}};
			plan(&r, (struct matrix){1, N, false}, 1, false);
			assert_int_equal(ls_reduce_cpu(&r, 2, NULL, NULL), 0);
			if (kind == EXTREME)
				assert_true(out[0] == INFINITY);
			else
				assert_true(fabsl(out[0] - squares / (N - 1)) <=
					    1e-7L * squares / (N - 1) + 1e-18L * mean * mean +
						    0x1p-149L);
			assert_true(fabsl(out[1] - mean) <= 1e-7L * fabsl(mean) + 1e-5L);
			free(x);
		}
}

static void one_index(const float *x, int64_t n, int kind, int64_t want)
{
	for (int threads = 1; threads < 4; threads++) {
		int64_t out = -1;
		struct ls_reduce r = {.kind = kind,
				      .in = {operand(x)},
				      .out = {{.at = &out, .type = LS_REDUCE_I64}}};
		plan(&r, (struct matrix){1, n, false}, 1, false);
		assert_int_equal(ls_reduce_cpu(&r, threads, NULL, NULL), 0);
		assert_int_equal(out, want);
	}
}

static void extremes(void **state)
{
	(void)state;
	enum { N = 40000 };
	float *x = new_values(N, NORMAL, 5);
	x[30000] = x[20000] = x[39999] = 1e9f;
	x[31000] = x[25000] = -1e9f;
	one_index(x, N, LS_TERM_AT_LARGEST, 20000);
	one_index(x, N, LS_TERM_AT_LEAST, 25000);
	x[33000] = x[35000] = NAN;
	one_index(x, N, LS_TERM_AT_LARGEST, 33000);
	one_index(x, N, LS_TERM_AT_LEAST, 33000);
	one_index((float[]){-INFINITY, -INFINITY}, 2, LS_TERM_AT_LARGEST, 0);
	one_index((float[]){INFINITY, INFINITY}, 2, LS_TERM_AT_LEAST, 0);
	free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_definition), cmocka_unit_test(no_order),
		cmocka_unit_test(not_finite),     cmocka_unit_test(every_kind),
		cmocka_unit_test(moments),        cmocka_unit_test(extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
