#include "plan/layout.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

static int in_bounds(const char *what, uint64_t value, uint64_t max, struct ls_err *err)
{
	if (value >= 1 && value <= max)
		return 0;
	return ls_err_set(err, LS_EINPUT, "%s: %" PRIu64 " is not from 1 to %" PRIu64, what, value,
			  max);
}

/* What one rank does in an epoch. */
static void shard(struct ls_plan_layout *l, uint64_t samples, bool drop_last)
{
	l->rank_samples = ceil_div(samples, l->ranks);
	l->padding = l->rank_samples * l->ranks - samples;
	l->micro_batches =
		drop_last ? l->rank_samples / l->batch : ceil_div(l->rank_samples, l->batch);
	l->steps_per_epoch = ceil_div(l->micro_batches, l->accum);
	if (!l->micro_batches)
		return;
	uint64_t rest = l->rank_samples % l->batch, left = l->micro_batches % l->accum;
	l->last_batch = drop_last || !rest ? l->batch : rest;
	l->last_accum = left ? left : l->accum;
}

int ls_plan_layout_init(struct ls_plan_layout *ret, uint64_t batch, uint64_t ranks, uint64_t accum,
			uint64_t samples, bool drop_last, struct ls_err *err)
{
	struct ls_plan_layout l = {.batch = batch, .ranks = ranks, .accum = accum};
	int rc = in_bounds("batch size of a GPU", batch, LS_PLAN_MAX_BATCH, err);
	if (!rc)
		rc = in_bounds("number of GPUs", ranks, LS_PLAN_MAX_GPUS, err);
	if (!rc)
		rc = in_bounds("gradient accumulation", accum, LS_PLAN_MAX_ACCUM, err);
	if (!rc && samples)
		rc = in_bounds("number of samples", samples, LS_PLAN_MAX_SAMPLES, err);
	if (rc)
		return rc;
	l.global = batch * ranks; /* below 2^52; with accum it could pass 2^64 */
	if (l.global > LS_PLAN_MAX_GLOBAL || accum > LS_PLAN_MAX_GLOBAL / l.global)
		return ls_err_set(err, LS_EINPUT,
				  "%" PRIu64 " samples on %" PRIu64 " GPUs, %" PRIu64
				  " times: a global batch has at most %" PRIu64 " samples",
				  batch, ranks, accum, LS_PLAN_MAX_GLOBAL);
	l.global *= accum;
	if (samples)
		shard(&l, samples, drop_last);
	*ret = l;
	return 0;
}

void ls_plan_layout_text(const struct ls_plan_layout *l, char ret[LS_PLAN_LAYOUT_TEXT])
{
	char accum[32] = "";
	if (l->accum > 1)
		snprintf(accum, sizeof accum, " × %" PRIu64, l->accum);
	snprintf(ret, LS_PLAN_LAYOUT_TEXT,
		 "%" PRIu64 "/GPU × %" PRIu64 " GPU%s%s = %" PRIu64 " global", l->batch, l->ranks,
		 l->ranks == 1 ? "" : "s", accum, l->global);
}
