/* Findings about the global batch, the schedule and the learning rate. */
#include <inttypes.h>

#include "plan/findings.h"

static double percent(uint64_t now, uint64_t was)
{
	return ((double)now / (double)was - 1) * 100;
}

/* What would happen to the global batch if nothing but the GPUs changed. */
static void find_unchanged(struct ls_plan *p)
{
	const struct ls_plan_layout *was = &p->baseline.layout, *now = &p->unchanged.layout;
	if (p->unchanged.same_global)
		return;
	ls_plan_say(p, LS_RISK_HIGH, "unchanged_batch",
		    "if %" PRIu64 " a GPU stayed, the global batch would be %" PRIu64
		    " and not %" PRIu64 " (%+.1f %%), and the gradient's noise another: change the "
		    "batch size or the accumulation with the GPUs",
		    was->batch, now->global, was->global, percent(now->global, was->global));
}

static void find_epochs(struct ls_plan *p)
{
	const struct ls_plan_schedule *was = &p->baseline.schedule, *now = &p->unchanged.schedule;
	if (!was->steps_per_epoch || was->steps_per_epoch == now->steps_per_epoch)
		return;
	ls_plan_say(
		p, LS_RISK_HIGH, "unchanged_schedule",
		"then an epoch would have %" PRIu64 " steps and not %" PRIu64
		", and what is counted in epochs (warm-up, decay, evaluation) would move: count "
		"in optimizer steps",
		now->steps_per_epoch, was->steps_per_epoch);
}

static void find_learning_rate(const struct ls_plan_ask *ask, struct ls_plan *p)
{
	bool linear = ask->optimizer == LS_OPT_SGD || ask->optimizer == LS_OPT_MOMENTUM;
	if (ask->optimizer == LS_OPT_UNKNOWN)
		ls_plan_say(p, LS_RISK_HIGH, "learning_rate",
			    "the learning rate belongs to the old batch; usual rules: times %.6g "
			    "(linear, for SGD) or times %.6g (square root, for Adam), with warm-up",
			    p->lr_linear, p->lr_root);
	else
		ls_plan_say(p, LS_RISK_HIGH, "learning_rate",
			    "the learning rate belongs to the old batch; the usual rule for this "
			    "optimizer is %s: times %.6g, with warm-up",
			    linear ? "linear" : "the square root",
			    linear ? p->lr_linear : p->lr_root);
}

static void find_inexact(const struct ls_plan_ask *ask, struct ls_plan *p)
{
	const struct ls_plan_layout *was = &p->baseline.layout, *now = &p->options[0].layout;
	char text[LS_PLAN_LAYOUT_TEXT];
	ls_plan_layout_text(now, text);
	ls_plan_say(p, LS_RISK_HIGH, "global_batch",
		    "%" PRIu64 " GPUs cannot share a global batch of %" PRIu64
		    "; the nearest is %s (%+.2f %%), which is another training: compare it only "
		    "over several seeds on both sides",
		    now->ranks, was->global, text, percent(now->global, was->global));
	find_learning_rate(ask, p);
	if (!p->fewer)
		return;
	ls_plan_layout_text(&p->fewer->layout, text);
	ls_plan_say(p, LS_RISK_NONE, "fewer_gpus", "on fewer GPUs the global batch stays: %s",
		    text);
}

static void find_steps(struct ls_plan *p)
{
	const struct ls_plan_option *o = &p->options[0];
	if (o->same_steps || !o->same_global)
		return;
	ls_plan_say(p, LS_RISK_MEDIUM, "steps_per_epoch",
		    "the global batch stays, but an epoch has %" PRIu64 " steps and not %" PRIu64
		    ", because drop_last leaves out other samples: end by optimizer steps, not by "
		    "epochs",
		    o->layout.steps_per_epoch, p->baseline.layout.steps_per_epoch);
}

void ls_plan_find_batch(const struct ls_plan_ask *ask, struct ls_plan *p)
{
	if (!p->exact)
		find_inexact(ask, p);
	find_steps(p);
	find_unchanged(p);
	find_epochs(p);
}
