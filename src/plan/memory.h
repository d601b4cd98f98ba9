/* Whether a batch fits a GPU, from the best evidence there is. Owns nothing; any
 * thread. */
#ifndef LS_PLAN_MEMORY_H
#define LS_PLAN_MEMORY_H

#include "plan/plan.h"

/* Judges one option of p for the target's GPU. */
struct ls_plan_memory ls_plan_memory_of(const struct ls_plan_ask *ask, const struct ls_plan *p,
					const struct ls_plan_layout *l);

/* Bytes of what does not depend on the batch: weights, gradients, optimizer, context. 0
 * when the number of parameters or the optimizer is not known. */
double ls_plan_fixed_bytes(const struct ls_plan_ask *ask, uint64_t ranks);

#endif
