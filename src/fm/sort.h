/* The entries of a batch by feature, sorted by all workers together: a radix sort whose first pass each worker does on
 * its own keys and whose other passes it does on its share of the features.
 * struct ls_sort owns its buffers: ls_sort_init, ls_sort_free. Between ls_sort_first and ls_sort_rest all workers meet
 * at a barrier, and again before the next batch. Which worker gets which feature does not reach the bytes. */
#ifndef LS_FM_SORT_H
#define LS_FM_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ls_sort {
	uint32_t threads, bits, passes; /* bits of a digit */
	size_t each;                    /* keys a worker may have */
	uint64_t *keys, *first, *third; /* threads × each; third: NULL unless there are more than two passes */
	uint32_t *from;                 /* (1 << bits) + 1 a worker: counts, then where each digit begins */
};

/* Keys are feature << 32 | anything, with features below n_features. false: no memory; free it all the same. */
bool ls_sort_init(struct ls_sort *s, uint32_t threads, uint64_t n_features, size_t each);
void ls_sort_free(struct ls_sort *s);

/* Where a worker puts its keys, and where it counts the lowest `bits` bits of their features. */
uint64_t *ls_sort_keys(const struct ls_sort *s, int thread);
uint32_t *ls_sort_counts(const struct ls_sort *s, int thread);

void ls_sort_first(const struct ls_sort *s, int thread, size_t n);
/* The keys of this worker's features, sorted; every feature is one worker's. *ret_before: keys of the workers before
 * it. */
const uint64_t *ls_sort_rest(const struct ls_sort *s, int thread, size_t *ret_n, size_t *ret_before);

#endif
