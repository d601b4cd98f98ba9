#include "fm/model/engine.h"

#include "fm/model/batch.h"

int ls_fm_check_states(const struct ls_fm_model *m, struct ls_err *err)
{
	if (m->states == ls_fm_states_of(m->opts.optimizer))
		return 0;
	return ls_err_set(err, LS_EINTERNAL,
			  "a model without its optimizer's state cannot be trained");
}

/* The first step from `first` on that takes the row: every epoch has one. */
static uint64_t step_with(const struct ls_fm_opts *opts, uint64_t n_rows, uint64_t row,
			  uint64_t first)
{
	for (uint64_t step = first;; step++) {
		struct ls_order order = ls_fm_order(opts, n_rows, step);
		for (uint32_t b = 0; b < order.n; b++)
			if (ls_order_row(&order, b) == row)
				return step;
	}
}

int ls_fm_not_finite(const struct ls_fm_opts *opts, const struct ls_rows *rows, uint64_t row,
		     uint64_t first, struct ls_err *err)
{
	uint64_t step = step_with(opts, rows->n_rows, row, first);
	return ls_rows_fault(rows, LS_OF_ROW, row, LS_EDIFFER, err,
			     "training left the finite numbers here, in step %llu: a lower --lr, "
			     "--normalize or smaller "
			     "feature values would help",
			     (unsigned long long)step + 1);
}
