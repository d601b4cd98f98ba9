/* A plan to paste: as YAML, as variables of a shell, and as the lines that start it. The
 * caller owns what is appended to. Any thread. */
#ifndef LS_PLAN_CONFIG_H
#define LS_PLAN_CONFIG_H

#include "plan/plan.h"

/* Both are for the best option. What is not known is null in YAML, and a comment in the
 * shell. */
void ls_plan_yaml(const struct ls_plan *p, struct ls_str *out);
void ls_plan_env(const struct ls_plan *p, struct ls_str *out);

/* Texts are borrowed. */
struct ls_plan_launch {
	uint64_t gpus_per_node;     /* 0: all GPUs are in one node */
	const char *partition;      /* of Slurm; NULL: the default one */
	const char *const *command; /* NULL-terminated; NULL: train.py, told by variables */
};

/* The command's words may hold {batch}, {gpus}, {accum}, {global}, {warmup}, {steps},
 * {precision}, {workers} and {lr}; they are quoted for a shell. LS_EINPUT: a placeholder
 * whose value is not known, or GPUs that do not divide into whole nodes. */
int ls_plan_torchrun(const struct ls_plan *p, const struct ls_plan_launch *how, struct ls_str *out,
		     struct ls_err *err);
int ls_plan_sbatch(const struct ls_plan *p, const struct ls_plan_launch *how, struct ls_str *out,
		   struct ls_err *err);

#endif
