#include "fm/train/tune.h"

#include <stdio.h>

#include "num/elem.h"
#include "num/philox.h"

enum { PURPOSE_TUNE = 4, LEAST_BATCH = 5, MOST_BATCH = 13 }; /* powers of two */
enum { DRAW_FACTORS, DRAW_RATE, DRAW_L2, DRAW_L1, DRAW_BATCH };

/* Two numbers in (0, 1) for a trial and a purpose. */
static void draw(const struct ls_tune_space *s, uint32_t trial, uint32_t what, double ret[2])
{
	struct ls_u32x4 r = ls_philox(ls_seed_key(s->seed, PURPOSE_TUNE), trial, what);
	ret[0] = (double)ls_u01f(r.v[0]);
	ret[1] = (double)ls_u01f(r.v[1]);
}

static void add_number(struct ls_tune_options *o, const char *option, double value)
{
	snprintf(o->word[o->n++], LS_TUNE_WORD, "--%s", option);
	snprintf(o->word[o->n++], LS_TUNE_WORD, "%.3g", value);
}

static void add_count(struct ls_tune_options *o, const char *option, uint32_t value)
{
	snprintf(o->word[o->n++], LS_TUNE_WORD, "--%s", option);
	snprintf(o->word[o->n++], LS_TUNE_WORD, "%u", value);
}

/* Between low and high, log-uniform. */
static double between(double low, double high, double u)
{
	return low * ls_exp_d(u * ls_log_d(high / low));
}

static uint32_t draw_factors(const struct ls_tune_space *s, double u)
{
	uint32_t k = s->opts.factors << (uint32_t)(u * 5.0), least = k / 4 ? k / 4 : 1;
	return least < LS_FM_MAX_FACTORS ? least : LS_FM_MAX_FACTORS;
}

static uint32_t draw_batch(const struct ls_tune_space *s, double u)
{
	uint32_t most = LEAST_BATCH;
	while (most < MOST_BATCH && (UINT64_C(2) << most) <= s->n_rows)
		most++;
	return 1u << (LEAST_BATCH + (uint32_t)(u * (most - LEAST_BATCH + 1)));
}

void ls_tune_draw(const struct ls_tune_space *s, uint32_t trial, struct ls_tune_options *ret)
{
	double u[2];
	*ret = (struct ls_tune_options){.n = 0};
	if (trial == 0)
		return;
	draw(s, trial, DRAW_FACTORS, u);
	if (!s->fixed_factors)
		add_count(ret, "factors", draw_factors(s, u[0]));
	draw(s, trial, DRAW_RATE, u);
	if (!s->fixed_lr)
		add_number(ret, "lr", (double)s->opts.lr * between(0.0625, 16, u[0]));
	draw(s, trial, DRAW_L2, u);
	if (!s->fixed_l2 && u[1] < 0.5)
		add_number(ret, "l2", between(1e-6, 0.1, u[0]));
	draw(s, trial, DRAW_L1, u);
	if (!s->fixed_l1 && u[1] < 0.25)
		add_number(ret, "l1", between(1e-6, 0.01, u[0]));
	draw(s, trial, DRAW_BATCH, u);
	if (!s->fixed_batch)
		add_count(ret, "batch", draw_batch(s, u[0]));
}
