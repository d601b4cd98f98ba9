/* What one worker needs for itself in a step. Borrowed pointers; the engine owns the
 * memory (cpu_alloc.c). One thread each. */
#ifndef LS_FM_CPU_SCRATCH_H
#define LS_FM_CPU_SCRATCH_H

#include <stdint.h>

#include "fm/data/rows.h"
#include "fm/model/grids.h"

/* An entry of a wide column: its vector, and its slope on the grid. */
struct ls_wide_entry {
	const float *back;
	double slope;
};

struct ls_scratch {
	struct ls_exps exps; /* the largest exponents of its rows */
	/* the first data row whose score is not finite */
	uint64_t bad_row;
	const float *bias;                /* outputs */
	const struct ls_row_place *place; /* of its rows, from the first on */
	const uint32_t *feature;          /* of their entries */
	/* short columns: LS_KERN_BLOCK × lanes; otherwise NULL */
	float *sums;
	struct ls_wide_entry *wide; /* wide columns: by key; otherwise NULL */
	uint64_t *acc;              /* wide columns: lanes integers and as many floats */
	int64_t *pair_sums;         /* fwfm: outputs × n_pairs */
};

#endif
