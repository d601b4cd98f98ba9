/* Findings about precision, TF32, memory and the GPUs themselves. */
#include <inttypes.h>

#include "plan/findings.h"

static void names(unsigned set, struct ls_str *out)
{
	for (unsigned i = 0; i < LS_PRECISIONS; i++)
		if (set & 1u << i)
			ls_str_addf(out, "%s%s", out->len ? ", " : "",
				    ls_precision_name((enum ls_precision)(1u << i)));
}

static bool same_model(const struct ls_plan *p)
{
	return p->from && p->from == p->to;
}

static void find_lacking(const struct ls_plan_ask *ask, struct ls_plan *p)
{
	const char *wanted = ls_precision_name(ask->precision);
	bool from_lacks = p->from && !(p->from->precisions & (unsigned)ask->precision);
	const struct ls_gpu_model *who = from_lacks ? p->from : p->to;
	ls_plan_say(p, LS_RISK_HIGH, "precision",
		    "%s (compute capability %s) has no %s: %s on both sides, and run the baseline "
		    "again in it, because another precision is another training%s",
		    who->name, who->capability, wanted, ls_precision_name(p->precision),
		    p->precision == LS_FP16 ? " (FP16 also needs loss scaling)" : "");
}

static void find_precision(const struct ls_plan_ask *ask, struct ls_plan *p)
{
	struct ls_str common = {0};
	if (ask->precision && p->precision != ask->precision) {
		find_lacking(ask, p);
		return;
	}
	if (!ask->precision && !same_model(p)) {
		names(p->common, &common);
		ls_plan_say(p, LS_RISK_MEDIUM, "precision",
			    "the baseline's precision is not known (--precision); set the same one "
			    "on both sides: both have %s",
			    common.s);
		ls_str_done(&common);
	}
	if ((ask->precision == LS_FP8 || ask->precision == LS_FP4) && !same_model(p))
		ls_plan_say(p, LS_RISK_MEDIUM, "precision",
			    "both GPUs have %s, but its scaling and kernels differ between "
			    "generations: fix the recipe, or run both sides in bf16",
			    ls_precision_name(ask->precision));
}

/* PyTorch's defaults are off for matrix products and on for cuDNN's convolutions. */
static void find_tf32(const struct ls_plan_ask *ask, struct ls_plan *p)
{
	bool from_has = !p->from || p->from->precisions & LS_TF32;
	bool to_has = !p->to || p->to->precisions & LS_TF32;
	if (p->from && p->to && from_has != to_has)
		ls_plan_say(p, ask->tf32 == 1 ? LS_RISK_HIGH : LS_RISK_MEDIUM, "tf32",
			    "%s has no TF32, and %s would use it for convolutions by PyTorch's "
			    "default: turn it off on both sides",
			    from_has ? p->to->name : p->from->name,
			    from_has ? p->from->name : p->to->name);
	else if (p->tf32 < 0)
		ls_plan_say(
			p, LS_RISK_LOW, "tf32",
			"the baseline's TF32 setting is not known (--tf32): set "
			"torch.backends.cuda.matmul.allow_tf32 and torch.backends.cudnn.allow_tf32 "
			"to the same values on both sides; PyTorch's defaults are False and True");
}

static void find_unknown_memory(struct ls_plan *p)
{
	ls_plan_say(p, LS_RISK_MEDIUM, "memory",
		    "whether %" PRIu64 " samples fit a GPU of the target is not known: give the "
		    "baseline's run_manifest.json (--manifest), or --params, --optimizer and "
		    "--activations",
		    p->options[0].layout.batch);
}

static void find_memory(struct ls_plan *p)
{
	const struct ls_plan_memory *m = &p->options[0].memory;
	if (m->fit == LS_FIT_UNKNOWN)
		find_unknown_memory(p);
	if (m->fit == LS_FIT_TIGHT)
		ls_plan_say(p, LS_RISK_MEDIUM, "memory",
			    "%" PRIu64
			    " samples need up to %.1f of %.1f GiB: more than 90 %%, which "
			    "may run out of memory; take more accumulation",
			    p->options[0].layout.batch, m->most_bytes / 1073741824,
			    ls_gpu_model_bytes(p->to) / 1073741824);
	if (m->fit == LS_FIT_NO)
		ls_plan_say(
			p, LS_RISK_HIGH, "memory",
			"no way to divide the batch fits: even %" PRIu64 " samples need at least "
			"%.1f of %.1f GiB; shard the optimizer's state (FSDP, ZeRO) or recompute "
			"activations",
			p->options[0].layout.batch, m->least_bytes / 1073741824,
			ls_gpu_model_bytes(p->to) / 1073741824);
}

static void find_model(struct ls_plan *p)
{
	if (!p->from || !p->to || same_model(p))
		return;
	ls_plan_say(p, LS_RISK_LOW, "gpu",
		    "%s and %s choose other kernels and other orders of summation: the last bits "
		    "differ at every level of determinism",
		    p->from->name, p->to->name);
}

void ls_plan_find_hardware(const struct ls_plan_ask *ask, struct ls_plan *p)
{
	find_precision(ask, p);
	find_tf32(ask, p);
	find_memory(p);
	find_model(p);
}
