/* What a search for good options draws: one text of options for `fm train` a trial, a
 * function of the seed and the number of the trial. Pure functions; any thread. */
#ifndef LS_FM_TRAIN_TUNE_H
#define LS_FM_TRAIN_TUNE_H

#include <stdbool.h>
#include <stdint.h>

#include "fm/model/model.h"

enum { LS_TUNE_WORDS = 10, LS_TUNE_WORD = 32 };

/* Options and their values in turn. */
struct ls_tune_options {
	char word[LS_TUNE_WORDS][LS_TUNE_WORD];
	uint32_t n;
};

/* What is drawn around, and what is not drawn because the user has said it. */
struct ls_tune_space {
	struct ls_fm_opts opts;
	uint64_t n_rows, seed;
	bool fixed_factors, fixed_lr, fixed_l1, fixed_l2, fixed_batch;
};

/* Trial 0 has no options: the defaults. Later ones have factors from a quarter to four
 * times as many, a rate from a 16th to 16 times of it (log-uniform), l2 of 0 or from 1e-6 to
 * 0.1, l1 of 0 (three of four) or from 1e-6 to 0.01, and a batch of a power of two from 32 to
 * 8192 or the rows. */
void ls_tune_draw(const struct ls_tune_space *space, uint32_t trial, struct ls_tune_options *ret);

#endif
