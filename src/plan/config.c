#include "plan/config.h"

#include <inttypes.h>
#include <string.h>

#include "plan/values.h"

static const char *name_of(const struct ls_gpu_model *m)
{
	return m ? m->name : "unknown GPU";
}

/* Which move it is, and whether it is the same training, in comments. */
static void add_head(const struct ls_plan *p, struct ls_str *out)
{
	char was[LS_PLAN_LAYOUT_TEXT], now[LS_PLAN_LAYOUT_TEXT];
	ls_plan_layout_text(&p->baseline.layout, was);
	ls_plan_layout_text(&p->options[0].layout, now);
	ls_str_addf(out, "# lockstep plan\n# from %s: %s\n# to %s: %s\n", name_of(p->from), was,
		    name_of(p->to), now);
	if (!p->exact)
		ls_str_add(out,
			   "# NOT the same training: these GPUs cannot share the global batch\n");
}

static void add_variables(const struct ls_plan *p, struct ls_str *out)
{
	struct ls_plan_value v[LS_PLAN_VALUES];
	ls_plan_values(p, v);
	for (size_t i = 0; i < LS_PLAN_VALUES; i++)
		if (*v[i].text)
			ls_str_addf(out, "export %s=%s\n", v[i].variable, v[i].text);
		else
			ls_str_addf(out, "# %s is not known\n", v[i].variable);
}

void ls_plan_env(const struct ls_plan *p, struct ls_str *out)
{
	add_head(p, out);
	add_variables(p, out);
}

/* Lightning's name for a precision; NULL where it has none. */
static const char *lightning(enum ls_precision p)
{
	switch (p) {
	case LS_FP32:
	case LS_TF32:
		return "32-true";
	case LS_BF16:
		return "bf16-mixed";
	case LS_FP16:
		return "16-mixed";
	case LS_FP8:
		return "transformer-engine";
	default:
		return NULL;
	}
}

static void add_text(struct ls_str *out, const char *key, const char *text)
{
	if (text)
		ls_str_addf(out, "  %s: \"%s\"\n", key, text);
	else
		ls_str_addf(out, "  %s: null\n", key);
}

static void add_side(struct ls_str *out, const char *key, const struct ls_gpu_model *m,
		     const struct ls_plan_layout *l)
{
	ls_str_addf(out, "  %s:\n  ", key);
	add_text(out, "gpu", m ? m->name : NULL);
	ls_str_addf(out,
		    "    num_gpus: %" PRIu64 "\n    per_gpu_batch: %" PRIu64
		    "\n    grad_accum: %" PRIu64 "\n",
		    l->ranks, l->batch, l->accum);
}

/* What both sides share; what belongs to one of them stands below it. */
static bool is_shared(const struct ls_plan_value *v)
{
	static const char *const own[] = {"PER_GPU_BATCH", "NUM_GPUS", "GRAD_ACCUM", "PRECISION",
					  "TF32"};
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (strcmp(v->variable, own[i]) == 0)
			return false;
	return true;
}

void ls_plan_yaml(const struct ls_plan *p, struct ls_str *out)
{
	static const char *const booleans[] = {"null", "false", "true"}, *const matmul[] = {
										 NULL, "highest",
										 "high"};
	struct ls_plan_value v[LS_PLAN_VALUES];
	ls_plan_values(p, v);
	add_head(p, out);
	ls_str_add(out, "experiment:\n");
	for (size_t i = 0; i < LS_PLAN_VALUES; i++)
		if (is_shared(&v[i]))
			ls_str_addf(out, "  %s: %s\n", v[i].key, *v[i].text ? v[i].text : "null");
	add_text(out, "precision", p->precision ? ls_precision_name(p->precision) : NULL);
	add_text(out, "lightning_precision", lightning(p->precision));
	ls_str_addf(out, "  tf32_enabled: %s\n", booleans[p->tf32 + 1]);
	add_text(out, "float32_matmul_precision", matmul[p->tf32 + 1]);
	add_side(out, "baseline", p->from, &p->baseline.layout);
	add_side(out, "target", p->to, &p->options[0].layout);
}
