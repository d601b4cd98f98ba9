/* What a plan changes or cannot keep, by risk, each with its reason. Part of
 * ls_plan_make; a finding's text belongs to the plan. */
#ifndef LS_PLAN_FINDINGS_H
#define LS_PLAN_FINDINGS_H

#include "plan/plan.h"

/* Fills p->findings; everything else of p is there. */
void ls_plan_find(const struct ls_plan_ask *ask, struct ls_plan *p);

/* Appends one. */
void ls_plan_say(struct ls_plan *p, enum ls_risk risk, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The subjects, each in a file of its own. */
void ls_plan_find_batch(const struct ls_plan_ask *ask, struct ls_plan *p);
void ls_plan_find_hardware(const struct ls_plan_ask *ask, struct ls_plan *p);
void ls_plan_find_data(const struct ls_plan_ask *ask, struct ls_plan *p);

#endif
