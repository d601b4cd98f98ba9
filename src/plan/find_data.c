/* Findings about the sampler, the loss, normalisation and the DataLoader's workers. */
#include <inttypes.h>

#include "plan/findings.h"

static void find_order(const struct ls_plan_ask *ask, struct ls_plan *p)
{
	uint64_t was = p->baseline.layout.ranks, now = p->options[0].layout.ranks;
	if (was == now)
		return;
	ls_plan_say(p, LS_RISK_LOW, "data_order",
		    "%s, but on other ranks: random augmentation draws other numbers%s",
		    p->exact ? "with the same sampler seed every step sees the same samples"
			     : "the sampler's order stays and the steps cut it elsewhere",
		    ask->workers ? "" : "; keep the number of DataLoader workers");
	ls_plan_say(p, LS_RISK_LOW, "reduction",
		    "the all-reduce adds the gradients of %" PRIu64 " ranks and not of %" PRIu64
		    ": sums differ in their last bits, and the difference grows with the steps",
		    now, was);
}

static void find_workers(const struct ls_plan_ask *ask, struct ls_plan *p)
{
	uint64_t was = p->baseline.layout.ranks, now = p->options[0].layout.ranks;
	if (!ask->workers || was == now)
		return;
	ls_plan_say(p, LS_RISK_LOW, "workers",
		    "%" PRIu64 " workers a rank stay, which are %" PRIu64
		    " processes and not %" PRIu64
		    ": seed them by worker and rank, and mind the cores of the node",
		    ask->workers, ask->workers * now, ask->workers * was);
}

static void find_padding(struct ls_plan *p)
{
	const struct ls_plan_layout *was = &p->baseline.layout, *now = &p->options[0].layout;
	if (was->padding == now->padding)
		return;
	ls_plan_say(p, LS_RISK_LOW, "padding",
		    "DistributedSampler repeats %" PRIu64 " samples an epoch to give %" PRIu64
		    " ranks equal shares, and repeated %" PRIu64 " before; in evaluation repeated "
		    "samples also move the metric",
		    now->padding, now->ranks, was->padding);
}

/* Is the last optimizer step of an epoch made of fewer or smaller micro-batches? */
static bool last_step_is_partial(const struct ls_plan_layout *l)
{
	return l->micro_batches && (l->last_accum != l->accum || l->last_batch != l->batch);
}

static void find_last_step(struct ls_plan *p)
{
	const struct ls_plan_layout *was = &p->baseline.layout, *now = &p->options[0].layout;
	if ((was->accum == 1 && now->accum == 1) ||
	    (!last_step_is_partial(was) && !last_step_is_partial(now)))
		return;
	ls_plan_say(
		p, LS_RISK_MEDIUM, "last_step",
		"the last step of an epoch has %" PRIu64 " of %" PRIu64 " micro-batches, the last "
		"of them with %" PRIu64 " of %" PRIu64 " samples (before: %" PRIu64 " of %" PRIu64
		", %" PRIu64 " of %" PRIu64 "): divide the loss by the samples that are there, "
		"and step at the end of an epoch, or use drop_last on both sides",
		now->last_accum, now->accum, now->last_batch, now->batch, was->last_accum,
		was->accum, was->last_batch, was->batch);
}

static void find_loss(struct ls_plan *p)
{
	const struct ls_plan_layout *was = &p->baseline.layout, *now = &p->options[0].layout;
	if (was->accum == now->accum)
		return;
	ls_plan_say(p, LS_RISK_MEDIUM, "loss_average",
		    "accumulation changes from %" PRIu64 " to %" PRIu64
		    ": a mean of means is the mean over the global batch only if every micro-batch "
		    "counts as many items; where a loss is per token or masked, divide the sum by "
		    "the global count, and clip gradients once a step",
		    was->accum, now->accum);
}

/* What one BatchNorm layer sees at once. */
static uint64_t seen(const struct ls_plan_ask *ask, const struct ls_plan_layout *l)
{
	return ask->norm == LS_NORM_SYNC ? l->batch * l->ranks : l->batch;
}

static const char *norm_advice(const struct ls_plan_ask *ask, const struct ls_plan *p)
{
	for (size_t i = 0; i < p->n_options; i++)
		if (seen(ask, &p->options[i].layout) == seen(ask, &p->baseline.layout))
			return ": the old number, with other accumulation, keeps them";
	return ": no way to divide the batch keeps them";
}

static void find_norm(const struct ls_plan_ask *ask, struct ls_plan *p)
{
	static const char *const who[] = {[LS_NORM_UNKNOWN] =
						  "if the model has BatchNorm, it takes",
					  [LS_NORM_PER_GPU] = "BatchNorm takes",
					  [LS_NORM_SYNC] = "SyncBatchNorm takes"};
	uint64_t was = seen(ask, &p->baseline.layout), now = seen(ask, &p->options[0].layout);
	if (ask->norm == LS_NORM_NONE || was == now)
		return;
	ls_plan_say(p, ask->norm == LS_NORM_UNKNOWN ? LS_RISK_LOW : LS_RISK_MEDIUM, "batch_norm",
		    "%s its statistics over %" PRIu64 " samples and not over %" PRIu64 "%s",
		    who[ask->norm], now, was, norm_advice(ask, p));
}

void ls_plan_find_data(const struct ls_plan_ask *ask, struct ls_plan *p)
{
	find_norm(ask, p);
	find_loss(p);
	find_last_step(p);
	find_padding(p);
	find_order(ask, p);
	find_workers(ask, p);
}
