/* Which rows a step takes: a function of (seed, step) and the number of rows, known without state to every worker.
 * Owns nothing; any thread. */
#ifndef LS_FM_BATCH_H
#define LS_FM_BATCH_H

#include <stdint.h>

#include "fm/model.h"

/* Row numbers of the batch of a step: n of them (at most the batch size), a function of (seed, step) and the data's
 * size. */
uint32_t ls_fm_pick(const struct ls_fm_opts *opts, uint64_t n_rows, uint64_t step, uint32_t lo, uint32_t hi,
		    uint64_t *ret_rows);
uint64_t ls_fm_steps_per_epoch(const struct ls_fm_opts *opts, uint64_t n_rows);

#endif
