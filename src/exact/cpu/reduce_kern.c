#include "exact/cpu/reduce_kern.h"

#include <string.h>

#include "base/inline.h"
#include "exact/cpu/chunk.h"

enum { WIDTH = LS_REDUCE_WIDTH };
_Static_assert((int)WIDTH == (int)LS_CHUNK, "a chunk is as wide as a block");

static void fetch(const void *at, int type, int64_t stride, int n, float *ret)
{
	chunk_fetch(at, type, stride, n, ret);
}

/* --- terms --- */

/* pivot: one for each element, or one for all (step 0) */
INLINE void terms_as(const int kind, const struct ls_reduce *r, const struct ls_reduce_elements *e,
		     const double *pivot, int step, double (*t)[WIDTH])
{
	const int sums = ls_term_sums(kind), operands = ls_term_operands(kind);
	const double number[2] = {r->number[0], r->number[1]};
	const int n = e->n;
	double *restrict first = t[0], *restrict second = t[1];
	for (int i = 0; i < n; i++) {
		float v[LS_TERM_OPERANDS];
		double one[2] = {0.0, 0.0}; /* gcc does not see that the second is set */
		for (int k = 0; k < operands; k++)
			v[k] = e->v[k][i];
		ls_terms_of(kind, v, number, pivot[i * step], one);
		first[i] = one[0];
		if (sums == 2)
			second[i] = one[1];
	}
}

/* The kinds whose loops are worth a constant; the others go through the last line. */
static void terms(const struct ls_reduce *r, const struct ls_reduce_elements *e,
		  const double *pivot, int step, double (*t)[WIDTH])
{
	switch (r->kind) {
	case LS_TERM_SUM:
		terms_as(LS_TERM_SUM, r, e, pivot, step, t);
		break;
	case LS_TERM_SQUARE:
		terms_as(LS_TERM_SQUARE, r, e, pivot, step, t);
		break;
	case LS_TERM_MOMENTS:
		terms_as(LS_TERM_MOMENTS, r, e, pivot, step, t);
		break;
	case LS_TERM_GRADS:
		terms_as(LS_TERM_GRADS, r, e, pivot, step, t);
		break;
	case LS_MAP_NORMAL:
		terms_as(LS_MAP_NORMAL, r, e, pivot, step, t);
		break;
	case LS_MAP_BACK:
		terms_as(LS_MAP_BACK, r, e, pivot, step, t);
		break;
	default:
		terms_as(r->kind, r, e, pivot, step, t);
	}
}

static const double no_pivot;

static void map(const struct ls_reduce *r, const struct ls_reduce_elements *e, double *ret)
{
	double t[2][WIDTH];
	terms(r, e, &no_pivot, 0, t);
	memcpy(ret, t[0], sizeof *ret * (size_t)e->n);
}

/* --- one output --- */

static void bounds_of_moments(const struct ls_reduce_elements *e, struct ls_sum_state *s)
{
	uint32_t flags = chunk_range(e->v[0], e->n, &s->top[0], &s->top[1]);
	s->flags |= flags;
}

static void bounds_of_keys(int kind, const struct ls_reduce_elements *e, struct ls_sum_state *s)
{
	for (int i = 0; i < e->n; i++) {
		uint32_t key = ls_term_key(kind, e->v[0][i]);
		if (key > s->top[0]) {
			s->top[0] = key;
			s->sum[0] = (uint32_t) ~(uint64_t)(e->index + i);
		}
	}
}

static void bounds(const struct ls_reduce *r, const struct ls_reduce_elements *e,
		   struct ls_sum_state *s)
{
	double t[2][WIDTH];
	if (r->kind == LS_TERM_MOMENTS) {
		bounds_of_moments(e, s);
		return;
	}
	if (ls_term_is_key(r->kind)) {
		bounds_of_keys(r->kind, e, s);
		return;
	}
	terms(r, e, &no_pivot, 0, t);
	for (int k = 0; k < ls_term_sums(r->kind); k++) {
		s->top[k] = chunk_top(t[k], e->n, s->top[k]);
		if (s->top[k] == 0x7ff)
			s->flags |= chunk_flags(t[k], e->n) << (LS_TERM_FLAGS * k);
	}
}

static void sums(const struct ls_reduce *r, const struct ls_reduce_elements *e,
		 const struct ls_grids *g, struct ls_sum_state *s)
{
	double t[2][WIDTH];
	terms(r, e, &g->pivot, 0, t);
	for (int k = 0; k < ls_term_sums(r->kind); k++)
		s->sum[k] += chunk_sum(t[k], e->n, g->scale[k]);
}

/* --- outputs side by side --- */

static void keys_across(const struct ls_reduce *r, const struct ls_reduce_elements *e,
			struct ls_reduce_block *b)
{
	for (int i = 0; i < e->n; i++) {
		uint32_t key = ls_term_key(r->kind, e->v[0][i]);
		if (key > b->top[0][i]) {
			b->top[0][i] = key;
			b->sum[0][i] = (uint32_t)~e->index;
		}
	}
}

static void moments_across(const struct ls_reduce_elements *e, struct ls_reduce_block *b)
{
	for (int i = 0; i < e->n; i++) {
		uint32_t key = ls_float_key(e->v[0][i]);
		b->top[0][i] = key > b->top[0][i] ? key : b->top[0][i];
		b->top[1][i] = ~key > b->top[1][i] ? ~key : b->top[1][i];
	}
	for (int i = 0; i < e->n; i++)
		b->flags[i] |= ls_term_flags((double)e->v[0][i]);
}

static void bounds_across(const struct ls_reduce *r, const struct ls_reduce_elements *e,
			  struct ls_reduce_block *b)
{
	double t[2][WIDTH];
	if (r->kind == LS_TERM_MOMENTS) {
		moments_across(e, b);
		return;
	}
	if (ls_term_is_key(r->kind)) {
		keys_across(r, e, b);
		return;
	}
	terms(r, e, &no_pivot, 0, t);
	for (int k = 0; k < ls_term_sums(r->kind); k++) {
		uint32_t *restrict top = b->top[k], most = 0;
		const double *restrict term = t[k];
		const int n = e->n;
		for (int i = 0; i < n; i++) {
			uint32_t u = ls_term_top(term[i]);
			top[i] = u > top[i] ? u : top[i];
			most = u > most ? u : most;
		}
		for (int i = 0; most == 0x7ff && i < n; i++)
			b->flags[i] |= ls_term_flags(term[i]) << (LS_TERM_FLAGS * k);
	}
}

static void sums_across(const struct ls_reduce *r, const struct ls_reduce_elements *e,
			struct ls_reduce_block *b)
{
	double t[2][WIDTH];
	terms(r, e, b->pivot, 1, t);
	for (int k = 0; k < ls_term_sums(r->kind); k++) {
		uint64_t *restrict sum = b->sum[k];
		const double *restrict term = t[k], *restrict scale = b->scale[k];
		const int n = e->n;
		for (int i = 0; i < n; i++)
			sum[i] += ls_term_steps(term[i], scale[i]);
	}
}

const struct ls_reduce_kern LS_EXACT_NAME(reduce) = {
	fetch, bounds, sums, bounds_across, sums_across, map,
};
