/* One step of training, or a stretch of prediction, as the CPU kernels see it: borrowed pointers, no ownership.
 * cpu.c fills it; kern.c, compiled once an instruction set, does the arithmetic. Workers write disjoint parts.
 *
 * A batch's entries are numbered e: worker t's rows have theirs from t * entries_each on, without gaps.
 * back[] holds, for each entry, the vector that its factors' gradient is a multiple of (cell.h): one a row for fm, one
 * a row and field for fwfm, one an entry for ffm. */
#ifndef LS_FM_STEP_H
#define LS_FM_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fm/cell.h"
#include "fm/grids.h"
#include "fm/model.h"
#include "fm/rows.h"

struct ls_step {
	struct ls_fm_model *m;
	const struct ls_rows *rows;
	struct ls_update update;
	struct ls_grids grids;

	uint32_t n_rows;      /* of this batch */
	const uint64_t *pick; /* n_rows row numbers in the data */
	uint32_t entries_each;

	uint32_t *feature; /* by entry */
	uint32_t *row_of;  /* by entry */
	float *x;          /* by entry; used when has_x */
	uint16_t *field;   /* by entry; NULL for fm */
	float *back;       /* back_stride floats a row (fm, fwfm) or an entry (ffm) */
	size_t back_stride;
	float *sums;  /* fwfm: U and Q, 2 × back_stride floats a row; otherwise unused */
	float *score; /* n_rows × outputs */
	float *slope; /* n_rows × outputs */
	float *loss;  /* n_rows */
	bool has_x;   /* false: every x is 1 */
};

struct ls_row_place {
	uint64_t first; /* its first entry in the data */
	uint32_t n;
	float label;
};

/* What a worker has for itself. */
struct ls_worker {
	struct ls_exps exps;
	uint64_t bad_row;           /* a data row whose score is not finite, or UINT64_MAX */
	const float *bias;          /* outputs */
	struct ls_row_place *place; /* of its rows of the batch */
	uint64_t *keys;             /* feature << 32 | entry, of this worker's rows */
	size_t n_keys;
	int64_t *acc;       /* width accumulators */
	int64_t *pair_sums; /* fwfm: outputs × n_pairs */
};

struct ls_kern {
	const char *name;
	/* Scores, losses, slopes and back[] of rows lo..hi of the batch; entries from `entry` on; fills keys. */
	void (*forward)(struct ls_step *st, struct ls_worker *w, uint32_t lo, uint32_t hi, uint32_t entry);
	/* Gradient and update of every feature in keys, which are sorted. */
	void (*columns)(struct ls_step *st, struct ls_worker *w, const uint64_t *keys, size_t n);
	/* fwfm: adds rows lo..hi of the batch to w->pair_sums. */
	void (*pairs)(struct ls_step *st, struct ls_worker *w, uint32_t lo, uint32_t hi);
	/* Scores alone, for rows lo..hi of the data: score has (hi - lo) × outputs. */
	void (*predict)(const struct ls_fm_model *m, const struct ls_rows *rows, uint64_t lo, uint64_t hi, float *score,
			float *scratch);
};

/* The kernels for this machine. `name` forces one ("baseline", "avx2", "avx512", "sve"); NULL when it cannot run here.
 */
const struct ls_kern *ls_kern_pick(const char *name);
/* Floats of scratch that predict needs. */
size_t ls_kern_scratch(const struct ls_fm_model *m, uint64_t longest_row);

#endif
