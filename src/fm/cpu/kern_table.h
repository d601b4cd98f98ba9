/* The kernel table: what every build of the kernels provides. dispatch.h chooses a build.
 * Static data; any thread. */
#ifndef LS_FM_CPU_KERN_TABLE_H
#define LS_FM_CPU_KERN_TABLE_H

#include "fm/cpu/batch_state.h"
#include "fm/cpu/scratch.h"

struct ls_kern {
	const char *name;
	/* Scores, losses, slopes and back[] of rows lo..hi of the batch, with entries
	 * from `entry` on. */
	void (*forward)(struct ls_batch *batch, struct ls_scratch *w, uint32_t lo, uint32_t hi,
			uint32_t entry);
	/* If there is batch->terms: fills it for rows lo..hi, once the grids are
	 * known. */
	void (*terms)(struct ls_batch *batch, uint32_t lo, uint32_t hi);
	/* Gradient and update of every feature in `keys`, which are sorted. */
	void (*columns)(struct ls_batch *batch, struct ls_scratch *w, const uint64_t *keys,
			size_t n);
	/* fwfm: adds rows lo..hi of the batch to w->pair_sums. */
	void (*pairs)(struct ls_batch *batch, struct ls_scratch *w, uint32_t lo, uint32_t hi);
	/* Scores of rows lo..hi of the data: (hi - lo) × outputs floats. scratch has
	 * ls_kern_scratch floats. */
	void (*predict)(const struct ls_fm_model *m, const struct ls_rows *rows, uint64_t lo,
			uint64_t hi, float *score, float *scratch);
};

#endif
