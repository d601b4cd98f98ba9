/* The k first items, in some order, of many that come one by one. An item that comes
 * several times is listed once. Items are copied; their room does not grow and belongs to
 * the list until ls_topk_end. One thread a list. */
#ifndef LS_BASE_TOPK_H
#define LS_BASE_TOPK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As for qsort. Items are the same where it returns 0; they then have the same hash. */
typedef int ls_topk_order(const void *a, const void *b);
typedef uint64_t ls_topk_hash(const void *item);

struct ls_topk {
	char *items;
	size_t n, keep, size;
	bool cut; /* the first `keep` are sorted, and only what precedes the last of them counts */
	ls_topk_order *order;
	ls_topk_hash *hash;
	uint32_t *slot; /* hash table of places in items, from 1 on; its size is a power of two */
	size_t slots;
};

/* keep is at least 1 and below 2^30. hash is NULL where no item comes twice. */
void ls_topk_init(struct ls_topk *b, size_t keep, size_t size, ls_topk_order *order,
		  ls_topk_hash *hash);
/* The item that another must precede to be listed; NULL while all are. */
const void *ls_topk_last(const struct ls_topk *b);
bool ls_topk_wants(const struct ls_topk *b, const void *item);
void ls_topk_add(struct ls_topk *b, const void *item);
/* Copies the first `keep` items, in order, to ret; returns how many there are and frees
 * the list. */
size_t ls_topk_end(struct ls_topk *b, void *ret);

#endif
