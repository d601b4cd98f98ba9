/* The same training on other GPUs: what keeps the global batch and the schedule, and what
 * does not. ls_plan_make answers a question that names a baseline and a target.
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

enum ls_plan_norm {
	LS_NORM_UNKNOWN,
	LS_NORM_NONE,    /* no BatchNorm in the model */
	LS_NORM_PER_GPU, /* BatchNorm over the micro-batch of each GPU */
	LS_NORM_SYNC     /* SyncBatchNorm: over the micro-batches of all GPUs */
};

/* What decides the optimizer's memory and how a learning rate follows the batch. */
enum ls_plan_optimizer {
	LS_OPT_UNKNOWN,
	LS_OPT_SGD,
	LS_OPT_MOMENTUM,
	LS_OPT_ADAM, /* and AdamW */
	LS_OPT_LION,
	LS_OPT_ADAFACTOR,
	LS_OPT_COUNT
};

/* A question. Numbers that are 0 are not known, unless it says otherwise. Texts are
 * borrowed during the call. */
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

	enum ls_precision precision; /* of the baseline; 0: not known */
	int tf32;                    /* of the baseline: 1 on, 0 off, -1 not known */
	enum ls_plan_norm norm;
	enum ls_plan_optimizer optimizer;
	uint64_t workers;     /* of each rank's DataLoader */
	double learning_rate; /* 0 or below: not known */

	/* For the memory; whatever is known is used. */
	uint64_t params;
	uint64_t activation_bytes; /* of one sample, forward and backward, of the baseline */
	uint64_t peak_bytes;       /* measured on one GPU of the baseline, most of all ranks */
};

/* In optimizer steps. What is 0 is not known; a warm-up of 0 steps has has_warmup. */
struct ls_plan_schedule {
	uint64_t steps_per_epoch, warmup_steps, total_steps;
	bool has_warmup;
};

/* Whether a micro-batch fits the memory of the target's GPU, best first. */
enum ls_fit {
	LS_FIT_YES,     /* at most 90 % of the memory, or what the baseline proves */
	LS_FIT_LIKELY,  /* within the table of batch sizes by memory */
	LS_FIT_TIGHT,   /* between 90 and 100 % of the memory */
	LS_FIT_UNKNOWN, /* nothing says so, nothing speaks against it */
	LS_FIT_NO       /* more than there is */
};

/* bytes are bounds of what one rank needs; 0: not known. */
struct ls_plan_memory {
	enum ls_fit fit;
	double least_bytes, most_bytes;
	const char *source; /* "measured", "estimate", "baseline", "table", "nothing" */
};

struct ls_plan_option {
	struct ls_plan_layout layout;
	struct ls_plan_memory memory;
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

/* What the same metric may differ by between the two sides, in percent of its value: a
 * rule of thumb, not a promise. most_percent 0: bitwise. */
struct ls_plan_variance {
	int level; /* of `lockstep run` */
	double least_percent, most_percent;
	const char *needs; /* what the level asks for */
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
	enum ls_precision precision; /* that both sides shall run; 0: the baseline's is not known */
	int tf32;                    /* for both sides: 1 on, 0 off, -1 as the baseline had it */
	unsigned common;             /* set of precisions that both GPUs have */
	uint64_t workers;            /* of each rank; 0: not known */
	double learning_rate;        /* for the best option; 0: not known */
	double lr_linear, lr_root;   /* factors by the linear and the square-root rule; 1: stays */
	struct ls_plan_variance variance[3]; /* by level; n_variance is 0 where nothing compares */
	size_t n_variance;
	struct ls_plan_finding *findings; /* by risk */
	size_t n_findings, cap_findings;
};

/* LS_EINPUT: a number is out of its bounds, or a GPU is not in the catalogue. */
int ls_plan_make(const struct ls_plan_ask *ask, struct ls_plan **ret, struct ls_err *err);
void ls_plan_free(struct ls_plan *plan);

const char *ls_risk_name(enum ls_risk risk);
const char *ls_fit_name(enum ls_fit fit); /* "fits", "likely", "tight", "unknown", "no" */
/* "adamw" and the like; LS_OPT_UNKNOWN when the name says nothing. */
enum ls_plan_optimizer ls_plan_optimizer_of(const char *name);

/* The largest peak of one GPU in a run's manifest (docs/FORMATS.md). LS_EINPUT when it
 * has none. */
int ls_plan_measured(const json_t *manifest, uint64_t *ret, struct ls_err *err);

/* "L40S:4" into a name, which the caller frees, and a count. */
int ls_plan_parse_gpus(const char *text, char **ret_name, uint64_t *ret_count, struct ls_err *err);

#endif
