/* The same training on other GPUs: what keeps the global batch and the schedule, and what does
 * not. ls_plan_make answers a question that names a baseline and a target.
 *
 *     struct ls_plan_ask ask = {.from = {"L40S", 4}, .to = {"H200", 2}, .batch = 48, .accum = 1,
 *                               .samples = 103000, .epochs = 30, .warmup_epochs = 5};
 *     if (ls_plan_make(&ask, &plan, &err)) …
 *     if (plan->exact)  use plan->best: batch, ranks, accum; plan->schedule: steps
 *     for each plan->findings: warn
 *     ls_plan_free(plan);
 *
 * A plan owns all that it points to; ls_plan_free accepts NULL. Any thread. */
#ifndef LS_PLAN_PLAN_H
#define LS_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "env/facts/gpu_catalog.h"
#include "plan/layout.h"

struct ls_plan_gpus {
	const char
		*name; /* as the catalogue finds it; NULL: not known, then nothing is said of it */
	uint64_t count;
};

/* A question. Numbers that are 0 are not known, unless it says otherwise. Texts are borrowed
 * during the call. */
struct ls_plan_ask {
	struct ls_plan_gpus from, to;
	uint64_t batch;   /* of one GPU of the baseline; wanted */
	uint64_t accum;   /* of the baseline; 0 is 1 */
	uint64_t samples; /* of the training set; without it there is no schedule */
	bool drop_last;   /* the DataLoader leaves out a partial batch */
	uint64_t epochs;
	double warmup_epochs;  /* below 0: not known */
	uint64_t warmup_steps; /* instead of warmup_epochs */
	uint64_t total_steps;  /* instead of epochs */
};

/* In optimizer steps. What is 0 is not known; a warm-up of 0 steps has has_warmup. */
struct ls_plan_schedule {
	uint64_t steps_per_epoch, warmup_steps, total_steps;
	bool has_warmup;
};

struct ls_plan_option {
	struct ls_plan_layout layout;
	bool same_global; /* the global batch is the baseline's */
	bool same_steps;  /* and so are the steps of an epoch, where they are known */
	struct ls_plan_schedule schedule;
};

enum ls_risk { LS_RISK_HIGH, LS_RISK_MEDIUM, LS_RISK_LOW, LS_RISK_NONE };

struct ls_plan_finding {
	enum ls_risk risk;
	const char *what; /* a stable word for programs: "global_batch", "precision" */
	char *text;       /* one or two sentences: what, why, what to do */
};

struct ls_plan {
	struct ls_gpu_catalog *catalog;
	const struct ls_gpu_model *from, *to; /* NULL: not known */
	struct ls_plan_option baseline;
	struct ls_plan_option unchanged; /* the baseline's settings on the target, as they are */
	bool exact;                      /* options keep the global batch */
	struct ls_plan_option *options;  /* on all GPUs of the target, best first; never empty */
	size_t n_options, cap_options;
	struct ls_plan_option *fewer; /* not exact: one that is, on the most GPUs that allow it */
	struct ls_plan_finding *findings; /* by risk */
	size_t n_findings, cap_findings;
};

/* LS_EINPUT: a number is out of its bounds, or a GPU is not in the catalogue. */
int ls_plan_make(const struct ls_plan_ask *ask, struct ls_plan **ret, struct ls_err *err);
void ls_plan_free(struct ls_plan *plan);

const char *ls_risk_name(enum ls_risk risk);

/* "L40S:4" into a name, which the caller frees, and a count. */
int ls_plan_parse_gpus(const char *text, char **ret_name, uint64_t *ret_count, struct ls_err *err);

#endif
