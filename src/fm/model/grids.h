/* The grids of the order-free sums of a step (num/sum.h), from the largest exponents of
 * its batch: C and CUDA alike. Owns nothing. Pure functions; any thread; device code
 * too. */
#ifndef LS_FM_MODEL_GRIDS_H
#define LS_FM_MODEL_GRIDS_H

#include "num/port.h"
#include "num/sum.h"

/* Largest exponents seen: reduced with max over workers, so order-free. */
struct ls_exps {
	int slope; /* g */
	int value; /* x after normalisation */
	int back;  /* back[] (batch_state.h) */
	int sums;  /* fwfm: U, and half that of W */
	int loss;
};

LS_FN int ls_exps_larger(int a, int b)
{
	return a > b ? a : b;
}

/* Of a w below 2^(e + 1): the least d such that w is below the square of 2^(d + 1). */
LS_FN int ls_exps_of_products(int e)
{
	return e == LS_EXP_INF ? e : (e - (e & 1)) / 2;
}

LS_FN void ls_exps_max(struct ls_exps *a, const struct ls_exps *b)
{
	a->slope = ls_exps_larger(a->slope, b->slope);
	a->value = ls_exps_larger(a->value, b->value);
	a->back = ls_exps_larger(a->back, b->back);
	a->sums = ls_exps_larger(a->sums, b->sums);
	a->loss = ls_exps_larger(a->loss, b->loss);
}

/* One grid a parameter group, with the factors for multiplying and dividing by it. */
struct ls_grids {
	int bias, pair, loss; /* p of the sums that are not scaled entry by entry */
	double linear_scale, back_scale, self_scale, pair_scale; /* 2^p */
	double self_unit;                                        /* 2^-p */
	/* likewise, and normal */
	float linear_unit, back_unit;
};

/* A grid whose spacing is a normal float. It is coarser than it might be only where all
 * terms are below 2^-75: such a gradient has no weight. It is finer than the bound asks
 * for only where that is above 2^168: terms that are floats are then below 4 units and
 * cannot overflow; with others there is no gradient, for it takes a sum of less than 4
 * units to be finite, and what is not finite is never written. */
LS_FN int ls_fm_float_grid(int bound_exp, uint64_t terms)
{
	int p = ls_sum_grid(bound_exp, terms);
	return p > 126 ? 126 : p < -126 ? -126 : p;
}

/* Grids from the largest exponents of a whole batch with that many rows and entries.
 * self_weight: the largest exponent of fwfm's r(f,f), 0 for the other kinds. */
LS_FN struct ls_grids ls_fm_grids(const struct ls_exps *e, int self_weight, uint64_t n_rows,
				  uint64_t n_entries)
{
	int gx = e->slope + e->value + 2; /* |g x| < 2^gx */
	int linear = ls_fm_float_grid(gx, n_entries),
	    back = ls_fm_float_grid(gx + e->back + 1, n_entries);
	int self = ls_sum_grid(gx + e->value + 1 + self_weight + 1, n_entries);
	struct ls_grids g;
	g.bias = ls_sum_grid(e->slope + 1, n_rows);
	g.loss = ls_sum_grid(e->loss + 1, n_rows);
	/* halve of up to 256 products of two sums: 2 (sums + 1) + 8, one more for
	 * rounding up */
	g.pair = ls_sum_grid(e->slope + 1 + 2 * (e->sums + 1) + 9, n_rows);
	g.linear_scale = ls_pow2(linear);
	g.back_scale = ls_pow2(back);
	g.self_scale = ls_pow2(self);
	g.pair_scale = ls_pow2(g.pair);
	g.linear_unit = (float)ls_pow2(-linear);
	g.back_unit = (float)ls_pow2(-back);
	g.self_unit = ls_pow2(-self);
	return g;
}

#endif
