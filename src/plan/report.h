/* A plan as text and as JSON. The caller owns what is returned. Any thread. */
#ifndef LS_PLAN_REPORT_H
#define LS_PLAN_REPORT_H

#include "plan/plan.h"

/* At most max options; 0: all of them. */
void ls_plan_text(const struct ls_plan *p, size_t max, struct ls_str *out);
json_t *ls_plan_json(const struct ls_plan *p); /* new reference */

/* The GPUs of the catalogue. */
void ls_plan_list_text(const struct ls_gpu_catalog *c, struct ls_str *out);
json_t *ls_plan_list_json(const struct ls_gpu_catalog *c); /* new reference */

#endif
