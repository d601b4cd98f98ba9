/* One step of training, or a stretch of prediction, as the CPU kernels see it: borrowed pointers,
 * no ownership. cpu.c fills it; kern.c, compiled once an instruction set, does the arithmetic.
 * Workers write disjoint parts.
 *
 * A batch's entries are numbered e: those of a worker's rows, which begin with row b, without gaps
 * from b times as many on as a row may have. back[] holds, for each entry, the vector that its
 * factors' gradient is a multiple of (cell.h): one a row for fm, one a row and field for fwfm, one
 * an entry for ffm. */
#ifndef LS_FM_CPU_STEP_H
#define LS_FM_CPU_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fm/data/rows.h"
#include "fm/model/cell.h"
#include "fm/model/grids.h"
#include "fm/model/model.h"
#include "fm/model/row_weight.h"

struct ls_step {
	struct ls_fm_model *m;
	const struct ls_rows *rows;
	struct ls_update update;
	struct ls_grids grids;

	uint32_t n_rows; /* of this batch */

	uint32_t *row_of; /* by entry */
	float *x;         /* by entry; used when has_x */
	uint16_t *field;  /* fwfm: by entry; otherwise NULL */
	float *back;      /* back_stride floats a row (fm, fwfm) or an entry (ffm) */
	size_t back_stride;
	uint64_t
		*terms; /* fm over values of 1, if it pays (cpu.c): n_rows × outputs ×
			 * ls_term_stride of the worker's own, see kern_columns.h; otherwise NULL */
	float *sums;    /* fwfm: U and W, 2 × back_stride floats a row; otherwise unused */
	float *score;   /* n_rows × outputs */
	float *slope;   /* n_rows × outputs */
	float *loss;    /* n_rows */
	bool has_x;     /* false: every x is 1 */
};

/* Columns that wait for their update together: at most (4 KiB of sums, a part of the first cache),
 * and of wide ones; lanes that a column may have to be added up in registers; rows that are
 * predicted side by side, at most, and floats of scratch that they need an entry. */
enum {
	LS_KERN_BLOCK = 32,
	LS_KERN_WIDE = 16,
	LS_KERN_SHORT = 32,
	LS_KERN_ROWS = 8,
	LS_KERN_ENTRY = 3
};

/* An entry of a wide column: its vector, and its slope on the grid. */
struct ls_found {
	const float *back;
	double slope;
};

/* An fm over values of 1 needs to know an entry's row and nothing else of it: then keys hold the
 * row, not the entry. */
static inline bool ls_keys_are_rows(const struct ls_step *st)
{
	return st->m->opts.kind == LS_FM && !st->has_x;
}

/* Integers from the terms of a row and output to the next. */
static inline size_t ls_term_stride(uint32_t lanes)
{
	return lanes + 2;
}

/* What a worker has for itself. */
struct ls_worker {
	struct ls_exps exps;
	uint64_t bad_row;                 /* a data row whose score is not finite, or UINT64_MAX */
	const float *bias;                /* outputs */
	const struct ls_row_place *place; /* of its rows, from the first on */
	const uint32_t *feature;          /* of their entries */
	float *sums; /* of the columns that wait for their update: LS_KERN_BLOCK × lanes; NULL for
			wide ones */
	struct ls_found *found; /* wide columns: by key; otherwise NULL */
	uint64_t *acc;          /* wide columns: lanes integers and as many floats */
	int64_t *pair_sums;     /* fwfm: outputs × n_pairs */
};

struct ls_kern {
	const char *name;
	/* Scores, losses, slopes and back[] of rows lo..hi of the batch, whose places are w's;
	 * entries from `entry` on.
	 */
	void (*forward)(struct ls_step *st, struct ls_worker *w, uint32_t lo, uint32_t hi,
			uint32_t entry);
	/* Where there is st->terms: fills it for rows lo..hi of the batch, once the grids are
	 * known. */
	void (*terms)(struct ls_step *st, uint32_t lo, uint32_t hi);
	/* Gradient and update of every feature in keys, which are sorted. */
	void (*columns)(struct ls_step *st, struct ls_worker *w, const uint64_t *keys, size_t n);
	/* fwfm: adds rows lo..hi of the batch to w->pair_sums. */
	void (*pairs)(struct ls_step *st, struct ls_worker *w, uint32_t lo, uint32_t hi);
	/* Scores alone, for rows lo..hi of the data: score has (hi - lo) × outputs. */
	void (*predict)(const struct ls_fm_model *m, const struct ls_rows *rows, uint64_t lo,
			uint64_t hi, float *score, float *scratch);
};

/* The kernels for this machine. `name` forces one ("baseline", "avx2", "avx512"); NULL
 * when it cannot run here.
 */
const struct ls_kern *ls_kern_pick(const char *name);
/* Whether columns of that many lanes are wide. */
bool ls_kern_wide(enum ls_fm_kind kind, uint32_t lanes);
/* Floats of scratch that predict needs: twice as many as the sums of rows side by side may be, and
 * what is left of their entries. */
size_t ls_kern_sums(const struct ls_fm_model *m);
size_t ls_kern_scratch(const struct ls_fm_model *m, uint64_t longest_row);

#endif
