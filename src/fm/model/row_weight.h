/* A row of the data as a model sees it: its values after --normalize, and its weight in
 * the loss. Owns nothing; any thread. */
#ifndef LS_FM_MODEL_ROW_WEIGHT_H
#define LS_FM_MODEL_ROW_WEIGHT_H

#include "fm/data/rows.h"
#include "fm/model/cell.h"
#include "fm/model/model.h"

/* A row's values as the model sees them: n of them, value NULL for all 1. */
static inline void ls_row_x(const struct ls_fm_opts *opts, const float *value, uint32_t n,
			    float *ret_x)
{
	float scale = opts->normalize ? ls_cell_norm(value, n) : 1.0f;
	for (uint32_t i = 0; i < n; i++)
		ret_x[i] = value ? value[i] * scale : scale;
}

/* What a row counts for: its own weight times its class's. */
static inline float ls_row_weight(const struct ls_fm_opts *opts, const struct ls_rows *rows,
				  uint64_t row, float label)
{
	float weight = rows->weight ? rows->weight[row] : 1.0f;
	if (opts->n_class_weights)
		weight *= opts->class_weight[ls_cell_class((int)opts->task, label)];
	return weight;
}

#endif
