/* What a plan changes or cannot keep, by risk, each with its reason. Part of ls_plan_make. */
#ifndef LS_PLAN_FINDINGS_H
#define LS_PLAN_FINDINGS_H

#include "plan/plan.h"

/* Fills p->findings; everything else of p is there. */
void ls_plan_find(const struct ls_plan_ask *ask, struct ls_plan *p);

#endif
