/* The state of one batch, which all workers of a step share: borrowed pointers, no
 * ownership. cpu.c fills it, and the kernels read and write it; each worker writes its
 * own part.
 *
 * Entries are numbered within the batch. A worker's entries have consecutive numbers;
 * those of the worker whose first row is b start at b times the length of the longest
 * row.
 *
 * back[] holds the vectors that the gradient of the factors is a multiple of (cell.h):
 * one a row for fm, one a row and field for fwfm, one an entry for ffm. */
#ifndef LS_FM_CPU_BATCH_STATE_H
#define LS_FM_CPU_BATCH_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fm/data/rows.h"
#include "fm/model/cell.h"
#include "fm/model/grids.h"
#include "fm/model/model.h"

struct ls_batch {
	struct ls_fm_model *m;
	const struct ls_rows *rows;
	struct ls_update update;
	struct ls_grids grids;

	uint32_t n_rows; /* of this batch */
	bool has_x;      /* false: every value is 1 */

	uint32_t *row_of; /* by entry */
	float *x;         /* values by entry, if has_x */
	uint16_t *field;  /* fwfm: by entry; otherwise NULL */
	float *back;      /* back_stride floats a row (fm, fwfm) or an entry (ffm) */
	size_t back_stride;
	float *sums;  /* fwfm: U and W, 2 × back_stride floats a row */
	float *score; /* n_rows × outputs */
	float *slope; /* n_rows × outputs */
	float *loss;  /* n_rows */
	/* the worker's own terms of all rows (kern_columns.inl.h), or NULL */
	uint64_t *terms;
};

/* An fm whose values are all 1 needs only the row of an entry: then sort keys hold the
 * row instead of the entry. */
static inline bool ls_keys_are_rows(const struct ls_batch *st)
{
	return st->m->opts.kind == LS_FM && !st->has_x;
}

/* Integers from the terms of one row and output to those of the next. */
static inline size_t ls_term_stride(uint32_t lanes)
{
	return lanes + 2;
}

#endif
