/* A plan from the options of `lockstep plan`, for the command and the public function.
 * One thread. */
#ifndef LS_API_PLAN_H
#define LS_API_PLAN_H

#include "base/opt.h"
#include "plan/plan.h"

struct ls_plan_answer {
	struct ls_plan *plan;
	struct ls_str torchrun, sbatch; /* lines that launch it */
};

/* Refuses options that are missing or contradict each other. */
int ls_plan_check_args(const struct ls_args *args, struct ls_err *err);
/* args->pos: what torchrun shall start, or nothing. */
int ls_plan_from_args(const struct ls_args *args, struct ls_plan_answer *ret, struct ls_err *err);
void ls_plan_answer_done(struct ls_plan_answer *a);
json_t *ls_plan_answer_json(const struct ls_plan_answer *a); /* new reference */

#endif
