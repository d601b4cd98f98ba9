/* A training under way, as train.c and start.c see it. ls_fm_train owns it; one thread. */
#ifndef LS_FM_TRAIN_RUN_H
#define LS_FM_TRAIN_RUN_H

#include "base/file.h"
#include "fm/train/scale.h"
#include "fm/train/train.h"

struct run {
	const struct ls_train *t;
	/* where links lead from t's, which may lead elsewhere once it is replaced */
	char *output; /* NULL: there is none, and the best epoch's model stays here: */
	struct ls_fm_model *best;
	uint64_t best_step;
	bool told_to_stop;
	int threads; /* for files */
	struct ls_fm_model *m;
	/* the same in the units of the data, where its training has others (scale.h); as it
	 * was fetched last */
	struct ls_fm_model *out;
	struct ls_fm_scaled rows, valid; /* in the units of the training */
	struct ls_fm_model *first;       /* of a warm start: until it is no longer the best */
	struct ls_engine engine;
	struct ls_fm_position at;
	uint64_t per_epoch, total;
	double mean_weight; /* of the training rows */
	float *score;       /* of the validation rows */
	double seconds, last_loss;
	bool resumed;
	bool engine_failed;
	bool kept;                  /* the checkpoint file is of this training … */
	uint64_t saved;             /* … and of this step */
	bool warned;                /* that the last one could not be written */
	char digest[LS_SHA256_HEX]; /* of the model's file, where it is known */
	/* that file, as it was when the model was written to it, */
	struct ls_file_id left;
	uint64_t sum; /* and the checksum of that model's parameters */
	/* why the last checkpoint is not written, which the model need not wait for */
	struct ls_err late;
};

/* The model as it was fetched last, in the units of the data. */
const struct ls_fm_model *ls_run_model(const struct run *r);

/* Makes or loads the model, scales the rows, makes the engine, and judges the start. */
int ls_run_start(struct run *r, struct ls_err *err);

/* All metrics of the parameters as they are, on the validation rows. */
int ls_run_judge(struct run *r, struct ls_metrics *ret, struct ls_err *err);

#endif
