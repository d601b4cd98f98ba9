/* What a model has learnt: its heaviest features and its strongest pairs, of the model
 * alone or of those in some rows. ls_fm_ranks_done frees a list. Reads its arguments; any
 * thread. */
#ifndef LS_FM_EVAL_INSPECT_H
#define LS_FM_EVAL_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "fm/data/rows.h"
#include "fm/model/model.h"

struct ls_feature_rank {
	uint32_t feature;
	float linear, norm; /* its weight; the length of its factors */
};

/* A pair, and how strongly it moves the score when both values are 1. From rows: two
 * features a <= b and their fields there (fm: 0). From a model alone the fields are 0,
 * and a and b are: fm two features; fwfm two fields, with their weight; ffm a feature and
 * a field, with the length of the feature's factors for that field. */
struct ls_pair_rank {
	uint32_t a, b;
	uint16_t field_a, field_b;
	float strength;
};

struct ls_fm_ranks {
	struct ls_feature_rank *feature; /* by |linear|, largest first */
	struct ls_pair_rank *pair;       /* by |strength| */
	uint32_t n_features, n_pairs;
	bool exact; /* no pair left out can be stronger than the last one listed */
};

/* Up to n of each, for an output. What still has its first value (ls_fm_first_factors) is
 * left out; of a model that began with another's parameters those count as learnt. fm
 * looks at pairs among the features with the longest factors and says whether that was
 * enough (Cauchy-Schwarz). */
void ls_fm_rank_model(const struct ls_fm_model *m, uint32_t output, uint32_t n,
		      struct ls_fm_ranks *ret);

/* Features that are in a row, pairs that are in a row together; the same for any number
 * of threads. As for a prediction, features and fields that the model lacks, and values
 * of 0, are not there. The rows have fields where the model has. Takes time with the
 * square of a row's length. */
int ls_fm_rank_rows(const struct ls_fm_model *m, uint32_t output, uint32_t n,
		    const struct ls_rows *rows, int threads, struct ls_fm_ranks *ret,
		    struct ls_err *err);

void ls_fm_ranks_done(struct ls_fm_ranks *r);

#endif
