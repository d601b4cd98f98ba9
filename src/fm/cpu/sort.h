/* The entries of a batch by feature, sorted by all workers together: a radix sort whose first pass
 * each worker does on its own rows and whose other passes it does on its share of the features.
 * struct ls_sort owns its buffers: ls_sort_init, ls_sort_free. Between ls_sort_first and
 * ls_sort_rest of a batch all workers meet at a barrier, and between ls_sort_rest of a batch and
 * ls_sort_first of the second batch after it: what the first pass leaves is kept for two batches,
 * reported apart by whether their number is odd. Which worker gets which feature does not reach the
 * bytes. Keys are feature << 32 | number (of row or entry), or narrow: feature << number_bits |
 * number, in 32 bits. */
#ifndef LS_FM_CPU_SORT_H
#define LS_FM_CPU_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/balance.h"
#include "fm/data/rows.h"

struct ls_sort {
	uint32_t most, threads; /* workers: there may be, and of the next batches; may change
				   between two, if nothing of the second has been sorted */
	uint32_t bits, passes;  /* bits of a digit */
	uint32_t number_bits;   /* of the keys in `first`, which are narrow; 0: they are wide */
	size_t room;            /* keys a batch may have */
	uint64_t *work;         /* (1 << bits) + 1: that the lowest digits before each are */
	void *first;            /* 2 × room: each worker's keys by their lowest digit */
	uint32_t *from; /* 2 × most × (1 << bits) + 1, to whole lines: where each digit begins */
	uint64_t *sorted, *other; /* room each; other: NULL if one is enough */
};

/* A worker's rows of a batch. */
struct ls_sort_rows {
	const uint32_t *feature;   /* of all their entries */
	uint32_t n_entries, entry; /* entry: number of the first, and where its key may go */
	const struct ls_row_place
		*place;  /* of row lo on; NULL: keys have the number of the entry, not of the row */
	uint32_t lo, hi; /* rows */
};

/* Features are below n_features, keys' numbers below `numbers`. false: no memory; free it all the
 * same. */
bool ls_sort_init(struct ls_sort *s, uint32_t threads, uint64_t n_features, uint64_t numbers,
		  size_t room);
void ls_sort_free(struct ls_sort *s);
/* Before workers begin: looks at some of the rows that will be sorted, for parts of equal work.
 * Without it all digits are the same. */
void ls_sort_weigh(struct ls_sort *s, const struct ls_rows *rows);

void ls_sort_first(const struct ls_sort *s, uint64_t batch, int thread,
		   const struct ls_sort_rows *rows);
/* A worker's part of the features: digits lo..hi of the lowest. */
struct ls_sort_part {
	uint32_t lo, hi;
};
/* For a batch all workers need parts of the same shares. */
struct ls_sort_part ls_sort_part(const struct ls_sort *s, const struct ls_balance *shares,
				 int thread);
/* The keys of this worker's part, wide, sorted. *ret_before: keys of the workers before it. */
const uint64_t *ls_sort_rest(const struct ls_sort *s, uint64_t batch,
			     const struct ls_sort_part *part, size_t *ret_n, size_t *ret_before);

#endif
