/* Sorts the entries of a batch by feature, all workers together: a radix sort. Each
 * worker does the first pass over its own rows and the other passes over its share of the
 * features. Which worker gets which feature does not reach the bytes.
 *
 * struct ls_sort owns its buffers: ls_sort_init, ls_sort_free. There must be a barrier
 * between ls_sort_first and ls_sort_rest of a batch, and between ls_sort_rest of a batch
 * and ls_sort_first of the second batch after it, because the buffers of the first pass
 * are double (by the parity of the batch).
 *
 * A key is feature << 32 | number, where the number is that of a row or an entry; or
 * narrow, in 32 bits: feature << number_bits | number. */
#ifndef LS_FM_CPU_SORT_H
#define LS_FM_CPU_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/balance.h"
#include "fm/data/rows.h"

struct ls_sort {
	/* workers at most, and of the next batches: may change between two batches if
	 * nothing of the second has been sorted */
	uint32_t most, threads;
	uint32_t bits, passes; /* bits of a digit */
	/* of the keys in `first`, which are narrow; 0: they are wide */
	uint32_t number_bits;
	size_t room; /* keys a batch may have */
	/* (1 << bits) + 1: the work of the lowest digits before each */
	uint64_t *work;
	void *first; /* 2 × room: each worker's keys by their lowest digit */
	/* 2 × most × (1 << bits) + 1, in whole cache lines: where each digit begins */
	uint32_t *from;
	uint64_t *sorted, *other; /* room each; other is NULL if one buffer is enough */
};

/* A worker's rows of a batch. */
struct ls_sort_rows {
	const uint32_t *feature; /* of all their entries */
	/* entry: the number of the first, which is also where its key may go */
	uint32_t n_entries, entry;
	const struct ls_row_place
		/* from row lo on; NULL: keys hold the number of the entry, not of the
		 * row */
		*place;
	uint32_t lo, hi; /* rows */
};

/* Features are below n_features, and the keys' numbers below `numbers`. False: no memory;
 * ls_sort_free is called all the same. */
bool ls_sort_init(struct ls_sort *s, uint32_t threads, uint64_t n_features, uint64_t numbers,
		  size_t room);
void ls_sort_free(struct ls_sort *s);
/* Looks at some of the rows that will be sorted, so that parts are of equal work. Without
 * this call all digits count the same. Before the workers begin. */
void ls_sort_weigh(struct ls_sort *s, const struct ls_rows *rows);

void ls_sort_first(const struct ls_sort *s, uint64_t batch, int thread,
		   const struct ls_sort_rows *rows);
/* A worker's part of the features: lowest digits lo..hi. */
struct ls_sort_part {
	uint32_t lo, hi;
};
/* All workers must have equal shares for a batch. */
struct ls_sort_part ls_sort_part(const struct ls_sort *s, const struct ls_balance *shares,
				 int thread);
/* The keys of this worker's part, wide and sorted. *ret_before: the number of keys that
 * the workers before it have. */
const uint64_t *ls_sort_rest(const struct ls_sort *s, uint64_t batch,
			     const struct ls_sort_part *part, size_t *ret_n, size_t *ret_before);

#endif
