/* What a model has learnt: its heaviest features and its strongest pairs. Lists belong to the caller (free).
 * Reads the model; any thread. */
#ifndef LS_FM_INSPECT_H
#define LS_FM_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "fm/model.h"

struct ls_feature_rank {
	uint32_t feature;
	float linear, norm; /* its weight; the length of its factors */
};

/* A pair and how strongly it moves the score when both values are 1. fm: two features; fwfm: two fields and their
 * weight; ffm: a feature and a field, with the length of the factors that the feature has for it. */
struct ls_pair_rank {
	uint32_t a, b;
	float strength;
};

/* The n features with the largest |linear| for an output, largest first. Returns how many there are. */
uint32_t ls_fm_top_features(const struct ls_fm_model *m, uint32_t output, uint32_t n, struct ls_feature_rank *ret);

/* The n strongest pairs by |strength|. *ret_exact: no pair left out can be stronger than the last one listed; fm looks
 * at pairs among the features with the longest factors and says whether that was enough (Cauchy-Schwarz). */
uint32_t ls_fm_top_pairs(const struct ls_fm_model *m, uint32_t output, uint32_t n, struct ls_pair_rank *ret,
			 bool *ret_exact);

#endif
