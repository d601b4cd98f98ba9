/* Order-free sums of rows that go to the same place: gradients of embeddings, index_add,
 * scatter_add (docs/NUMERICS.md, "Sums and statistics"). C and CUDA alike: the struct is
 * the argument of the kernels too. The caller owns all memory.
 *
 * The places of all sources are counted, each gets a list of its sources, in whatever
 * order, and then each is one owner's, who takes both halves of its sums. */
#ifndef LS_EXACT_SCATTER_H
#define LS_EXACT_SCATTER_H

#include "exact/reduce.h"

/* Source is outer × sources × inner, the result outer × places × inner, contiguous. */
struct ls_scatter {
	int64_t outer, sources, places, inner;
	const int64_t *index;
	int each;     /* index has the source's shape; else it has `sources` elements */
	int64_t skip; /* an index that is left out; -1: none */
	int mean;     /* divide by the number of sources */
	double alpha;
	const void *source; /* to be added */
	const void *self;   /* what it is added to; NULL: zeros */
	void *out;          /* may be self */
	int source_type, self_type, out_type;
};

/* Keys: where lists end. Items: what is in them. */
LS_FN int64_t ls_scatter_keys(const struct ls_scatter *s)
{
	return s->each ? s->outer * s->places * s->inner : s->places;
}

LS_FN int64_t ls_scatter_items(const struct ls_scatter *s)
{
	return s->each ? s->outer * s->sources * s->inner : s->sources;
}

enum { LS_SCATTER_SKIP = -1, LS_SCATTER_BAD = -2 };

LS_FN int64_t ls_scatter_key(const struct ls_scatter *s, int64_t item)
{
	int64_t at = s->index[item];
	if (at == s->skip)
		return LS_SCATTER_SKIP;
	if (at < 0 || at >= s->places)
		return LS_SCATTER_BAD;
	if (!s->each)
		return at;
	return (item / (s->sources * s->inner) * s->places + at) * s->inner + item % s->inner;
}

/* Column j of key: where it is in the source's row of the item, and in the result. There
 * are outer * inner columns, or one where each element has an index. */
LS_FN int64_t ls_scatter_columns(const struct ls_scatter *s)
{
	return s->each ? 1 : s->outer * s->inner;
}

LS_SLOW int64_t ls_scatter_far(const struct ls_scatter *s, int64_t rows, int64_t row, int64_t j)
{
	return (j / s->inner * rows + row) * s->inner + j % s->inner;
}

LS_FN int64_t ls_scatter_from(const struct ls_scatter *s, int64_t item, int64_t j)
{
	if (s->each)
		return item;
	return s->outer == 1 ? item * s->inner + j : ls_scatter_far(s, s->sources, item, j);
}

LS_FN int64_t ls_scatter_to(const struct ls_scatter *s, int64_t key, int64_t j)
{
	if (s->each)
		return key;
	return s->outer == 1 ? key * s->inner + j : ls_scatter_far(s, s->places, key, j);
}

LS_FN double ls_scatter_term(const struct ls_scatter *s, int64_t item, int64_t j)
{
	return (double)ls_reduce_get(s->source, s->source_type, ls_scatter_from(s, item, j));
}

/* The result of a column that has `count` sources, whose sum is `sum` steps on the grid
 * of top. Nothing that was added to leaves what was there, bit by bit. */
LS_FN void ls_scatter_finish(const struct ls_scatter *s, int64_t key, int64_t j, int64_t count,
			     uint64_t sum, uint32_t top, uint32_t flags)
{
	int64_t to = ls_scatter_to(s, key, j);
	double was = s->self ? (double)ls_reduce_get(s->self, s->self_type, to) : 0.0, t = was;
	if (count) {
		t = flags ? ls_flags_value(flags)
			  : ls_grid_value((int64_t)sum, -ls_term_grid(top, count));
		t = s->mean ? t / (double)count : t * s->alpha;
		t = s->self ? was + t : t;
	}
	ls_reduce_put(s->out, s->out_type, to, t);
}

#endif
