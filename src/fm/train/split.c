#include "fm/train/split.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/pool.h"
#include "fm/data/data.h"
#include "fm/eval/check_rows.h"

void ls_fm_held_done(struct ls_fm_held *h)
{
	ls_part_free(h->train);
	ls_part_free(h->valid);
	*h = (struct ls_fm_held){0};
}

/* Trains on all rows but those whose places are from lo on and below hi. */
static int hold(struct ls_train *t, uint64_t lo, uint64_t hi, struct ls_fm_held *ret,
		struct ls_err *err)
{
	struct ls_fm_held h = {0};
	int threads = ls_pool_threads(t->pool);
	int rc = ls_part_new(t->rows, t->opts.seed, lo, hi, true, &h.valid, err);
	if (rc == 0)
		rc = ls_part_new(t->rows, t->opts.seed, lo, hi, false, &h.train, err);
	if (rc) {
		ls_fm_held_done(&h);
		return rc;
	}
	ls_rows_digest(ls_part_rows(h.train), threads, h.digest);
	ls_rows_digest(ls_part_rows(h.valid), threads, h.valid_digest);
	*ret = h;
	t->rows = ls_part_rows(ret->train);
	t->valid = ls_part_rows(ret->valid);
	t->data_digest = ret->digest;
	t->valid_digest = ret->valid_digest;
	return 0;
}

/* While rows still have the numbers that they have in the file. */
static int check_rows(const struct ls_train *t, uint64_t least, const char *option,
		      struct ls_err *err)
{
	if (t->rows->n_rows < least)
		return ls_rows_fault(t->rows, LS_OF_ROW, LS_ROWS_ALL, LS_EINPUT, err,
				     "%llu rows are too few for %s",
				     (unsigned long long)t->rows->n_rows, option);
	return ls_fm_check_train_rows(&t->opts, t->rows, err);
}

int ls_fm_hold_out(struct ls_train *t, double fraction, struct ls_fm_held *ret, struct ls_err *err)
{
	uint64_t n = t->rows->n_rows, held = (uint64_t)(fraction * (double)n + 0.5);
	int rc = check_rows(t, 2, "--valid-fraction", err);
	held = held < 1 ? 1 : held < n ? held : n - 1;
	return rc ? rc : hold(t, 0, held, ret, err);
}

/* The metric of a fold by epoch; 0: the start. */
struct curve {
	double *value;
	size_t n, cap;
	enum ls_metric metric;
	const struct ls_train *all;
};

static void add_value(struct curve *c, double value)
{
	c->value = ls_grow(c->value, c->n, &c->cap, sizeof *c->value);
	c->value[c->n++] = value;
}

static int tell_curve(void *context, const struct ls_train_event *e)
{
	struct curve *c = context;
	if (e->has_valid)
		add_value(c, e->valid.value[c->metric]);
	return 0;
}

/* What a fold's training shares with the whole one. */
static int fold_engine(void *context, struct ls_fm_model *m, const struct ls_rows *rows,
		       struct ls_pool *pool, struct ls_engine *ret, struct ls_err *err)
{
	const struct ls_train *all = ((const struct curve *)context)->all;
	return all->make_engine(all->context, m, rows, pool, ret, err);
}

static int fold_check(void *context, struct ls_err *err)
{
	const struct ls_train *all = ((const struct curve *)context)->all;
	return all->check ? all->check(all->context, err) : 0;
}

static int one_fold(const struct ls_train *all, uint32_t fold, uint32_t folds, struct curve *curve,
		    struct ls_fm_fold *ret, struct ls_err *err)
{
	struct ls_train t = *all;
	struct ls_fm_held held;
	struct ls_train_result result;
	uint64_t n = t.rows->n_rows;
	double start;
	t.output = t.checkpoint = NULL;
	t.checkpoint_every = t.tell_every = 0;
	t.resume = false;
	t.kept = NULL;
	t.warn = NULL;
	t.context = curve;
	t.tell = tell_curve;
	t.make_engine = fold_engine;
	t.check = fold_check;
	t.start_value = &start;
	uint64_t parts = folds > 1 ? folds : 5;
	int rc = hold(&t, n * fold / parts, n * (fold + 1) / parts, &held, err);
	if (rc)
		return rc;
	add_value(curve, 0);
	rc = ls_fm_train(&t, &result, err);
	if (rc == 0) {
		curve->value[0] = start;
		*ret = (struct ls_fm_fold){result.best_epoch, result.best_value};
	}
	ls_fm_held_done(&held);
	return rc;
}

static double at_epoch(const struct curve *c, size_t epoch)
{
	return c->value[epoch < c->n ? epoch : c->n - 1];
}

/* How much better an epoch is than the start, and the standard error of that. */
static double gain_of(const struct curve *c, uint32_t folds, size_t epoch, double *ret_error)
{
	double way = ls_metric_more_is_better(c->metric) ? 1.0 : -1.0, sum = 0, squares = 0;
	for (uint32_t f = 0; f < folds; f++)
		sum += way * (at_epoch(&c[f], epoch) - c[f].value[0]);
	for (uint32_t f = 0; f < folds; f++) {
		double d = way * (at_epoch(&c[f], epoch) - c[f].value[0]) - sum / folds;
		squares += d * d;
	}
	*ret_error = folds > 1 ? __builtin_sqrt(squares / ((double)folds * (folds - 1))) : 0.0;
	return sum / folds;
}

static uint32_t best_number(const struct curve *c, uint32_t folds)
{
	size_t most = 0, best = 0;
	double best_gain = 0, error;
	for (uint32_t f = 0; f < folds; f++)
		most = c[f].n > most ? c[f].n : most;
	for (size_t e = 1; e < most; e++) {
		double gain = gain_of(c, folds, e, &error);
		if (gain > best_gain) {
			best_gain = gain;
			best = e;
		}
	}
	gain_of(c, folds, best, &error);
	return best_gain > 1.5 * error ? (uint32_t)best : 0;
}

int ls_fm_cross_validate(struct ls_train *t, uint32_t folds, ls_fm_tell_fold *tell_fold,
			 struct ls_fm_fold *ret, struct ls_err *err)
{
	struct curve *curve = ls_xalloc(sizeof *curve * folds);
	int rc = check_rows(t, folds, "so many parts of --cv", err);
	for (uint32_t f = 0; f < folds && rc == 0; f++) {
		curve[f] = (struct curve){.metric = t->metric, .all = t};
		rc = one_fold(t, f, folds, &curve[f], &ret[f], err);
		if (rc == 0)
			tell_fold(t->context, f, &ret[f]);
	}
	if (rc == 0)
		t->epochs = best_number(curve, folds);
	t->early_stop = 0;
	for (uint32_t f = 0; f < folds; f++)
		free(curve[f].value);
	free(curve);
	return rc;
}
