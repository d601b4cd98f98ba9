/* What the kernels of a scatter share with the host: the lists, in scratch memory, all
 * zeros before the first kernel but for those that say otherwise. Device addresses; C and
 * CUDA alike. */
#ifndef LS_EXACT_CUDA_SCATTER_ARGS_H
#define LS_EXACT_CUDA_SCATTER_ARGS_H

#include "exact/scatter.h"

enum {
	LS_SCATTER_EACH = 4,   /* columns of a thread */
	LS_SCATTER_MANY = 128, /* sources that a block takes together */
};

struct ls_scatter_head {
	unsigned used; /* elements of list that are some key's */
	unsigned many; /* keys with many sources */
	unsigned bad;  /* an index is no place: every result is NaN */
	unsigned unused;
};

struct ls_scatter_lists {
	struct ls_scatter_head *head;
	unsigned *count, *filled; /* of each key */
	unsigned *start;          /* likewise; written before it is read */
	uint32_t *many, *list;    /* keys; items */
};

#endif
