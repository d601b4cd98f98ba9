/* Validation without a file of its own: a share of the rows is set aside, or, for
 * cross-validation, each part of them in turn. Which rows is a function of the seed and
 * their number. The parts are copies, which ls_fm_held_done frees. One thread. */
#ifndef LS_FM_TRAIN_SPLIT_H
#define LS_FM_TRAIN_SPLIT_H

#include "base/digest.h"
#include "fm/data/part.h"
#include "fm/train/train.h"

enum { LS_FM_MAX_FOLDS = 1000 };

/* What the options say; both 0: neither. */
struct ls_fm_split {
	double fraction;
	uint32_t folds;
	bool by_size; /* folds that nobody asked for (defaults.h) */
};

/* Rows to train on and rows set aside, with their digests. */
struct ls_fm_held {
	struct ls_part *train, *valid;
	char digest[LS_SHA256_HEX], valid_digest[LS_SHA256_HEX];
};

/* Sets a share of t->rows aside: the nearest number of rows, at least 1 and not all. From
 * then on t has both parts. LS_EINPUT: there are fewer than 2 rows, or what there is
 * cannot be trained on. */
int ls_fm_hold_out(struct ls_train *t, double fraction, struct ls_fm_held *ret, struct ls_err *err);
void ls_fm_held_done(struct ls_fm_held *h);

struct ls_fm_fold {
	uint32_t best_epoch;
	double value; /* of the metric */
};

typedef void ls_fm_tell_fold(void *context, uint32_t fold, const struct ls_fm_fold *result);

/* One training a fold, in memory: fold f of K is validated on the rows whose place is from
 * n f / K on and below n (f + 1) / K. Then sets t to train on all rows for the number of
 * epochs after which the mean of the metric over the folds is the best. Where a fold stopped
 * early, its last value stands for the epochs that it left out. It is 0, and the model a
 * constant, unless that mean is better than at the start by more than 1.5 of its standard errors.
 * ret has room for `folds`. One fold is the first of five. */
int ls_fm_cross_validate(struct ls_train *t, uint32_t folds, ls_fm_tell_fold *tell_fold,
			 struct ls_fm_fold *ret, struct ls_err *err);

#endif
