#include "fm/train/defaults.h"

enum {
	SMALL = 20000,   /* rows up to which a training in five parts takes seconds */
	MIDDLE = 200000, /* and up to which one part more does not matter */
	FOLDS = 5,
	STEPS = 50, /* of an epoch at least, as far as the least batch allows */
	LEAST_BATCH = 8
};

static uint32_t within(uint64_t v, uint32_t least, uint32_t most)
{
	return v < least ? least : v > most ? most : (uint32_t)v;
}

/* The largest power of two that leaves so many steps an epoch, within limits. */
static uint32_t batch_of(uint64_t n_rows, uint32_t most)
{
	uint32_t batch = LEAST_BATCH;
	while (batch < most && (uint64_t)batch * 2 * STEPS <= n_rows)
		batch *= 2;
	return batch;
}

/* Adam's rate is that of one parameter a step, whatever its gradient: in few steps it has to
 * come as far. */
static float rate_of(const struct ls_fm_opts *plain, uint64_t n_rows)
{
	return plain->optimizer == LS_ADAM && n_rows < SMALL ? 0.01f : plain->lr;
}

/* A penalty that weighs, over an epoch, as much against all rows as a normal prior of this
 * precision: what keeps a model of few rows near a constant. FTRL's weighs once. */
static float prior_of(const struct ls_fm_opts *plain, double precision, uint32_t batch,
		      uint64_t n_rows)
{
	if (n_rows >= SMALL || plain->optimizer == LS_FTRL)
		return 0.0f;
	return (float)(precision * (double)(batch < n_rows ? batch : n_rows) / (double)n_rows);
}

void ls_fm_prior_of(const struct ls_fm_opts *o, uint64_t n_rows, float *ret_linear,
		    float *ret_factors)
{
	*ret_linear = prior_of(o, 1.0, o->batch, n_rows);
	*ret_factors = o->factors ? prior_of(o, 10.0, o->batch, n_rows) : 0.0f;
}

struct ls_fm_course ls_fm_course_of(const struct ls_fm_opts *o, uint64_t n_rows, bool valid)
{
	struct ls_fm_opts plain = ls_fm_defaults(o->kind, o->task, o->optimizer);
	struct ls_fm_course c = {.batch = batch_of(n_rows, plain.batch),
				 .lr = rate_of(&plain, n_rows),
				 .epochs = 1,
				 .patience = 1};
	bool small = n_rows && n_rows < SMALL, middle = n_rows < MIDDLE;
	if (middle || valid) {
		c.epochs = small ? within(200000 / n_rows, 100, 1000) : middle ? 30 : 10;
		c.patience = small ? within(5000 / n_rows, 5, 25) : middle ? 2 : 1;
		c.folds = valid ? 0 : small ? FOLDS : 1;
	}
	return c;
}
