#include <inttypes.h>

#include "plan/report.h"

static json_t *count(uint64_t value, bool known)
{
	return known ? json_integer((json_int_t)value) : json_null();
}

static json_t *bytes(double value)
{
	return value > 0 ? json_integer((json_int_t)value) : json_null();
}

/* What is not judged has no source. */
static json_t *memory_json(const struct ls_plan_memory *m)
{
	if (!m->source)
		return json_null();
	return json_pack("{s:s,s:o,s:o,s:s}", "fit", ls_fit_name(m->fit), "least_bytes",
			 bytes(m->least_bytes), "most_bytes", bytes(m->most_bytes), "source",
			 m->source);
}

static json_t *variance_json(const struct ls_plan *p)
{
	json_t *list = json_array();
	for (size_t i = 0; i < p->n_variance; i++)
		json_array_append_new(list,
				      json_pack("{s:i,s:f,s:f,s:s}", "level", p->variance[i].level,
						"least_percent", p->variance[i].least_percent,
						"most_percent", p->variance[i].most_percent,
						"needs", p->variance[i].needs));
	return list;
}

/* What both sides have to set. */
static json_t *settings_json(const struct ls_plan *p)
{
	return json_pack("{s:s?,s:o,s:o,s:o,s:f,s:f}", "precision",
			 p->precision ? ls_precision_name(p->precision) : NULL, "tf32",
			 p->tf32 < 0 ? json_null() : json_boolean(p->tf32), "workers",
			 count(p->workers, p->workers > 0), "learning_rate",
			 p->learning_rate > 0 ? json_real(p->learning_rate) : json_null(),
			 "lr_factor_linear", p->lr_linear, "lr_factor_square_root", p->lr_root);
}

static json_t *option_json(const struct ls_plan_option *o)
{
	const struct ls_plan_layout *l = &o->layout;
	const struct ls_plan_schedule *s = &o->schedule;
	bool sharded = l->rank_samples > 0;
	json_t *j = json_pack("{s:o,s:o,s:o,s:o,s:b,s:b}", "batch_per_gpu", count(l->batch, true),
			      "gpus", count(l->ranks, true), "accumulation", count(l->accum, true),
			      "global_batch", count(l->global, true), "same_global_batch",
			      o->same_global, "same_steps_per_epoch", o->same_steps);
	const struct {
		const char *key;
		uint64_t value;
		bool known;
	} rest[] = {{"steps_per_epoch", s->steps_per_epoch, s->steps_per_epoch > 0},
		    {"warmup_steps", s->warmup_steps, s->has_warmup},
		    {"total_steps", s->total_steps, s->total_steps > 0},
		    {"samples_per_rank", l->rank_samples, sharded},
		    {"padding", l->padding, sharded},
		    {"micro_batches", l->micro_batches, sharded},
		    {"last_micro_batch", l->last_batch, sharded},
		    {"last_accumulation", l->last_accum, sharded}};
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
		json_object_set_new(j, rest[i].key, count(rest[i].value, rest[i].known));
	json_object_set_new(j, "memory", memory_json(&o->memory));
	return j;
}

static json_t *model_json(const struct ls_gpu_model *m)
{
	if (!m)
		return json_null();
	json_t *precisions = json_array();
	for (unsigned i = 0; i < LS_PRECISIONS; i++)
		if (m->precisions & 1u << i)
			json_array_append_new(precisions, json_string(ls_precision_name(
								  (enum ls_precision)(1u << i))));
	return json_pack("{s:s,s:s,s:i,s:o,s:o,s:s}", "gpu", m->name, "capability", m->capability,
			 "memory_gb", (int)m->memory_gb, "memory_mib",
			 count(m->reported_mib, m->reported_mib > 0), "precisions", precisions,
			 "link", m->link);
}

static json_t *findings_json(const struct ls_plan *p)
{
	json_t *list = json_array();
	for (size_t i = 0; i < p->n_findings; i++)
		json_array_append_new(
			list, json_pack("{s:s,s:s,s:s}", "risk", ls_risk_name(p->findings[i].risk),
					"what", p->findings[i].what, "text", p->findings[i].text));
	return list;
}

json_t *ls_plan_json(const struct ls_plan *p)
{
	json_t *options = json_array();
	for (size_t i = 0; i < p->n_options; i++)
		json_array_append_new(options, option_json(&p->options[i]));
	return json_pack("{s:s,s:i,s:o,s:o,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "format",
			 "lockstep-plan", "version", 1, "from", model_json(p->from), "to",
			 model_json(p->to), "exact", p->exact, "baseline",
			 option_json(&p->baseline), "options", options, "fewer_gpus",
			 p->fewer ? option_json(p->fewer) : json_null(), "unchanged",
			 option_json(&p->unchanged), "settings", settings_json(p), "variance",
			 variance_json(p), "findings", findings_json(p));
}

json_t *ls_plan_list_json(const struct ls_gpu_catalog *c)
{
	json_t *list = json_array();
	for (size_t i = 0; i < ls_gpu_catalog_count(c); i++)
		json_array_append_new(list, model_json(ls_gpu_catalog_model(c, i)));
	return json_pack("{s:o}", "gpus", list);
}
