#include "plan/memory.h"

#include <string.h>

/* Bytes a parameter, in data-parallel training with FP32 master weights (autocast). */
enum { WEIGHT = 4, GRADIENT = 4, BUCKET = 4, CAST = 2 };
/* CUDA's context and what its libraries reserve. */
static const double context_bytes = 1073741824.0;
/* Fuller than this a GPU runs out of memory by fragmentation or a longer batch. */
static const double comfortable = 0.9;

static const struct {
	const char *name;
	unsigned state; /* bytes a parameter */
} optimizers[LS_OPT_COUNT] = {{"", 0},     {"sgd", 0},  {"momentum", 4},
			      {"adam", 8}, {"lion", 4}, {"adafactor", 1}};

enum ls_plan_optimizer ls_plan_optimizer_of(const char *name)
{
	if (strcmp(name, "adamw") == 0)
		return LS_OPT_ADAM;
	for (unsigned i = 1; i < LS_OPT_COUNT; i++)
		if (strcmp(name, optimizers[i].name) == 0)
			return (enum ls_plan_optimizer)i;
	return LS_OPT_UNKNOWN;
}

const char *ls_fit_name(enum ls_fit fit)
{
	static const char *const names[] = {"fits", "likely", "tight", "unknown", "no"};
	return names[fit];
}

double ls_plan_fixed_bytes(const struct ls_plan_ask *ask, uint64_t ranks)
{
	bool cast = ask->precision == LS_BF16 || ask->precision == LS_FP16 ||
		    ask->precision == LS_FP8 || ask->precision == LS_FP4;
	unsigned bytes = WEIGHT + GRADIENT + (cast ? CAST : 0u) + (ranks > 1 ? BUCKET : 0u);
	if (!ask->params || ask->optimizer == LS_OPT_UNKNOWN)
		return 0;
	bytes += optimizers[ask->optimizer].state;
	return (double)ask->params * bytes + context_bytes;
}

/* --- evidence: bounds of the bytes that a rank needs --- */

struct bounds {
	double least, most; /* 0: no bound */
	const char *source; /* of most, or else of least */
};

static void narrow(struct bounds *b, double least, double most, const char *source)
{
	if (most > 0 && (!(b->most > 0) || most < b->most)) {
		b->most = most;
		b->source = source;
	}
	if (least > b->least) {
		b->least = least;
		if (!(b->most > 0))
			b->source = source;
	}
}

/* A peak that was measured with another batch. What does not depend on the batch is at
 * least 0, and at most the peak; between the two lies what this batch needs. */
static void scale(struct bounds *b, double peak, double ratio, const char *source, bool measured)
{
	double scaled = peak * ratio;
	if (ratio >= 1)
		narrow(b, measured ? peak : 0, scaled, source);
	else
		narrow(b, measured ? scaled : 0, peak, source);
}

static void add_measured(struct bounds *b, const struct ls_plan_ask *ask, uint64_t ranks,
			 double ratio)
{
	double peak = (double)ask->peak_bytes, fixed = ls_plan_fixed_bytes(ask, ranks);
	if (!ask->peak_bytes)
		return;
	scale(b, peak, ratio, "measured", true);
	if (fixed > 0 && fixed < peak)
		b->least = b->most = fixed + (peak - fixed) * ratio;
}

static void add_estimate(struct bounds *b, const struct ls_plan_ask *ask,
			 const struct ls_plan_layout *l)
{
	double fixed = ls_plan_fixed_bytes(ask, l->ranks);
	double moving = (double)ask->activation_bytes * (double)l->batch;
	bool whole = fixed > 0 && moving > 0;
	if (ask->peak_bytes || !(fixed + moving > 0))
		return; /* a measurement is better than any estimate */
	narrow(b, fixed + moving, whole ? fixed + moving : 0, "estimate");
}

static enum ls_fit judge(const struct bounds *b, double memory)
{
	if (b->least > memory)
		return LS_FIT_NO;
	if (!(b->most > 0) || b->most > memory)
		return LS_FIT_UNKNOWN;
	return b->most <= comfortable * memory ? LS_FIT_YES : LS_FIT_TIGHT;
}

static bool table_allows(const struct ls_plan *p, uint64_t batch)
{
	const struct ls_batch_range *r = ls_gpu_catalog_batch(p->catalog, p->to->memory_gb);
	return r && batch <= r->batch_max;
}

/* The baseline ran, so what it needed is at most its GPU's memory; a batch that fits by
 * this alone fits with as much room as the baseline had. */
static bool baseline_proves(const struct ls_plan_ask *ask, const struct ls_plan *p, double ratio)
{
	struct bounds b = {0};
	if (!p->from || p->precision != ask->precision)
		return false;
	scale(&b, ls_gpu_model_bytes(p->from), ratio, "baseline", false);
	return b.most <= ls_gpu_model_bytes(p->to);
}

struct ls_plan_memory ls_plan_memory_of(const struct ls_plan_ask *ask, const struct ls_plan *p,
					const struct ls_plan_layout *l)
{
	struct bounds b = {.source = "nothing"};
	double ratio = (double)l->batch / (double)p->baseline.layout.batch;
	struct ls_plan_memory m = {.fit = LS_FIT_UNKNOWN};
	add_measured(&b, ask, p->baseline.layout.ranks, ratio);
	add_estimate(&b, ask, l);
	if (p->precision != ask->precision)
		b.most *= 2; /* activations may become twice as wide */
	if (p->to)
		m.fit = judge(&b, ls_gpu_model_bytes(p->to));
	if (p->to && (m.fit == LS_FIT_UNKNOWN || m.fit == LS_FIT_TIGHT) &&
	    baseline_proves(ask, p, ratio)) {
		m.fit = LS_FIT_YES;
		b.source = "baseline";
	}
	if (p->to && m.fit == LS_FIT_UNKNOWN && !(b.most > 0) && table_allows(p, l->batch)) {
		m.fit = LS_FIT_LIKELY;
		b.source = "table";
	}
	m.least_bytes = b.least;
	m.most_bytes = b.most;
	m.source = b.source;
	return m;
}
