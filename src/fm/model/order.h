/* Which rows a step takes, a row at a time: for C and CUDA alike. struct ls_order is the
 * caller's, plain data, constant after init. Any thread; device code too. */
#ifndef LS_FM_MODEL_ORDER_H
#define LS_FM_MODEL_ORDER_H

#include "fm/model/kinds.h"
#include "num/perm.h"
#include "num/philox.h"
#include "num/port.h"

#define LS_ORDER_PURPOSE 2 /* of the key, see num/philox.h */
#define LS_ORDER_BLOCK   4096

struct ls_order {
	uint64_t n_rows, from, key;
	uint32_t n; /* rows of this step */
	int shuffle;
	struct ls_perm perm;
};

LS_FN uint64_t ls_order_steps(uint32_t batch, uint64_t n_rows)
{
	return (n_rows + batch - 1) / batch;
}

LS_FN void ls_order_init(struct ls_order *o, int shuffle, uint64_t seed, uint32_t batch,
			 uint64_t n_rows, uint64_t step)
{
	uint64_t per_epoch = ls_order_steps(batch, n_rows);
	o->n_rows = n_rows;
	o->from = step % per_epoch * batch;
	o->n = n_rows - o->from < batch ? (uint32_t)(n_rows - o->from) : batch;
	o->shuffle = shuffle;
	o->key = ls_epoch_key(seed, LS_ORDER_PURPOSE, step / per_epoch);
	ls_perm_init(&o->perm, o->key, n_rows);
}

/* Blocks of consecutive rows change places, and rows change places within their block:
 * near-sequential reading. */
LS_FN uint64_t ls_order_in_blocks(uint64_t key, uint64_t n_rows, uint64_t i)
{
	uint64_t blocks = n_rows / LS_ORDER_BLOCK, whole = blocks * LS_ORDER_BLOCK, block = blocks,
		 at = i - whole, size = n_rows - whole;
	if (i < whole) {
		block = ls_perm(key, blocks, i / LS_ORDER_BLOCK);
		at = i % LS_ORDER_BLOCK;
		size = LS_ORDER_BLOCK;
	}
	return block * LS_ORDER_BLOCK + ls_perm(key + 1 + block, size, at);
}

/* The data row of place b < n of the step. */
LS_FN uint64_t ls_order_row(const struct ls_order *o, uint32_t b)
{
	if (o->shuffle == LS_SHUFFLE_ROWS)
		return ls_perm_at(&o->perm, o->from + b);
	return o->shuffle == LS_SHUFFLE_NONE ? o->from + b
					     : ls_order_in_blocks(o->key, o->n_rows, o->from + b);
}

#endif
