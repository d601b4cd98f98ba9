/* What the kernels of a step share with the host (cuda.c): one struct, passed by value,
 * of sizes and device pointers. C and CUDA alike. The host owns the memory. The kernels
 * run one after another:
 *
 *   once for the data
 *     spread       the row of every entry
 *     digits       how many entries have each digit of their feature
 *     passes       sort the entries by feature
 *   once an epoch
 *     order        rows to their places (batch and slot); entries by digit of their batch
 *     scan, firsts entries before each place
 *     passes       sort the entries, which are by feature, stably by batch
 *     look         what columns need to know of an entry besides its row
 *   once some steps
 *     tasks        the features of the batches, and where their entries are
 *   once a step
 *     rows         scores, losses, slopes, back vectors, largest exponents
 *     columns      sums of a feature in the registers of a lane group, then the optimizer in
 *                  place. A feature with more entries is a warp's, or several tasks whose
 *                  sums meet in `heavy`; the last task to finish updates.
 *
 * Data that stream (cuda_rows.c) come a window at a time, which is then both data and
 * epoch. */
#ifndef LS_FM_CUDA_DEVICE_CUDA_ARGS_H
#define LS_FM_CUDA_DEVICE_CUDA_ARGS_H

#include "fm/model/cell.h"
#include "num/port.h"

enum {
	LS_CUDA_THREADS = 256,
	/* more, smaller blocks for small batches, so that more multiprocessors have
	 * work */
	LS_CUDA_FEW_THREADS = 64,
	LS_CUDA_STRIPE = 512, /* rows a warp sums for the bias and the loss */
	/* entries of a feature in the second list of tasks; the first list has single
	 * entries */
	LS_CUDA_FEW = 4,
	/* of the third: the most that a lane group takes alone; with more it is a
	 * warp's */
	LS_CUDA_SOME = 16,
	LS_CUDA_LISTS = 3,
	LS_CUDA_GRAB = 16, /* group tasks that a warp takes at a time */
	LS_SORT_EACH = 16, /* entries of a thread, in the sort */
	LS_SORT_TILE = LS_SORT_EACH * LS_CUDA_THREADS,
	LS_SORT_BITS = 8, /* of a digit, at most */
	LS_SORT_PASSES = 32 / LS_SORT_BITS
};

enum { LS_TOP_SLOPE, LS_TOP_VALUE, LS_TOP_BACK, LS_TOP_SUMS, LS_TOP_LOSS, LS_TOPS };

/* Zeroed by the host before a stretch of steps, and by the last block of a step after
 * it. */
struct ls_cuda_state {
	/* the stretch's first step; the step of the graph's index 0; both within the
	 * window */
	uint64_t first, base;
	uint64_t rows;    /* of the window */
	uint64_t bad_row; /* least data row that was not finite, or ~0 */
	int64_t loss_sum;
	uint32_t top[LS_TOPS]; /* largest |bits| */
	uint32_t blocks_done;
	uint32_t grabbed; /* units of columns' work */
	uint32_t stopped; /* a row was not finite: later steps do nothing */
};

struct ls_cuda_task {
	uint32_t feature, from, n; /* entries from .. from + n of the sorted ones */
	/* single entry: its slot in the batch. Several: 0, or, if the feature has further
	 * tasks, 1 + its slot in `heavy` */
	uint32_t extra;
};

/* Where a row's entries are in the data. */
struct ls_cuda_span {
	uint32_t at, n;
};

/* Entries in some order: what they are sorted by, and what goes with it. */
struct ls_cuda_list {
	uint32_t *key, *with;
	uint32_t *entry; /* its number in the data; NULL: not wanted */
};

/* One pass of the sort: by one digit of the key, stable. */
struct ls_cuda_pass {
	struct ls_cuda_list from, to;
	/* NULL: the keys are stored; otherwise they are the places of these rows */
	const uint32_t *row;
	uint32_t shift, bits;   /* the digit */
	uint32_t number, tiles; /* of the pass; in it */
};

/* The digits that a sort takes, the lowest first: bits of the key, from a bit on, in so
 * many passes. */
struct ls_cuda_digits {
	uint32_t from, bits, passes;
};

