#include "exact/element.h"

#include "num/num.h"

static uint32_t larger(uint32_t so_far, float x)
{
	uint32_t u = ls_bits_f(x) & 0x7fffffff;
	return u > so_far ? u : so_far;
}

static double plain_sum(const struct ls_exact_product *p, int64_t batch, int64_t i, int64_t j)
{
	uint32_t top_a = 0, top_b = 0;
	for (int64_t l = 0; l < p->k; l++) {
		top_a = larger(top_a, ls_exact_get(&p->a, batch, i, l));
		top_b = larger(top_b, ls_exact_get(&p->b, batch, l, j));
	}
	if (!ls_exact_finite(top_a) || !ls_exact_finite(top_b))
		return ls_exact_not_finite(p, batch, i, j);
	int ea = ls_grid_exp(top_a), eb = ls_grid_exp(top_b);
	float a1, a2, b1, b2;
	ls_grid_scale(p->bits, ea, &a1, &a2);
	ls_grid_scale(p->bits, eb, &b1, &b2);
	int64_t high = 0, low = 0;
	for (int64_t l = 0; l < p->k; l++) {
		int64_t x = ls_grid_round(ls_exact_get(&p->a, batch, i, l), a1, a2, p->bits);
		int64_t y = ls_grid_round(ls_exact_get(&p->b, batch, l, j), b1, b2, p->bits);
		high += x * y >> LS_GRID_SPLIT;
		low += x * y & ((1 << LS_GRID_SPLIT) - 1);
	}
	return ls_grid_value_wide(high, low, ea + eb - 2 * p->bits);
}

int ls_exact_plain(const struct ls_exact_product *p, struct ls_err *err)
{
	int rc = ls_exact_check(p, err);
	uint64_t saved = ls_fp_enter();
	for (int64_t batch = 0; !rc && batch < p->batch; batch++)
		for (int64_t i = 0; i < p->m; i++)
			for (int64_t j = 0; j < p->n; j++)
				ls_exact_finish(p, batch, i, j, plain_sum(p, batch, i, j));
	ls_fp_leave(saved);
	return rc;
}
