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

/* Progress, reported after every stretch of steps and at the end of every epoch. */
struct ls_train_event {
	enum ls_train_what { LS_TRAIN_STEPS, LS_TRAIN_EPOCH } what;
	uint64_t step, steps_per_epoch, total_steps;
	uint32_t epoch; /* counted from 1 */
	double loss;    /* mean over the rows of the epoch so far */
	bool has_valid, is_best;
	struct ls_metrics valid;
	double seconds; /* of training in this epoch */
	int at_work;    /* threads that take steps now; 0: none do */
};

/* Whether the rows are still those that were digested: files may have been written to. */
typedef int ls_train_check(void *context, struct ls_err *err);

typedef void ls_train_tell(void *context, const struct ls_train_event *event);

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
	/* the model; with validation, that of the best epoch. NULL: nothing is written, and
	 * then there is no checkpoint either */
	const char *output;
	const char *checkpoint;                /* NULL: none */
	uint64_t checkpoint_every, tell_every; /* steps; 0: at the end of an epoch */
	bool resume;
	const char *warm_start; /* a model to start from, or NULL */
	struct ls_pool *pool;
	ls_train_engine *make_engine;
	/* before anything is reported or written; may be NULL */
	ls_train_check *check;
	ls_train_tell *tell; /* may be NULL */
	void *context;       /* of these three */
	/* becomes non-zero: save and return LS_EINTR */
	const volatile sig_atomic_t *stop;
};

enum { LS_TRAIN_NOTES = 3, LS_TRAIN_NOTE = 240 };

struct ls_train_result {
	uint64_t steps;
	uint32_t epochs, best_epoch;
	double best_value;
	bool resumed;
	char digest[LS_SHA256_HEX]; /* of the model written */
	char engine[128];
	double last_loss; /* mean over the rows of the last epoch of this call; NaN: none */
	/* what the user should know of the course of this training, a sentence each */
	char notes[LS_TRAIN_NOTES][LS_TRAIN_NOTE];
	size_t n_notes;
};

/* Ends with the model at t->output. If it fails, what was there still is, or the best
 * epoch's model so far; LS_EINTR: stopped, checkpoint written if there is one;
 * LS_EDIFFER: the numbers left the finite range; the last checkpoint stands. */
int ls_fm_train(const struct ls_train *t, struct ls_train_result *ret, struct ls_err *err);

#endif
