/* The first few, by some order, of many items that come one by one, each listed once however often
 * it comes. Items are copied; the room for them, which does not grow, belongs to the list until
 * ls_best_end. One thread a list.
 */
#ifndef LS_BASE_TOPK_H
#define LS_BASE_TOPK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As qsort has it; items are the same where it gives 0, and then have the same hash. */
typedef int ls_best_order(const void *a, const void *b);
typedef uint64_t ls_best_hash(const void *item);

struct ls_best {
	char *items;
	size_t n, keep, size;
	bool cut; /* the first `keep` are in order, and the last of them is one that others must
		     precede */
	ls_best_order *order;
	ls_best_hash *hash;
	uint32_t *slot; /* places in items, from 1 on, by hash; a power of two of them */
	size_t slots;
};

/* keep is at least 1 and below 2^30. hash is NULL where no item comes twice. */
void ls_best_init(struct ls_best *b, size_t keep, size_t size, ls_best_order *order,
		  ls_best_hash *hash);
/* The item that another must precede to be listed; NULL: none yet. */
const void *ls_best_last(const struct ls_best *b);
bool ls_best_wants(const struct ls_best *b, const void *item);
void ls_best_add(struct ls_best *b, const void *item);
/* Copies the first `keep`, in order, to ret, and returns how many there are; the list's memory is
 * freed. */
size_t ls_best_end(struct ls_best *b, void *ret);

#endif
