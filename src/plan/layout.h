/* A layout: how a data-parallel training lies on its GPUs, and what follows from it for
 * the sampler and the schedule. Plain values, nobody owns anything; any thread. */
#ifndef LS_PLAN_LAYOUT_H
#define LS_PLAN_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Bounds of what is planned. They keep every product and sum below 2^63. */
#define LS_PLAN_MAX_GPUS    ((uint64_t)1 << 20)
#define LS_PLAN_MAX_BATCH   ((uint64_t)1 << 32)
#define LS_PLAN_MAX_ACCUM   ((uint64_t)1 << 20)
#define LS_PLAN_MAX_GLOBAL  ((uint64_t)1 << 40)
#define LS_PLAN_MAX_SAMPLES ((uint64_t)1 << 53)
#define LS_PLAN_MAX_EPOCHS  ((uint64_t)1 << 32)
#define LS_PLAN_MAX_STEPS   ((uint64_t)1 << 53)
#define LS_PLAN_MAX_LR      1e6

struct ls_plan_layout {
	uint64_t batch;  /* samples a GPU takes at once: the micro-batch */
	uint64_t ranks;  /* GPUs, one process each */
	uint64_t accum;  /* micro-batches whose gradients make one optimizer step */
	uint64_t global; /* batch * ranks * accum: samples of one optimizer step */
	/* What follows when the number of samples is known; otherwise 0. */
	uint64_t rank_samples; /* that the sampler gives each rank in an epoch */
	uint64_t padding; /* samples that the sampler repeats so that ranks have equal shares */
	uint64_t micro_batches;   /* of one rank in an epoch */
	uint64_t last_batch;      /* samples in the last of them */
	uint64_t last_accum;      /* micro-batches in the last optimizer step of an epoch */
	uint64_t steps_per_epoch; /* optimizer steps */
};

/* The sampler's arithmetic is that of PyTorch's DistributedSampler: every rank gets as
 * many samples as the largest share, and drop_last is the DataLoader's, which leaves out
 * a partial micro-batch. An optimizer step is also made of the micro-batches that are
 * left at the end of an epoch. samples 0: not known. LS_EINPUT when a number is 0 or
 * beyond its bound. */
int ls_plan_layout_init(struct ls_plan_layout *ret, uint64_t batch, uint64_t ranks, uint64_t accum,
			uint64_t samples, bool drop_last, struct ls_err *err);

/* "96/GPU × 2 GPUs × 1 = 192 global", for lines of text; the factor 1 is left out. */
enum { LS_PLAN_LAYOUT_TEXT = 128 };
void ls_plan_layout_text(const struct ls_plan_layout *l, char ret[LS_PLAN_LAYOUT_TEXT]);

#endif
