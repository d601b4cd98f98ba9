#include "plan/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plan/findings.h"
#include "plan/memory.h"
#include "plan/precision.h"
#include "plan/split.h"

/* --- the schedule --- */

static int steps_of(const char *what, double steps, uint64_t *ret, struct ls_err *err)
{
	if (steps > (double)LS_PLAN_MAX_STEPS)
		return ls_err_set(err, LS_EINPUT, "%s: more than %" PRIu64 " steps", what,
				  LS_PLAN_MAX_STEPS);
	*ret = (uint64_t)(steps + 0.5);
	return 0;
}

/* A schedule in optimizer steps: given so, or from epochs of this many steps. */
static int schedule_in_steps(const struct ls_plan_ask *ask, uint64_t steps_per_epoch,
			     struct ls_plan_schedule *ret, struct ls_err *err)
{
	struct ls_plan_schedule s = {.steps_per_epoch = steps_per_epoch,
				     .warmup_steps = ask->warmup_steps,
				     .total_steps = ask->total_steps,
				     .has_warmup = ask->warmup_steps > 0};
	int rc = 0;
	if (!ask->total_steps && ask->epochs && steps_per_epoch)
		rc = steps_of("epochs", (double)ask->epochs * (double)steps_per_epoch,
			      &s.total_steps, err);
	if (!rc && !ask->total_steps && s.total_steps)
		s.total_steps = ask->epochs * steps_per_epoch; /* exactly, now that it fits */
	if (!rc && !ask->warmup_steps && ask->warmup_epochs >= 0 && steps_per_epoch) {
		s.has_warmup = true;
		rc = steps_of("warm-up", ask->warmup_epochs * (double)steps_per_epoch,
			      &s.warmup_steps, err);
	}
	if (!rc)
		*ret = s;
	return rc;
}

/* a * b / c, rounded to the nearest. */
static uint64_t scaled(uint64_t a, uint64_t b, uint64_t c)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)(product / c + (product % c * 2 >= c));
}

/* With the baseline's global batch its steps stay. With another one the number of samples
 * that are seen stays: epochs stay, and steps that were given are scaled. */
static int schedule_of(const struct ls_plan_ask *ask, const struct ls_plan *p,
		       const struct ls_plan_layout *l, struct ls_plan_schedule *ret,
		       struct ls_err *err)
{
	uint64_t was = p->baseline.layout.global;
	if (l->global == was) {
		*ret = p->baseline.schedule;
		ret->steps_per_epoch = l->steps_per_epoch;
		return 0;
	}
	int rc = schedule_in_steps(ask, l->steps_per_epoch, ret, err);
	if (!rc && ask->warmup_steps)
		ret->warmup_steps = scaled(ask->warmup_steps, was, l->global);
	if (!rc && ask->total_steps)
		ret->total_steps = scaled(ask->total_steps, was, l->global);
	return rc;
}

/* --- options --- */

/* What add_option needs for one number of GPUs; the first failure stays. */
struct filling {
	const struct ls_plan_ask *ask;
	struct ls_plan *plan;
	uint64_t ranks;
	int rc;
	struct ls_err *err;
};

static int option_init(struct ls_plan_option *o, const struct ls_plan_ask *ask,
		       const struct ls_plan *p, struct ls_err *err)
{
	const struct ls_plan_layout *base = &p->baseline.layout;
	o->same_global = o->layout.global == base->global;
	o->same_steps = o->same_global && o->layout.steps_per_epoch == base->steps_per_epoch;
	o->memory = ls_plan_memory_of(ask, p, &o->layout);
	return schedule_of(ask, p, &o->layout, &o->schedule, err);
}

/* With drop_last a batch larger than a rank's share of the samples leaves an epoch
 * without a step.
 */
static bool trains_nothing(const struct ls_plan_layout *l)
{
	return l->rank_samples && !l->micro_batches;
}

static void add_option(void *ctx, uint64_t batch, uint64_t accum)
{
	struct filling *f = ctx;
	struct ls_plan *p = f->plan;
	struct ls_plan_option o = {0};
	if (f->rc)
		return;
	f->rc = ls_plan_layout_init(&o.layout, batch, f->ranks, accum, f->ask->samples,
				    f->ask->drop_last, f->err);
	if (f->rc || trains_nothing(&o.layout))
		return;
	f->rc = option_init(&o, f->ask, p, f->err);
	if (f->rc)
		return;
	p->options = ls_grow(p->options, p->n_options, &p->cap_options, sizeof *p->options);
	p->options[p->n_options++] = o;
}

static int add_options(const struct ls_plan_ask *ask, struct ls_plan *p, uint64_t ranks,
		       uint64_t share, struct ls_err *err)
{
	struct filling f = {ask, p, ranks, 0, err};
	ls_plan_split(share, add_option, &f);
	return f.rc;
}

