/* A whole training: epochs, validation, early stopping, checkpoints, resuming. Prints
 * nothing; callbacks report what happens. Borrows everything in struct ls_train for the
 * time of the call. One thread calls. */
#ifndef LS_FM_TRAIN_TRAIN_H
#define LS_FM_TRAIN_TRAIN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "fm/data/rows.h"
#include "fm/eval/metric.h"
#include "fm/model/engine.h"
#include "fm/model/model.h"
#include "fm/model/save.h"

/* Whether the rows are still those that were digested: files may have been written to. */
typedef int ls_train_check(void *context, struct ls_err *err);

/* Told of a checkpoint that could not be written, while the one before it stands. */
typedef void ls_train_warn(void *context, const char *text);

/* Makes the engine of a training, once the model is there. */
typedef int ls_train_engine(void *context, struct ls_fm_model *m, const struct ls_rows *rows,
			    struct ls_pool *pool, struct ls_engine *ret, struct ls_err *err);

struct ls_train {
	struct ls_fm_opts opts;
	const struct ls_rows *rows, *valid; /* valid may be NULL */
	const char *data_digest, *valid_digest;
	uint32_t epochs;
	enum ls_metric metric;
	/* stop after so many epochs without a better metric; 0: never */
	uint32_t early_stop;
	/* an epoch is better only if the metric is better by more than this */
	double least_gain;
	/* the model; with validation, that of the best epoch. NULL: no file is written, and
	 * the best epoch of a resumed training would be lost */
	const char *output;
	struct ls_train_kept
		*kept;          /* where there is no output: the model, also if stopped; or NULL */
	const char *checkpoint; /* NULL: none */
	uint64_t checkpoint_every, tell_every; /* steps; 0: at the end of an epoch */
	bool resume;
	const char *warm_start; /* a model or checkpoint to start from, or NULL */
	/* the same in memory, or NULL; with the optimizer's state, and so many steps */
	const struct ls_fm_model *warm_model;
	bool warm_state;
	uint64_t warm_steps;
	struct ls_pool *pool;
	ls_train_engine *make_engine;
	/* before anything is reported or written; may be NULL */
	ls_train_check *check;
	double *start_value; /* gets the metric before the first step; may be NULL */
	ls_train_warn *warn; /* may be NULL */
	ls_train_tell *tell; /* may be NULL */
	void *context;       /* of these four */
	/* becomes non-zero: save and return LS_EINTR */
	const volatile sig_atomic_t *stop;
};

/* A model that stays in memory: with the optimizer's state, unless it is that of the best
 * epoch. Where the training had other units than the data, the state is that of a second
 * model, in those units. Freed by the caller (ls_fm_model_free). */
struct ls_train_kept {
	struct ls_fm_model *model, *trained;
	bool state;
	struct ls_fm_position at; /* where its training stood */
};

/* Ends with the model at t->output, or in t->kept, whose digest nobody has computed (it is
 * empty in *ret). If it fails, what was there still is, or the best
 * epoch's model so far; LS_EINTR: stopped, checkpoint written if there is one;
 * LS_EDIFFER: the numbers left the finite range; the last checkpoint stands. */
int ls_fm_train(const struct ls_train *t, struct ls_train_result *ret, struct ls_err *err);

#endif
