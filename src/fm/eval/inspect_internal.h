/* What lists of a model alone and lists of rows share. Owns nothing; any thread. */
#ifndef LS_FM_EVAL_INSPECT_INTERNAL_H
#define LS_FM_EVAL_INSPECT_INTERNAL_H

#include "base/inline.h"
#include "base/topk.h"
#include "fm/eval/inspect.h"
#include "num/halve.h"

static inline float ls_rank_size(float x)
{
	return x < 0.0f ? -x : x;
}

/* n is a multiple of 4: four sums, one for every fourth product, are halved at the
 * end. */
static inline float ls_rank_dot(const float *v, const float *u, uint32_t n)
{
	float sum[4] = {0};
	for (uint32_t i = 0; i < n; i += 4)
		for (uint32_t lane = 0; lane < 4; lane++)
			sum[lane] += v[i + lane] * u[i + lane];
	return ls_halve_4(sum[0], sum[1], sum[2], sum[3]);
}

/* The factors that a feature has for an output, and for a field where it is an ffm's. */
static inline const float *ls_rank_factors(const struct ls_fm_model *m, uint64_t feature,
					   uint32_t output)
{
	return m->record + feature * ls_fm_stride(m) + (size_t)output * m->blocks * m->padded;
}

struct ls_feature_rank ls_rank_of(const struct ls_fm_model *m, uint64_t feature, uint32_t output);
ls_topk_order ls_rank_by_linear, ls_rank_by_strength;

/* Room for n of each. */
void ls_fm_ranks_init(struct ls_fm_ranks *r, uint32_t n);

#endif
