#include "base/topk.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void ls_topk_init(struct ls_topk *b, size_t keep, size_t size, ls_topk_order *order,
		  ls_topk_hash *hash)
{
	*b = (struct ls_topk){ls_xalloc(2 * keep * size), .keep = keep, .size = size,
			      .order = order, .hash = hash};
	for (b->slots = 4; b->slots < 4 * keep; b->slots *= 2)
		;
	b->slot = hash ? ls_xalloc(b->slots * sizeof *b->slot) : NULL;
}

static char *at(const struct ls_topk *b, size_t i)
{
	return b->items + i * b->size;
}

/* The slot that an item has or would get. At least half of the slots are empty. */
static uint32_t *find_slot(const struct ls_topk *b, const void *item)
{
	size_t s = b->hash(item) & (b->slots - 1);
	while (b->slot[s] && b->order(at(b, b->slot[s] - 1), item) != 0)
		s = (s + 1) & (b->slots - 1);
	return &b->slot[s];
}

/* Items are collected until there is no more room; then all but the first `keep` are
 * dropped. */
static void cut(struct ls_topk *b)
{
	qsort(b->items, b->n, b->size, b->order);
	b->n = b->n < b->keep ? b->n : b->keep;
	b->cut = b->n == b->keep;
	if (!b->hash)
		return;
	memset(b->slot, 0, b->slots * sizeof *b->slot);
	for (size_t i = 0; i < b->n; i++)
		*find_slot(b, at(b, i)) = (uint32_t)i + 1;
}

const void *ls_topk_last(const struct ls_topk *b)
{
	return b->cut ? at(b, b->keep - 1) : NULL;
}

bool ls_topk_wants(const struct ls_topk *b, const void *item)
{
	return !b->cut || b->order(item, at(b, b->keep - 1)) < 0;
}

void ls_topk_add(struct ls_topk *b, const void *item)
{
	if (!ls_topk_wants(b, item))
		return;
	uint32_t *slot = b->hash ? find_slot(b, item) : NULL;
	if (slot && *slot)
		return;
	memcpy(at(b, b->n++), item, b->size);
	if (slot)
		*slot = (uint32_t)b->n;
	if (b->n == 2 * b->keep)
		cut(b);
}

size_t ls_topk_end(struct ls_topk *b, void *ret)
{
	cut(b);
	memcpy(ret, b->items, b->n * b->size);
	free(b->items);
	free(b->slot);
	return b->n;
}
