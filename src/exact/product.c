#include "exact/product.h"

#include "exact/grid.h"

int ls_exact_check(const struct ls_exact_product *p, struct ls_err *err)
{
	if (p->batch < 0 || p->m < 0 || p->n < 0 || p->k < 0)
		return ls_err_set(err, LS_EINPUT, "an exact product of negative size");
	if (p->k > LS_EXACT_MOST_K)
		return ls_err_set(err, LS_EINPUT,
				  "an exact product sums at most %d terms, not %lld",
				  LS_EXACT_MOST_K, (long long)p->k);
	if (p->bits != LS_GRID_FINE && p->bits != LS_GRID_COARSE)
		return ls_err_set(err, LS_EINPUT,
				  "the grid of an exact product has %d or %d bits, not %d",
				  LS_GRID_COARSE, LS_GRID_FINE, p->bits);
	return 0;
}
