#include "fm/batch.h"

#include "fm/order.h"

uint64_t ls_fm_steps_per_epoch(const struct ls_fm_opts *opts, uint64_t n_rows)
{
	return ls_order_steps(opts->batch, n_rows);
}

uint32_t ls_fm_pick(const struct ls_fm_opts *opts, uint64_t n_rows, uint64_t step, uint32_t lo, uint32_t hi,
		    uint64_t *ret_rows)
{
	struct ls_order order;
	ls_order_init(&order, (int)opts->shuffle, opts->seed, opts->batch, n_rows, step);
	for (uint32_t b = lo; b < hi && b < order.n; b++)
		ret_rows[b] = ls_order_row(&order, b);
	return order.n;
}
