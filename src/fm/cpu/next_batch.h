/* A worker's rows of a batch, found before their turn, since none of it needs a parameter: which
 * they are, where they lie, and their features side by side, so that the data's pages are looked up
 * once for them. struct ls_next_batch owns its arrays: ls_next_batch_init, ls_next_batch_free. Any
 * worker may come to have all rows of a batch; of its arrays there is in memory what it has had at
 * most. */
#ifndef LS_FM_CPU_NEXT_BATCH_H
#define LS_FM_CPU_NEXT_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "fm/data/rows.h"
#include "fm/model/order.h"

struct ls_next_batch {
	uint32_t batch, longest;    /* rows of a batch, entries of a row, at most */
	struct ls_row_place *place; /* by row, from the worker's first on */
	uint32_t *feature;          /* of all their entries, without gaps */
};

/* false: no memory; free it all the same. */
bool ls_next_batch_init(struct ls_next_batch *a, uint32_t batch, uint32_t longest);
void ls_next_batch_free(struct ls_next_batch *a);

/* Rows lo..hi of the batch; returns how many entries they have. */
uint32_t ls_next_batch_find(const struct ls_next_batch *a, const struct ls_rows *rows,
			    const struct ls_order *order, uint32_t lo, uint32_t hi);

#endif
