/* Which rows a step takes: a function of (seed, step) and the number of rows, known
 * without state to every worker. Owns nothing; any thread. */
#ifndef LS_FM_MODEL_BATCH_H
#define LS_FM_MODEL_BATCH_H

#include <stdint.h>

#include "fm/model/model.h"
#include "fm/model/order.h"

/* How many rows a step takes (at most the batch size), and which. */
struct ls_order ls_fm_order(const struct ls_fm_opts *opts, uint64_t n_rows, uint64_t step);
uint64_t ls_fm_steps_per_epoch(const struct ls_fm_opts *opts, uint64_t n_rows);

#endif
