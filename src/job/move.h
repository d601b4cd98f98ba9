/* The same experiment on other GPUs, through plan. A base is an experiment's row or a
 * design, which are JSON objects of the caller's. Any thread. */
#ifndef LS_JOB_MOVE_H
#define LS_JOB_MOVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "plan/plan.h"

/* The GPU that a text names, as the catalogue has it: a name of a model, or a partition
 * that holds one between '_', '-' and '.' ("l40s_public": "L40S"). NULL where there is
 * none. To be freed. */
char *ls_move_gpu(const char *text);

/* Whether a base says enough to be moved: GPUs and a batch. */
bool ls_move_can(const json_t *base);
/* From base to count GPUs of a model; gpu may be NULL. */
int ls_move_plan(const json_t *base, const char *gpu, uint64_t count, struct ls_plan **ret,
		 struct ls_err *err);

/* Sets batch_size and accumulation of a design as the plan's best option has them.
 * LS_EINPUT where none keeps the global batch: the message names the nearest. */
int ls_move_apply(const struct ls_plan *p, json_t *design, struct ls_err *err);

/* Appends texts on what the design changes against its base: what plan finds at high and
 * medium risk, another kind of GPU, another global batch or schedule. */
void ls_move_warn(const struct ls_plan *p, const json_t *base, const json_t *design, json_t *to);

#endif
