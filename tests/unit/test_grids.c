/* The grids of a step's sums (fm/model/grids.h): terms as large as their exponents allow,
 * and as many of them as are counted, fit into their integers. labels: isa */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fm/model/grids.h"
#include "num/philox.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* The largest value with this exponent: of a float, or, where there is none, of what a
 * double goes on with. */
static double largest(int exponent)
{
	return ldexp(2.0 - ldexp(1.0, -23), exponent);
}

/* p of a scale that must be a power of two. */
static int grid_of(double scale)
{
	int e;
	assert_true(frexp(scale, &e) == 0.5);
	return e - 1;
}

/* n terms as large as `term`, which is below 2^bound, on the grid p: each below 2^51, all
 * together below 2^62; and no coarser than that asks for. */
static void fits(const char *what, double term, int bound, int p, uint64_t n)
{
	double scaled = ldexp(term, p), rounded = nearbyint(scaled);
	if (!(scaled <= 0x1p51) || !(rounded * (double)n <= 0x1p62))
		fail_msg("%s: %llu terms of %a do not fit into the grid %d", what,
			 (unsigned long long)n, term, p);
	assert_true(ls_sum_term(scaled) == (int64_t)rounded);
	assert_true(ls_sum_term(-scaled) == -(int64_t)rounded);
	int64_t sum;
	assert_false(__builtin_mul_overflow((int64_t)rounded, n, &sum));
	assert_true(term < ldexp(1.0, bound));
	if (p != 126 && p != LS_POW2_MAX && bound + p < 51)
		assert_true(ldexp((double)n, bound + p) > 0x1p61);
}

/* Of linear weights and factors: the unit is a normal float, even where the bound is
 * beyond what floats have. There, at -126, terms that are floats are below 4 units. */
static void fits_a_float(const char *what, double term, int bound, double scale, float unit,
			 uint64_t n)
{
	int p = grid_of(scale);
	assert_true(isnormal(unit) && (double)unit * scale == 1.0);
	assert_in_range(p + 126, 0, 252);
	if (p > -126)
		fits(what, term, bound, p, n);
	else
		assert_true(ldexp((double)3.402823466e38f, p) < 4.0 &&
			    bound >= 51 - ls_log2_ceil(n) + 126 - 11);
}

static void all_fit(const struct ls_exps *e, int self_weight, uint64_t n_rows, uint64_t n_entries)
{
	struct ls_grids g = ls_fm_grids(e, self_weight, n_rows, n_entries);
	double slope = largest(e->slope), gx = slope * largest(e->value), sums = largest(e->sums);
	int of_gx = e->slope + e->value + 2;
	fits("bias", slope, e->slope + 1, g.bias, n_rows);
	fits("loss", largest(e->loss), e->loss + 1, g.loss, n_rows);
	/* 256 factors' products, each of them and their sum rounded up */
	fits("pair", slope * sums * sums * 256.0 * (1.0 + 0x1p-20), e->slope + 2 * e->sums + 12,
	     g.pair, n_rows);
	assert_int_equal(grid_of(g.pair_scale), g.pair);
	fits_a_float("linear", gx, of_gx, g.linear_scale, g.linear_unit, n_entries);
	fits_a_float("back", gx * largest(e->back), of_gx + e->back + 1, g.back_scale, g.back_unit,
		     n_entries);
	int of_self = of_gx + e->value + self_weight + 2;
	fits("self", gx * largest(e->value) * largest(self_weight), of_self, grid_of(g.self_scale),
	     n_entries);
	assert_true(g.self_unit * g.self_scale == 1.0);
}

static const uint64_t counts[] = {1, 2, 3, 39, 2048, 2049, 4096, 40000, (1u << 20) + 1, UINT32_MAX};

/* One exponent after the other at many places, the others in the middle; then all of them
 * anywhere.
 */
