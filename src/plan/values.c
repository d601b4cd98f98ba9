#include "plan/values.h"

#include <inttypes.h>
#include <stdio.h>

static void add(struct ls_plan_value **at, const char *placeholder, const char *variable,
		const char *key)
{
	*(*at)++ = (struct ls_plan_value){placeholder, variable, key, ""};
}

static void add_number(struct ls_plan_value **at, const char *placeholder, const char *variable,
		       const char *key, uint64_t value, bool known)
{
	add(at, placeholder, variable, key);
	if (known)
		snprintf((*at)[-1].text, sizeof(*at)[-1].text, "%" PRIu64, value);
}

void ls_plan_values(const struct ls_plan *p, struct ls_plan_value ret[LS_PLAN_VALUES])
{
	const struct ls_plan_option *o = &p->options[0];
	const struct ls_plan_layout *l = &o->layout;
	const struct ls_plan_schedule *s = &o->schedule;
	struct ls_plan_value *at = ret;
	add_number(&at, "global", "GLOBAL_BATCH_SIZE", "global_batch_size", l->global, true);
	add_number(&at, "batch", "PER_GPU_BATCH", "per_gpu_batch", l->batch, true);
	add_number(&at, "gpus", "NUM_GPUS", "num_gpus", l->ranks, true);
	add_number(&at, "accum", "GRAD_ACCUM", "grad_accum", l->accum, true);
	add_number(&at, NULL, "STEPS_PER_EPOCH", "steps_per_epoch", s->steps_per_epoch,
		   s->steps_per_epoch > 0);
	add_number(&at, "warmup", "WARMUP_STEPS", "warmup_steps", s->warmup_steps, s->has_warmup);
	add_number(&at, "steps", "TOTAL_STEPS", "total_steps", s->total_steps, s->total_steps > 0);
	add_number(&at, "workers", "NUM_WORKERS", "num_dataloader_workers", p->workers,
		   p->workers > 0);
	add(&at, "lr", "LEARNING_RATE", "learning_rate");
	if (p->learning_rate > 0)
		snprintf(at[-1].text, sizeof at[-1].text, "%.9g", p->learning_rate);
	add(&at, "precision", "PRECISION", "precision");
	if (p->precision)
		snprintf(at[-1].text, sizeof at[-1].text, "%s", ls_precision_name(p->precision));
	add(&at, NULL, "TF32", "tf32_enabled");
	if (p->tf32 >= 0)
		snprintf(at[-1].text, sizeof at[-1].text, "%d", p->tf32);
}
