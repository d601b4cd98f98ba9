/* A precision and a TF32 setting that both sides can have, and what then differs all the
 * same. Part of ls_plan_make; any thread. */
#ifndef LS_PLAN_PRECISION_H
#define LS_PLAN_PRECISION_H

#include "plan/plan.h"

/* Fills p->common, p->precision and p->tf32 from the models and the question. */
void ls_plan_choose_precision(const struct ls_plan_ask *ask, struct ls_plan *p);
/* Fills p->variance, once the options are there. */
void ls_plan_expect(struct ls_plan *p);

#endif
