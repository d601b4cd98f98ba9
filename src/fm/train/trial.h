/* One training in memory, for validation: data in, digest out; nothing is written.
 * Borrows everything in struct ls_trial for the time of the call. One thread calls. */
#ifndef LS_FM_TRAIN_TRIAL_H
#define LS_FM_TRAIN_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/pool.h"
#include "fm/data/rows.h"
#include "fm/model/engine.h"
#include "fm/model/model.h"
#include "fm/train/train.h"

struct ls_trial {
	const struct ls_fm_opts *opts;
	const struct ls_rows *rows;
	uint64_t steps; /* counted through all epochs */
	bool predict;   /* also the scores of all rows, by the same engine */
	struct ls_pool *pool;
	ls_train_engine *make_engine;
	void *context; /* of make_engine */
};

struct ls_trial_result {
	char digest[LS_SHA256_HEX]; /* of the model */
	/* of the scores as little-endian floats; empty without predict */
	char scores[LS_SHA256_HEX];
	uint64_t rows; /* passed in training */
};

/* Fails with what the engine failed with; LS_EDIFFER: the numbers left the finite
 * range. */
int ls_trial_run(const struct ls_trial *t, struct ls_trial_result *ret, struct ls_err *err);

/* The digest of the scores that an engine gives rows, under a model of so many outputs,
 * whose training divides labels by that power of four. */
int ls_trial_scores(const struct ls_engine *e, const struct ls_rows *rows, uint32_t outputs,
		    int label_exp, char ret[LS_SHA256_HEX], struct ls_err *err);

#endif
