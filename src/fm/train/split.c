#include "fm/train/split.h"

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

static int one_fold(const struct ls_train *all, uint32_t fold, uint32_t folds,
		    struct ls_fm_fold *ret, struct ls_err *err)
{
	struct ls_train t = *all;
	struct ls_fm_held held;
	struct ls_train_result result;
	uint64_t n = t.rows->n_rows;
	t.output = NULL;
	t.kept = NULL;
	t.tell = NULL;
	t.tell_every = 0;
	int rc = hold(&t, n * fold / folds, n * (fold + 1) / folds, &held, err);
	if (rc)
		return rc;
	rc = ls_fm_train(&t, &result, err);
	if (rc == 0)
		*ret = (struct ls_fm_fold){result.best_epoch, result.best_value};
	ls_fm_held_done(&held);
	return rc;
}

int ls_fm_cross_validate(struct ls_train *t, uint32_t folds, ls_fm_tell_fold *tell_fold,
			 struct ls_fm_fold *ret, struct ls_err *err)
{
	uint64_t epochs = 0;
	int rc = check_rows(t, folds, "so many parts of --cv", err);
	for (uint32_t f = 0; f < folds && rc == 0; f++) {
		rc = one_fold(t, f, folds, &ret[f], err);
		if (rc == 0) {
			epochs += ret[f].best_epoch;
			tell_fold(t->context, f, &ret[f]);
		}
	}
	epochs = (2 * epochs + folds) / (2 * (uint64_t)folds);
	if (rc == 0)
		t->epochs = epochs ? (uint32_t)epochs : 1;
	t->early_stop = 0;
	return rc;
}