/* The two global batches around the baseline's that all GPUs of the target can share. */
static int add_nearest(const struct ls_plan_ask *ask, struct ls_plan *p, struct ls_err *err)
{
	uint64_t share = p->baseline.layout.global / ask->to.count;
	int rc = share ? add_options(ask, p, ask->to.count, share, err) : 0;
	if (!rc && (share + 1) * ask->to.count <= LS_PLAN_MAX_GLOBAL)
		rc = add_options(ask, p, ask->to.count, share + 1, err);
	return rc;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

struct ranking {
	const struct ls_plan_layout *base;
	bool keep_batch; /* BatchNorm sees the batch of a GPU */
};

/* What fits the memory first, then the nearest global batch, then what keeps the steps of
 * an epoch, then the least accumulation, because large batches keep a GPU busy. */
static int better(const void *a, const void *b, void *ctx)
{
	const struct ls_plan_option *one = a, *other = b;
	const struct ls_plan_layout *x = &one->layout, *y = &other->layout;
	const struct ranking *r = ctx;
	int c = order(one->memory.fit, other->memory.fit);
	if (!c && one->memory.fit == LS_FIT_NO)
		c = order(x->batch, y->batch); /* what misses by least */
	if (!c)
		c = order(distance(x->global, r->base->global),
			  distance(y->global, r->base->global));
	if (!c)
		c = order(other->same_steps, one->same_steps);
	if (!c && r->keep_batch)
		c = order(distance(x->batch, r->base->batch), distance(y->batch, r->base->batch));
	if (!c)
		c = order(x->accum, y->accum);
	return c ? c : order(x->global, y->global);
}

static void rank_options(const struct ls_plan_ask *ask, struct ls_plan *p)
{
	struct ranking r = {&p->baseline.layout, ask->norm == LS_NORM_PER_GPU};
	qsort_r(p->options, p->n_options, sizeof *p->options, better, &r);
}

/* Where all GPUs of the target cannot share the global batch: fewer that can, if any, and
 * what is nearest with all of them. */
static int add_inexact(const struct ls_plan_ask *ask, struct ls_plan *p, struct ls_err *err)
{
	uint64_t global = p->baseline.layout.global;
	uint64_t ranks = ls_plan_most_gpus(global, ask->to.count);
	int rc = add_options(ask, p, ranks, global / ranks, err);
	if (!rc && p->n_options) {
		rank_options(ask, p);
		p->fewer = ls_xalloc(sizeof *p->fewer);
		*p->fewer = p->options[0];
		p->n_options = 0;
	}
	return rc ? rc : add_nearest(ask, p, err);
}

static int fill_options(const struct ls_plan_ask *ask, struct ls_plan *p, struct ls_err *err)
{
	uint64_t global = p->baseline.layout.global;
	int rc = 0;
	if (global % ask->to.count == 0)
		rc = add_options(ask, p, ask->to.count, global / ask->to.count, err);
	p->exact = p->n_options > 0;
	if (!rc && !p->exact)
		rc = add_inexact(ask, p, err);
	if (!rc && !p->n_options)
		rc = ls_err_set(err, LS_EINPUT,
				"a global batch of %" PRIu64 " on %" PRIu64
				" GPUs: no batch size and accumulation within the bounds "
				"(%" PRIu64 ", %" PRIu64 ") come near it",
				global, ask->to.count, LS_PLAN_MAX_BATCH, LS_PLAN_MAX_ACCUM);
	if (!rc)
		rank_options(ask, p);
	return rc;
}

/* --- the plan --- */

/* The baseline's settings on the target. A schedule that is in epochs then has other
 * steps; where it leaves the bounds there is none. */
static int fill_unchanged(const struct ls_plan_ask *ask, struct ls_plan *p, struct ls_err *err)
{
	struct ls_plan_option *o = &p->unchanged;
	const struct ls_plan_layout *base = &p->baseline.layout;
	int rc = ls_plan_layout_init(&o->layout, base->batch, ask->to.count, base->accum,
				     ask->samples, ask->drop_last, err);
	if (rc)
		return rc;
	o->same_global = o->layout.global == base->global;
	o->same_steps = o->same_global && o->layout.steps_per_epoch == base->steps_per_epoch;
	o->memory = ls_plan_memory_of(ask, p, &o->layout);
	if (schedule_in_steps(ask, o->layout.steps_per_epoch, &o->schedule, NULL))
		o->schedule.steps_per_epoch = o->layout.steps_per_epoch;
	return 0;
}

static int fill_baseline(const struct ls_plan_ask *ask, struct ls_plan *p, struct ls_err *err)
{
	struct ls_plan_option *o = &p->baseline;
	int rc =
		ls_plan_layout_init(&o->layout, ask->batch, ask->from.count,
				    ask->accum ? ask->accum : 1, ask->samples, ask->drop_last, err);
	o->same_global = o->same_steps = true;
	if (!rc && trains_nothing(&o->layout))
		rc = ls_err_set(err, LS_EINPUT,
				"an epoch of the baseline has no step: a GPU's share is %" PRIu64
				" samples, and without a full batch of %" PRIu64
				" drop_last leaves them all out",
				o->layout.rank_samples, o->layout.batch);
	return rc ? rc : schedule_in_steps(ask, o->layout.steps_per_epoch, &o->schedule, err);
}

/* The rules that are in use when a global batch changes: in proportion to it (SGD), or to
 * its square root (Adam and its kin, whose steps have a length of their own). */
static void fill_learning_rate(const struct ls_plan_ask *ask, struct ls_plan *p)
{
	double ratio = (double)p->options[0].layout.global / (double)p->baseline.layout.global;
	bool linear = ask->optimizer == LS_OPT_SGD || ask->optimizer == LS_OPT_MOMENTUM;
	p->lr_linear = ratio;
	p->lr_root = sqrt(ratio);
	if (ask->learning_rate > 0 && (p->exact || ask->optimizer != LS_OPT_UNKNOWN))
		p->learning_rate = ask->learning_rate * (linear ? p->lr_linear : p->lr_root);
	p->workers = ask->workers;
}

static int check_reals(const struct ls_plan_ask *ask, struct ls_err *err)
{
	if (ask->learning_rate > 0 && !(ask->learning_rate <= LS_PLAN_MAX_LR))
		return ls_err_set(err, LS_EINPUT, "learning rate: %g is not a number up to %g",
				  ask->learning_rate, LS_PLAN_MAX_LR);
	if (isnan(ask->learning_rate) || isnan(ask->warmup_epochs))
		return ls_err_set(err, LS_EINPUT, "learning rate, warm-up: not a number");
	if (ask->params > LS_PLAN_MAX_SAMPLES || ask->activation_bytes > LS_PLAN_MAX_SAMPLES ||
	    ask->peak_bytes > LS_PLAN_MAX_SAMPLES || ask->workers > LS_PLAN_MAX_GPUS)
		return ls_err_set(err, LS_EINPUT,
				  "parameters, memory or workers: larger than any machine's");
	return 0;
}

static int find_models(const struct ls_plan_ask *ask, struct ls_plan *p, struct ls_err *err)
{
	int rc = ls_gpu_catalog_load(&p->catalog, err);
	if (!rc && ask->from.name)
		rc = ls_gpu_catalog_find(p->catalog, ask->from.name, &p->from, err);
	if (!rc && ask->to.name)
		rc = ls_gpu_catalog_find(p->catalog, ask->to.name, &p->to, err);
	if (rc)
		ls_err_advise(err, "`lockstep plan --list-gpus` prints those that are known");
	return rc;
}

int ls_plan_make(const struct ls_plan_ask *ask, struct ls_plan **ret, struct ls_err *err)
{
	struct ls_plan *p = ls_xalloc(sizeof *p);
	int rc = check_reals(ask, err);
	if (!rc)
		rc = find_models(ask, p, err);
	if (!rc)
		rc = fill_baseline(ask, p, err);
	if (!rc)
		ls_plan_choose_precision(ask, p);
	if (!rc)
		rc = fill_unchanged(ask, p, err);
	if (!rc)
		rc = fill_options(ask, p, err);
	if (rc) {
		ls_plan_free(p);
		return rc;
	}
	fill_learning_rate(ask, p);
	ls_plan_expect(p);
	ls_plan_find(ask, p);
	*ret = p;
	return 0;
}

void ls_plan_free(struct ls_plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_findings; i++)
		free(p->findings[i].text);
	free(p->findings);
	free(p->options);
	free(p->fewer);
	ls_gpu_catalog_free(p->catalog);
	free(p);
}

int ls_plan_parse_gpus(const char *text, char **ret_name, uint64_t *ret_count, struct ls_err *err)
{
	const char *colon = strrchr(text, ':');
	uint64_t count;
	if (!colon || colon == text)
		return ls_err_set(err, LS_EINPUT,
				  "\"%.60s\": write a GPU and how many, as in L40S:4", text);
	int rc = ls_str_to_u64(colon + 1, 1, LS_PLAN_MAX_GPUS, "number of GPUs", &count, err);
	if (rc)
		return rc;
	*ret_name = ls_xstrndup(text, (size_t)(colon - text));
	*ret_count = count;
	return 0;
}
