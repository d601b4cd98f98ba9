/* The exact score: a score from whole numbers, with the same bits in every runtime, whose
 * definition is in docs/NUMERICS.md, "Exact ONNX models". What graph (exact_graph.c) and
 * reference (exact_score.c) share. Nothing is owned; any thread. */
#ifndef LS_FM_EXPORT_EXACT_H
#define LS_FM_EXPORT_EXACT_H

#include "exact/grid.h"
#include "fm/data/rows.h"
#include "fm/export/graph.h"
#include "fm/export/params.h"

enum {
	LS_EXACT_ENTRIES = 2048, /* of a row: sums stay below 2^63. Longer ones are NaN */
	LS_EXACT_LIMB = 28,      /* bits of a limb of a large number, between -2^27 and 2^27 */
	/* exponents of a row's grid: a value times a parameter's unit is between them */
	LS_EXACT_LEAST = -280,
	LS_EXACT_MOST = 260
};

/* A parameter on the grid of an exponent (struct ls_params). */
static inline int32_t ls_exact_round(float v, int exp)
{
	float first, second;
	ls_grid_scale(LS_GRID_FINE, exp, &first, &second);
	return ls_grid_round(v, first, second, LS_GRID_FINE);
}

/* The exponent of a model's pairs: of P, in units of the row's grid times itself. */
int ls_exact_pair_exp(const struct ls_params *p);

/* Adds inputs, scores and what follows from them. */
void ls_exact_graph(struct ls_graph *g, const struct ls_params *p);

/* Scores of a row as the graph gives them: outputs floats. */
void ls_exact_score(const struct ls_params *p, const struct ls_rows *rows, uint64_t row,
		    float *ret);

#endif
