/* The rows that a worker has in the next batch, found ahead of time because none of it
 * needs a parameter: which rows they are, where they lie, and a copy of their features.
 *
 * struct ls_next_batch owns its arrays: ls_next_batch_init, ls_next_batch_free. A worker
 * may get all rows of a batch, so the arrays have room for all; pages are only allocated
 * when they are touched. */
#ifndef LS_FM_CPU_NEXT_BATCH_H
#define LS_FM_CPU_NEXT_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "fm/data/rows.h"
#include "fm/model/order.h"

struct ls_next_batch {
	uint32_t batch, longest;    /* rows of a batch and entries of a row, at most */
	struct ls_row_place *place; /* by row, from the worker's first on */
	uint32_t *feature;          /* of all their entries, without gaps */
};

/* False: no memory. ls_next_batch_free is called all the same. */
bool ls_next_batch_init(struct ls_next_batch *a, uint32_t batch, uint32_t longest);
void ls_next_batch_free(struct ls_next_batch *a);

/* Rows lo..hi of the batch; returns how many entries they have. */
uint32_t ls_next_batch_find(const struct ls_next_batch *a, const struct ls_rows *rows,
			    const struct ls_order *order, uint32_t lo, uint32_t hi);

#endif
