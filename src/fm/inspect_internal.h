/* What lists of a model alone and lists of rows share. Owns nothing; any thread. */
#ifndef LS_FM_INSPECT_INTERNAL_H
#define LS_FM_INSPECT_INTERNAL_H

#include "fm/best.h"
#include "fm/inspect.h"
#include "fm/pack.h"
#include "num/halve.h"

static inline float ls_rank_size(float x)
{
	return x < 0.0f ? -x : x;
}

/* n is a multiple of 4: a sum for each place in a pack, then theirs. */
INLINE float ls_rank_dot(const float *v, const float *u, uint32_t n)
{
	ls_pack_f sum = {0};
	for (uint32_t i = 0; i < n; i += 4)
		sum += *(const ls_pack_f *)(v + i) * *(const ls_pack_f *)(u + i);
	return ls_halve_4(sum[0], sum[1], sum[2], sum[3]);
}

/* The factors that a feature has for an output, and for a field where it is an ffm's. */
static inline const float *ls_rank_factors(const struct ls_fm_model *m, uint64_t feature, uint32_t output)
{
	return m->record + feature * ls_fm_stride(m) + (size_t)output * m->blocks * m->padded;
}

struct ls_feature_rank ls_rank_of(const struct ls_fm_model *m, uint64_t feature, uint32_t output);
ls_best_order ls_rank_by_linear, ls_rank_by_strength;

/* Room for n of each. */
void ls_fm_ranks_init(struct ls_fm_ranks *r, uint32_t n);

#endif
