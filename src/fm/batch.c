#include "fm/batch.h"

#include "num/perm.h"
#include "num/philox.h"

enum { PURPOSE_SHUFFLE = 2, BLOCK_ROWS = 4096 };

uint64_t ls_fm_steps_per_epoch(const struct ls_fm_opts *opts, uint64_t n_rows)
{
	return (n_rows + opts->batch - 1) / opts->batch;
}

/* Blocks of consecutive rows change places, and rows change places within their block: near-sequential reading. */
static uint64_t pick_in_blocks(uint64_t key, uint64_t n_rows, uint64_t i)
{
	uint64_t blocks = n_rows / BLOCK_ROWS, whole = blocks * BLOCK_ROWS, block = blocks, at = i - whole,
		 size = n_rows - whole;
	if (i < whole) {
		block = ls_perm(key, blocks, i / BLOCK_ROWS);
		at = i % BLOCK_ROWS;
		size = BLOCK_ROWS;
	}
	return block * BLOCK_ROWS + ls_perm(key + 1 + block, size, at);
}

uint32_t ls_fm_pick(const struct ls_fm_opts *opts, uint64_t n_rows, uint64_t step, uint32_t lo, uint32_t hi,
		    uint64_t *ret_rows)
{
	uint64_t per_epoch = ls_fm_steps_per_epoch(opts, n_rows), epoch = step / per_epoch;
	uint64_t from = step % per_epoch * opts->batch, left = n_rows - from;
	uint32_t n = left < opts->batch ? (uint32_t)left : opts->batch;
	uint64_t key = ls_epoch_key(opts->seed, PURPOSE_SHUFFLE, epoch);
	struct ls_perm perm;
	ls_perm_init(&perm, key, n_rows);
	for (uint32_t b = lo; b < hi && b < n; b++) {
		if (opts->shuffle == LS_SHUFFLE_ROWS)
			ret_rows[b] = ls_perm_at(&perm, from + b);
		else
			ret_rows[b] =
				opts->shuffle == LS_SHUFFLE_NONE ? from + b : pick_in_blocks(key, n_rows, from + b);
	}
	return n;
}
