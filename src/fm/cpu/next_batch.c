#include "fm/cpu/next_batch.h"

#include <string.h>
#include <sys/mman.h>

#include "base/huge_pages.h"
#include "fm/model/model.h"

/* On small pages, because most of it is never touched. */
static void *alloc(size_t bytes)
{
	void *p = ls_huge_alloc(bytes);
	if (p)
		madvise(p, bytes, MADV_NOHUGEPAGE); /* a refusal only costs memory */
	return p;
}

bool ls_next_batch_init(struct ls_next_batch *a, uint32_t batch, uint32_t longest)
{
	*a = (struct ls_next_batch){.batch = batch, .longest = longest};
	a->place = alloc(sizeof *a->place * batch);
	a->feature = alloc(sizeof *a->feature * batch * longest);
	return a->place && a->feature;
}

void ls_next_batch_free(struct ls_next_batch *a)
{
	ls_huge_free(a->place, sizeof *a->place * a->batch);
	ls_huge_free(a->feature, sizeof *a->feature * a->batch * a->longest);
}

/* Finds out which row it is and prefetches where it lies. */
static inline void pick(const struct ls_rows *rows, const struct ls_order *order, uint32_t b,
			struct ls_row_place *at)
{
	at->row = ls_order_row(order, b);
	__builtin_prefetch(rows->start + at->row);
	__builtin_prefetch(rows->label + at->row);
}

/* Finds out where the row lies and prefetches its features. A row that cannot be is in a
 * file that somebody writes to. ls_data_unchanged finds that later; until then the row
 * counts as empty. */
static inline void locate(const struct ls_rows *rows, uint32_t longest, struct ls_row_place *at)
{
	at->first = rows->start[at->row];
	uint64_t n = rows->start[at->row + 1] - at->first;
	at->n = n <= longest ? (uint32_t)n : 0;
	at->label = rows->label[at->row];
	for (uint32_t i = 0; i < at->n; i += LS_CACHE_LINE_FLOATS)
		__builtin_prefetch(rows->feature + at->first + i);
}

/* One stage at a time for SOME rows: the prefetches have time, and page walks overlap. */
uint32_t ls_next_batch_find(const struct ls_next_batch *a, const struct ls_rows *rows,
			    const struct ls_order *order, uint32_t lo, uint32_t hi)
{
	enum { SOME = 64 };
	uint32_t *to = a->feature;
	for (uint32_t from = 0; from < hi - lo; from += SOME) {
		uint32_t end = hi - lo - from < SOME ? hi - lo : from + SOME;
		for (uint32_t i = from; i < end; i++)
			pick(rows, order, lo + i, &a->place[i]);
		for (uint32_t i = from; i < end; i++)
			locate(rows, a->longest, &a->place[i]);
		for (uint32_t i = from; i < end; i++) {
			memcpy(to, rows->feature + a->place[i].first, a->place[i].n * sizeof *to);
			to += a->place[i].n;
		}
	}
	return (uint32_t)(to - a->feature);
}