LS_FN uint32_t ls_cuda_digit_from(const struct ls_cuda_digits *d, uint32_t pass)
{
	return d->from + d->bits * pass / d->passes;
}

LS_FN uint32_t ls_cuda_digit_bits(const struct ls_cuda_digits *d, uint32_t pass)
{
	return ls_cuda_digit_from(d, pass + 1) - ls_cuda_digit_from(d, pass);
}

/* The sort's memory and its result. A place is batch << slot_bits | slot. */
struct ls_cuda_sort {
	uint64_t step; /* the epoch's first */
	uint32_t rows, entries, slot_bits;
	int renumber; /* ffm: entries are numbered batch by batch, as back vectors are */
	struct ls_cuda_pass pass;
	struct ls_cuda_list by_feature; /* key: feature; with: row */
	struct ls_cuda_list
		/* key: place; with: feature; entry: of the batch, if renumbered */
		by_batch;
	struct ls_cuda_list spare; /* between passes */
	struct ls_cuda_digits digits;
	uint32_t *digit_count; /* by pass and digit: entries; zero before */
	uint32_t *ticket;      /* by pass: tiles that were taken; zero before */
	/* by tile and digit: entries of the digit, see tile_before; zero before */
	uint64_t *tile_digits;
	/* by tile of rows: entries; after scan: those before */
	uint32_t *row_tile;
	uint32_t *place_of; /* by row */
	/* in the epoch's order of rows, as are the next two: the row; */
	uint32_t *pick;
	struct ls_cuda_span *span; /* where it is; */
	/* entries before it; after the last row: all entries */
	uint32_t *first;
	float *by_x;        /* as by_batch; NULL as x */
	uint16_t *by_field; /* as by_batch; fwfm only */
	/* of the steps of a graph; each has its part, see lists_of */
	uint32_t *counts; /* LS_SORT_COUNTS a step; zero before */
	struct ls_cuda_task *light[LS_CUDA_LISTS],
		*task;         /* for groups, by number of entries; for warps */
	uint32_t *heavy_parts; /* by heavy slot: tasks of that feature */
};
enum {
	LS_SORT_TASKS,
	LS_SORT_LIGHT,
	LS_SORT_HEAVY = LS_SORT_LIGHT + LS_CUDA_LISTS,
	LS_SORT_COUNTS
};

struct ls_cuda_args {
	/* options and shape of the model */
	int task, shuffle, normalize, optimizer;
	float soft;
	uint32_t outputs, fields, blocks, padded, width, states, n_pairs, n_class_weights;
	uint64_t n_features;
	float *record, *linear, *bias, *pair;
	const float *class_weight;

	/* data: the whole of it, or a window (cuda_rows.c) */
	uint64_t seed;
	uint32_t batch;
	const uint64_t *start;
	const uint64_t *number; /* by row: the row in the whole data; NULL: the same */
	const uint32_t *in_feature;
	const uint16_t *in_field;
	const float *in_value, *label, *weight;
	float *x; /* of the entries, after normalisation; NULL: every x is 1 */

	/* the step */
	uint32_t index;      /* in the graph: the step is state->base + index */
	uint32_t step_tiles; /* blocks of tasks a step */
	uint32_t chunk;      /* entries a task has at most */
	/* ffm: rows that a block has in shared memory at a time, at most a warp's worth;
	 * or 0 */
	uint32_t row_fit;
	uint32_t back_each;  /* floats of back a row (fm, fwfm) or an entry (ffm) */
	uint32_t heavy_each; /* int64 words of `heavy` a slot: outputs × (lanes + 2) */
	struct ls_cuda_state *state;
	const struct ls_update *updates; /* by step - first */
	double *losses;                  /* by step - first */
	struct ls_cuda_sort sort;
	float *back, *sums, *score, *slope, *loss;
	int64_t *bias_sum, *pair_sum, *heavy;
	uint32_t *heavy_done; /* by heavy slot and output */

	/* prediction alone */
	uint64_t predict_rows; /* from start[0] on */
	float *predict_score;
	float *scratch; /* fwfm: 3 × back_each floats a warp of the grid */
};

#endif
