/* The numbers of a plan's best option by the names that configuration files and
 * placeholders give them. Borrowed texts; any thread. */
#ifndef LS_PLAN_VALUES_H
#define LS_PLAN_VALUES_H

#include "plan/plan.h"

struct ls_plan_value {
	const char *placeholder; /* "batch"; NULL: none */
	const char *variable;    /* "PER_GPU_BATCH" */
	const char *key;         /* of YAML, "per_gpu_batch" */
	char text[32];           /* empty: not known */
};

enum { LS_PLAN_VALUES = 11 };
void ls_plan_values(const struct ls_plan *p, struct ls_plan_value ret[LS_PLAN_VALUES]);

#endif
