#include "fm/model/batch.h"

uint64_t ls_fm_steps_per_epoch(const struct ls_fm_opts *opts, uint64_t n_rows)
{
	return ls_order_steps(opts->batch, n_rows);
}

struct ls_order ls_fm_order(const struct ls_fm_opts *opts, uint64_t n_rows, uint64_t step)
{
	struct ls_order order;
	ls_order_init(&order, (int)opts->shuffle, opts->seed, opts->batch, n_rows, step);
	return order;
}