static void terms_fit_into_their_grids(void **state)
{
	(void)state;
	for (size_t n = 0; n < COUNT(counts); n++)
		for (int which = 0; which < 6; which++)
			for (int at = LS_EXP_MIN; at < LS_EXP_INF; at += 1) {
				int e[6] = {-2, 0, -4, -3, -1, 0};
				e[which] = at;
				all_fit(&(struct ls_exps){e[0], e[1], e[2], e[3], e[4]}, e[5],
					counts[n], counts[COUNT(counts) - 1 - n]);
			}
	for (uint64_t i = 0; i < 40000; i++) {
		struct ls_u32x4 r = ls_philox(51, i, 0), c = ls_philox(51, i, 1);
		int e[6], spread = i % 2 ? 255
					 : 41; /* floats of any size, and such as training has */
		for (int k = 0; k < 6; k++)
			e[k] = (int)((k < 4 ? r.v[k] : c.v[k - 4]) % (uint32_t)spread) - spread / 2;
		all_fit(&(struct ls_exps){e[0], e[1], e[2], e[3], e[4]}, e[5],
			counts[c.v[2] % COUNT(counts)], 1 + c.v[3] % 3000000);
	}
}

/* Rows and entries are counted where they belong, and r(f,f) where its size is: what is
 * coarser, by how much, when one of them grows. */
static void each_count_has_its_grids(void **state)
{
	(void)state;
	const struct ls_exps e = {-2, 0, -4, -3, -1};
	struct ls_grids one = ls_fm_grids(&e, 0, 1, 1), rows = ls_fm_grids(&e, 0, 1u << 20, 1),
			entries = ls_fm_grids(&e, 0, 1, 1u << 20), self = ls_fm_grids(&e, 7, 1, 1);
	assert_true(rows.bias == one.bias - 9 && rows.loss == one.loss - 9 &&
		    rows.pair == one.pair - 9);
	assert_true(rows.linear_scale == one.linear_scale && rows.back_scale == one.back_scale &&
		    rows.self_scale == one.self_scale);
	assert_true(entries.bias == one.bias && entries.loss == one.loss &&
		    entries.pair == one.pair);
	assert_true(entries.linear_scale == one.linear_scale * 0x1p-9 &&
		    entries.back_scale == one.back_scale * 0x1p-9 &&
		    entries.self_scale == one.self_scale * 0x1p-9);
	assert_true(self.self_scale == one.self_scale * 0x1p-7 &&
		    self.back_scale == one.back_scale && self.pair == one.pair);
}

/* The ends of what a float's exponent allows, on both sides. */
static void units_stay_normal(void **state)
{
	(void)state;
	assert_int_equal(ls_fm_float_grid(-500, 1), 126);
	assert_int_equal(ls_fm_float_grid(500, 1), -126);
	assert_int_equal(ls_fm_float_grid(51 - 126, 2048), 126);
	assert_int_equal(ls_fm_float_grid(51 - 125, 2048), 125);
	assert_int_equal(ls_fm_float_grid(51 + 126, 2048), -126);
	assert_int_equal(ls_fm_float_grid(51 + 125, 2049), -126);
}

static void half_of_a_products_exponent(void **state)
{
	(void)state;
	for (int e = LS_EXP_MIN; e < LS_EXP_INF; e++) {
		int d = ls_exps_of_products(e);
		assert_true(e + 1 <= 2 * (d + 1) && e + 1 > 2 * d);
	}
	assert_int_equal(ls_exps_of_products(LS_EXP_INF), LS_EXP_INF);
}

static void larger_of_each(void **state)
{
	(void)state;
	struct ls_exps a = {1, -5, 3, -7, 9};
	const struct ls_exps b = {0, -4, 2, -6, 8}, want = {1, -4, 3, -6, 9};
	ls_exps_max(&a, &b);
	assert_memory_equal(&a, &want, sizeof want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terms_fit_into_their_grids),
		cmocka_unit_test(each_count_has_its_grids),
		cmocka_unit_test(units_stay_normal),
		cmocka_unit_test(half_of_a_products_exponent),
		cmocka_unit_test(larger_of_each),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
