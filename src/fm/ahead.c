#include "fm/ahead.h"

#include <string.h>

#include "fm/model.h"

bool ls_ahead_init(struct ls_ahead *a, uint32_t batch, uint32_t longest)
{
	*a = (struct ls_ahead){.batch = batch, .longest = longest};
	a->place = ls_fm_big_alloc(sizeof *a->place * batch);
	a->feature = ls_fm_big_alloc(sizeof *a->feature * batch * longest);
	return a->place && a->feature;
}

void ls_ahead_free(struct ls_ahead *a)
{
	ls_fm_big_free(a->place, sizeof *a->place * a->batch);
	ls_fm_big_free(a->feature, sizeof *a->feature * a->batch * a->longest);
}

/* Which row, and where it lies is asked for; */
static inline void pick(const struct ls_rows *rows, const struct ls_order *order, uint32_t b, struct ls_row_place *at)
{
	at->row = ls_order_row(order, b);
	__builtin_prefetch(rows->start + at->row);
	__builtin_prefetch(rows->label + at->row);
}

/* where it lies, and its features are asked for. */
static inline void locate(const struct ls_rows *rows, struct ls_row_place *at)
{
	at->first = rows->start[at->row];
	at->n = (uint32_t)(rows->start[at->row + 1] - at->first);
	at->label = rows->label[at->row];
	for (uint32_t i = 0; i < at->n; i += LS_FM_LINE)
		__builtin_prefetch(rows->feature + at->first + i);
}

/* A thing at a time for some rows: memory has time to bring the next, and pages that are not known yet are looked up
 * together. */
uint32_t ls_ahead_find(const struct ls_ahead *a, const struct ls_rows *rows, const struct ls_order *order, uint32_t lo,
		       uint32_t hi)
{
	enum { SOME = 64 };
	uint32_t *first = a->feature + (size_t)lo * a->longest, *to = first;
	for (uint32_t from = lo; from < hi; from += SOME) {
		uint32_t end = hi - from < SOME ? hi : from + SOME;
		for (uint32_t b = from; b < end; b++)
			pick(rows, order, b, &a->place[b]);
		for (uint32_t b = from; b < end; b++)
			locate(rows, &a->place[b]);
		for (uint32_t b = from; b < end; b++) {
			memcpy(to, rows->feature + a->place[b].first, a->place[b].n * sizeof *to);
			to += a->place[b].n;
		}
	}
	return (uint32_t)(to - first);
}
