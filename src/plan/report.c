#include "plan/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/table.h"

enum { COLUMNS = 8, CELL = 24 };

static const char *model_name(const struct ls_gpu_model *m)
{
	return m ? m->name : "unknown GPU";
}

/* --- text --- */

static void number(char cell[CELL], uint64_t value, bool known)
{
	snprintf(cell, CELL, known ? "%" PRIu64 : "unknown", value);
}

static void add_row(struct ls_table *t, const char *label, const struct ls_plan_option *o)
{
	const struct ls_plan_layout *l = &o->layout;
	const struct ls_plan_schedule *s = &o->schedule;
	const uint64_t values[] = {l->batch,           l->ranks,        l->accum,      l->global,
				   s->steps_per_epoch, s->warmup_steps, s->total_steps};
	const bool known[] = {
		true, true, true, true, s->steps_per_epoch > 0, s->has_warmup, s->total_steps > 0};
	char text[COLUMNS - 1][CELL];
	const char *cells[COLUMNS] = {label};
	for (size_t i = 0; i + 1 < COLUMNS; i++) {
		number(text[i], values[i], known[i]);
		cells[i + 1] = text[i];
	}
	ls_table_row(t, cells);
}

static void add_layouts(const struct ls_plan *p, size_t max, struct ls_str *out)
{
	static const char *const heading[COLUMNS] = {"",       "BATCH/GPU",   "GPUS",    "ACCUM",
						     "GLOBAL", "STEPS/EPOCH", "WARM-UP", "STEPS"};
	size_t shown = max && max < p->n_options ? max : p->n_options;
	struct ls_table t;
	ls_table_init(&t, COLUMNS, heading);
	add_row(&t, "baseline", &p->baseline);
	for (size_t i = 0; i < shown; i++)
		add_row(&t, i ? "or" : p->exact ? "the same" : "nearest", &p->options[i]);
	if (p->fewer)
		add_row(&t, "fewer GPUs", p->fewer);
	if (!p->unchanged.same_global)
		add_row(&t, "unchanged", &p->unchanged);
	ls_table_text(&t, out);
	ls_table_done(&t);
	if (shown < p->n_options)
		ls_str_addf(out, "%zu more with --all\n", p->n_options - shown);
}

static void add_findings(const struct ls_plan *p, struct ls_str *out)
{
	for (size_t i = 0; i < p->n_findings; i++) {
		const struct ls_plan_finding *f = &p->findings[i];
		ls_str_addf(out, "%s%s: %s\n",
			    f->risk == LS_RISK_NONE ? "note" : ls_risk_name(f->risk),
			    f->risk == LS_RISK_NONE ? "" : " risk", f->text);
	}
}

void ls_plan_text(const struct ls_plan *p, size_t max, struct ls_str *out)
{
	char was[LS_PLAN_LAYOUT_TEXT], now[LS_PLAN_LAYOUT_TEXT];
	ls_plan_layout_text(&p->baseline.layout, was);
	ls_plan_layout_text(&p->options[0].layout, now);
	ls_str_addf(out, "%s, %s\n%s, %s: %s\n\n", model_name(p->from), was, model_name(p->to), now,
		    p->exact ? "the same global batch" : "NOT the same global batch");
	add_layouts(p, max, out);
	if (p->n_findings)
		ls_str_add(out, "\n");
	add_findings(p, out);
}

/* --- JSON --- */

static json_t *count(uint64_t value, bool known)
{
	return known ? json_integer((json_int_t)value) : json_null();
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
	return json_pack("{s:s,s:i,s:o,s:o,s:b,s:o,s:o,s:o,s:o,s:o}", "format", "lockstep-plan",
			 "version", 1, "from", model_json(p->from), "to", model_json(p->to),
			 "exact", p->exact, "baseline", option_json(&p->baseline), "options",
			 options, "fewer_gpus", p->fewer ? option_json(p->fewer) : json_null(),
			 "unchanged", option_json(&p->unchanged), "findings", findings_json(p));
}

/* --- the catalogue --- */

static void list_row(struct ls_table *t, const struct ls_gpu_model *m)
{
	char memory[CELL], reported[CELL];
	struct ls_str precisions = {0};
	snprintf(memory, sizeof memory, "%u", m->memory_gb);
	number(reported, m->reported_mib, m->reported_mib > 0);
	for (unsigned i = 0; i < LS_PRECISIONS; i++)
		if (m->precisions & 1u << i)
			ls_str_addf(&precisions, "%s%s", precisions.len ? " " : "",
				    ls_precision_name((enum ls_precision)(1u << i)));
	ls_table_row(t, (const char *const[]){m->name, m->capability, memory, reported, m->link,
					      precisions.s});
	ls_str_done(&precisions);
}

void ls_plan_list_text(const struct ls_gpu_catalog *c, struct ls_str *out)
{
	static const char *const heading[] = {"GPU", "CAPABILITY", "GB",
					      "MIB", "LINK",       "PRECISIONS"};
	struct ls_table t;
	ls_table_init(&t, sizeof heading / sizeof *heading, heading);
	for (size_t i = 0; i < ls_gpu_catalog_count(c); i++)
		list_row(&t, ls_gpu_catalog_model(c, i));
	ls_table_text(&t, out);
	ls_table_done(&t);
}

json_t *ls_plan_list_json(const struct ls_gpu_catalog *c)
{
	json_t *list = json_array();
	for (size_t i = 0; i < ls_gpu_catalog_count(c); i++)
		json_array_append_new(list, model_json(ls_gpu_catalog_model(c, i)));
	return json_pack("{s:o}", "gpus", list);
}
