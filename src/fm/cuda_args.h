/* What the kernels of a step share with the host (cuda.c): one struct, passed by value, of sizes and device pointers.
 * C and CUDA alike. The host owns the memory. Kernels of one step run one after another; sorts run steps ahead, each in
 * a slot of its own.
 *
 *   sort (data alone)   count:   a block a tile of the batch's rows: entries numbered, ranked among their feature's,
 * and written down ordered by feature within the tile, so that what follows goes in runs place:   the first entry of a
 * feature finds room for all of them, and makes tasks scatter: entries to their places. Order within a feature is
 * arbitrary, and does not matter: what is taken over it are integer sums step (parameters)   rows:    scores, losses,
 * slopes, back vectors, largest exponents columns: a lane group a feature: sums in registers, the optimizer in place;
 * features with more entries are a warp's, or several tasks, whose sums meet in `heavy`, and the last one to come
 * updates */
#ifndef LS_FM_CUDA_ARGS_H
#define LS_FM_CUDA_ARGS_H

#include "fm/cell.h"
#include "num/port.h"

enum {
	LS_CUDA_THREADS = 256,
	LS_CUDA_STRIPE = 512, /* rows a warp sums for the bias and the loss */
	LS_CUDA_FEW = 4,      /* entries of a feature, of the second list of tasks; the first has single ones */
	LS_CUDA_SOME = 16,    /* of the third: the most that a lane group takes alone; with more it is a warp's */
	LS_CUDA_LISTS = 3,
	LS_CUDA_GRAB = 16 /* tasks of groups that a warp takes at a time */
};

enum { LS_TOP_SLOPE, LS_TOP_VALUE, LS_TOP_BACK, LS_TOP_SUMS, LS_TOP_LOSS, LS_TOPS };

/* Zeroed by the host before a stretch of steps, and by the last block of a step after it. */
struct ls_cuda_state {
	uint64_t first, base; /* the stretch's first step; the step of the graph's index 0 */
	uint64_t bad_row;     /* least data row that was not finite, or ~0 */
	int64_t loss_sum;
	uint32_t top[LS_TOPS]; /* largest |bits| */
	uint32_t blocks_done;
	uint32_t grabbed; /* units of columns' work */
	uint32_t stopped; /* a row was not finite: later steps do nothing */
};

struct ls_cuda_task {
	uint32_t feature, from, n; /* entries from .. from + n of the sorted ones */
	uint32_t heavy;            /* 0: all entries of the feature; else 1 + its slot in args' heavy */
};

/* One batch, sorted. */
struct ls_cuda_sort {
	uint32_t *counts;   /* LS_SORT_…; zero before */
	uint64_t *pick;     /* by batch row: the row in the data */
	uint32_t *first;    /* by batch row: its first entry */
	uint32_t *length;   /* by batch row */
	uint32_t *feature;  /* by entry, as are the next three */
	uint32_t *rank;     /* what count wants to remember */
	float *x;           /* NULL: every x is 1 */
	uint16_t *field;    /* NULL for fm */
	uint32_t *in_count; /* by feature: zero before and after */
	uint32_t *offset;   /* by feature */
	/* by number in the order of tiles: feature, rank among the entries of the feature, batch row, entry (NULL
	 * unless something beside the row is to be known) */
	uint32_t *tile_feature, *tile_rank, *tile_row, *tile_entry;
	uint32_t *tile_first; /* by tile: its first entry, behind which `new` has features that no tile had before */
	uint32_t *tile_new;   /* by tile: how many */
	uint32_t *new_feature;
	uint32_t *by_row;                                 /* by place: batch row */
	uint32_t *by_entry;                               /* by place: entry; ffm only */
	float *by_x;                                      /* by place; NULL as x */
	uint16_t *by_field;                               /* by place; fwfm only */
	struct ls_cuda_task *light[LS_CUDA_LISTS], *task; /* for groups, by number of entries; for warps */
	uint32_t *heavy_parts;                            /* by heavy slot: tasks of that feature */
};
/* placed and tasks are counted together, as 64 bits; three lists from LS_SORT_LIGHT on */
enum {
	LS_SORT_PLACED,
	LS_SORT_TASKS,
	LS_SORT_LIGHT,
	LS_SORT_HEAVY = LS_SORT_LIGHT + LS_CUDA_LISTS,
	LS_SORT_ROWS,
	LS_SORT_ENTRIES,
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
	uint64_t n_rows, seed;
	uint32_t batch;
	const uint64_t *start;
	const uint64_t *number; /* by row: the row in the whole data; NULL: the same */
	const uint32_t *in_feature;
	const uint16_t *in_field;
	const float *in_value, *label, *weight;

	/* the step */
	uint32_t index;      /* in the graph: the step is state->base + index */
	uint32_t tile_rows;  /* rows a block of count takes, */
	uint32_t tile_most;  /* entries of them that it can order, */
	uint32_t tile_slots; /* and features whose entries it counts itself; a power of two */
	uint32_t chunk;      /* entries a task has at most */
	uint32_t row_fit;    /* ffm: rows that a block has in shared memory at a time, at most a warp's worth; or 0 */
	uint32_t back_each;  /* floats of back a row (fm, fwfm) or an entry (ffm) */
	uint32_t heavy_each; /* int64 of heavy a slot: outputs × (lanes + 2) */
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
