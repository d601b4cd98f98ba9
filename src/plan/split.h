/* Ways to divide a global batch among GPUs: into batch × ranks × accumulation. The caller
 * owns the list. Any thread. */
#ifndef LS_PLAN_SPLIT_H
#define LS_PLAN_SPLIT_H

#include "plan/plan.h"

/* Calls use(batch, accum) for every pair with batch * accum = share, the largest batch
 * first, leaving out what is beyond the bounds of a layout. share is at most
 * LS_PLAN_MAX_GLOBAL. */
typedef void ls_split_fn(void *ctx, uint64_t batch, uint64_t accum);
void ls_plan_split(uint64_t share, ls_split_fn *use, void *ctx);

/* The largest number of GPUs up to most that divides global. */
uint64_t ls_plan_most_gpus(uint64_t global, uint64_t most);

#endif
