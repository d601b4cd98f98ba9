/* What a training does that its user has not said: functions of the number of rows, and of
 * kind, task and optimizer, that bench/quality has measured. Pure; any thread. */
#ifndef LS_FM_TRAIN_DEFAULTS_H
#define LS_FM_TRAIN_DEFAULTS_H

#include "fm/model/model.h"

struct ls_fm_course {
	uint32_t batch;
	float lr;
	uint32_t epochs;   /* with validation, at most; without, as they are */
	uint32_t patience; /* with validation: epochs without a better one */
	/* without validation: parts in which cross-validation finds the number of epochs, at
	 * most `epochs`; 1: a fifth of the rows that is set aside once; 0: `epochs` it is */
	uint32_t folds;
};

/* o: kind, task, optimizer, factors. */
struct ls_fm_course ls_fm_course_of(const struct ls_fm_opts *o, uint64_t n_rows, bool valid);

/* The L2 penalties of linear weights and of factors; o->batch is what it will be. */
void ls_fm_prior_of(const struct ls_fm_opts *o, uint64_t n_rows, float *ret_linear,
		    float *ret_factors);

#endif
