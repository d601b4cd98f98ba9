#include "plan/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/table.h"

enum { COLUMNS = 9, CELL = 24 };

static const char *model_name(const struct ls_gpu_model *m)
{
	return m ? m->name : "unknown GPU";
}

/* --- text --- */

static void number(char cell[CELL], uint64_t value, bool known)
{
	snprintf(cell, CELL, known ? "%" PRIu64 : "unknown", value);
}

/* "fits (measured)", or empty for what is not judged. */
static void memory_cell(char cell[CELL], const struct ls_plan_memory *m)
{
	if (!m->source)
		cell[0] = 0;
	else if (m->fit == LS_FIT_UNKNOWN)
		snprintf(cell, CELL, "unknown");
	else
		snprintf(cell, CELL, "%s (%s)", ls_fit_name(m->fit), m->source);
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
	for (size_t i = 0; i + 2 < COLUMNS; i++) {
		number(text[i], values[i], known[i]);
		cells[i + 1] = text[i];
	}
	memory_cell(text[COLUMNS - 2], &o->memory);
	cells[COLUMNS - 1] = text[COLUMNS - 2];
	ls_table_row(t, cells);
}

static void add_layouts(const struct ls_plan *p, size_t max, struct ls_str *out)
{
	static const char *const heading[COLUMNS] = {"",        "BATCH/GPU", "GPUS",
						     "ACCUM",   "GLOBAL",    "STEPS/EPOCH",
						     "WARM-UP", "STEPS",     "MEMORY"};
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

/* What both sides have to set, a line each. */
static void add_settings(const struct ls_plan *p, struct ls_str *out)
{
	static const char *const tf32[] = {"as the baseline had it", "off", "on"};
	const struct ls_plan_layout *was = &p->baseline.layout, *now = &p->options[0].layout;
	ls_str_addf(out, "precision      %s on both sides, TF32 %s\n",
		    p->precision ? ls_precision_name(p->precision) : "unknown: the same",
		    tf32[p->tf32 + 1]);
	if (p->learning_rate > 0)
		ls_str_addf(out, "learning rate  %.9g\n", p->learning_rate);
	else if (p->exact)
		ls_str_add(out, "learning rate  as it was\n");
	if (p->workers)
		ls_str_addf(out, "workers        %" PRIu64 " a rank\n", p->workers);
	if (now->rank_samples)
		ls_str_addf(out,
			    "sampler        %" PRIu64 " samples a rank, %" PRIu64
			    " of them repeated in all, last micro-batch %" PRIu64
			    " (before: %" PRIu64 ", %" PRIu64 ", %" PRIu64 ")\n",
			    now->rank_samples, now->padding, now->last_batch, was->rank_samples,
			    was->padding, was->last_batch);
}

static void add_variance(const struct ls_plan *p, struct ls_str *out)
{
	if (!p->n_variance)
		ls_str_add(out, "\nexpected difference of a metric: unknown, this is another "
				"training\n");
	else
		ls_str_add(out, "\nexpected difference of a metric, a rule of thumb:\n");
	for (size_t i = 0; i < p->n_variance; i++) {
		const struct ls_plan_variance *v = &p->variance[i];
		ls_str_addf(out, "  level %d  ", v->level);
		if (v->most_percent > 0)
			ls_str_addf(out, "%g to %g %%", v->least_percent, v->most_percent);
		else
			ls_str_add(out, "none, bit by bit");
		ls_str_addf(out, ": %s\n", v->needs);
	}
}

/* Words on lines of at most this many columns, which begin with an indent from the second
 * on. */
enum { WIDTH = 96 };

static size_t columns(const char *s, size_t bytes)
{
	size_t n = 0;
	for (size_t i = 0; i < bytes; i++)
		n += ((unsigned char)s[i] & 0xC0) != 0x80;
	return n;
}

static void add_wrapped(struct ls_str *out, const char *lead, const char *text)
{
	size_t at = columns(lead, strlen(lead));
	ls_str_add(out, lead);
	while (*text) {
		size_t word = strcspn(text, " ") + strspn(text + strcspn(text, " "), " ");
		size_t wide = columns(text, word);
		if (at + wide > WIDTH + 1) {
			while (out->len && out->s[out->len - 1] == ' ')
				out->s[--out->len] = 0;
			ls_str_add(out, "\n  ");
			at = 2;
		}
		ls_str_add_bytes(out, text, word);
		at += wide;
		text += word;
	}
	ls_str_add(out, "\n");
}

static void add_findings(const struct ls_plan *p, struct ls_str *out)
{
	for (size_t i = 0; i < p->n_findings; i++) {
		const struct ls_plan_finding *f = &p->findings[i];
		char lead[CELL];
		snprintf(lead, sizeof lead, "%s: ",
			 f->risk == LS_RISK_NONE     ? "note"
			 : f->risk == LS_RISK_LOW    ? "low risk"
			 : f->risk == LS_RISK_MEDIUM ? "medium risk"
						     : "high risk");
		add_wrapped(out, lead, f->text);
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
	ls_str_add(out, "\n");
	add_settings(p, out);
	add_variance(p, out);
	if (p->n_findings)
		ls_str_add(out, "\n");
	add_findings(p, out);
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
