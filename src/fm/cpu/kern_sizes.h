/* Sizes that the kernels and their callers agree on. Pure functions; any thread. */
#ifndef LS_FM_CPU_KERN_SIZES_H
#define LS_FM_CPU_KERN_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fm/model/model.h"

enum {
	LS_KERN_BLOCK = 32,      /* short columns that are updated together, at most */
	LS_KERN_WIDE_BLOCK = 16, /* the same of wide columns */
	/* lanes of a short column, whose sums stay in registers */
	LS_KERN_SHORT = 32,
	LS_KERN_ROWS = 8, /* rows that are predicted side by side, at most */
	LS_KERN_ENTRY = 3 /* floats of prediction scratch an entry */
};

/* Whether a column of so many lanes is wide: too many for registers, or without code of
 * its own. */
bool ls_kern_is_wide(enum ls_fm_kind kind, uint32_t lanes);
/* Floats for the sums of the rows that are predicted side by side. */
size_t ls_kern_sums(const struct ls_fm_model *m);
/* Floats of scratch that prediction needs. */
size_t ls_kern_scratch(const struct ls_fm_model *m, uint64_t longest_row);

#endif
