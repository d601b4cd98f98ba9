#include "fm/eval/inspect.h"

#include <float.h>
#include <stdlib.h>

#include "base/mem.h"
#include "fm/eval/inspect_internal.h"
#include "num/num.h"

enum { POOL = 2048 }; /* features whose pairs are all looked at: two million products */

static float norm_of(const float *v, uint32_t n)
{
	float square = ls_rank_dot(v, v, n);
	double sum = 0;
	if (square <= FLT_MAX)
		return __builtin_sqrtf(square);
	for (uint32_t i = 0; i < n; i++)
		sum += (double)v[i] * (double)v[i];
	return (float)__builtin_sqrt(sum);
}

static int by_number(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int largest_first(float a, float b)
{
	return (a < b) - (a > b);
}

int ls_rank_by_linear(const void *a, const void *b)
{
	const struct ls_feature_rank *x = a, *y = b;
	int c = largest_first(ls_rank_size(x->linear), ls_rank_size(y->linear));
	return c ? c : by_number(x->feature, y->feature);
}

static int by_norm(const void *a, const void *b)
{
	const struct ls_feature_rank *x = a, *y = b;
	int c = largest_first(x->norm, y->norm);
	return c ? c : by_number(x->feature, y->feature);
}

int ls_rank_by_strength(const void *a, const void *b)
{
	const struct ls_pair_rank *x = a, *y = b;
	int c = largest_first(ls_rank_size(x->strength), ls_rank_size(y->strength));
	if (c == 0)
		c = by_number(x->a, y->a);
	if (c == 0)
		c = by_number(x->b, y->b);
	if (c == 0)
		c = by_number(x->field_a, y->field_a);
	return c ? c : by_number(x->field_b, y->field_b);
}

struct ls_feature_rank ls_rank_of(const struct ls_fm_model *m, uint64_t feature, uint32_t output)
{
	return (struct ls_feature_rank){
		(uint32_t)feature, m->linear[feature * ls_fm_stride(m) + output],
		norm_of(ls_rank_factors(m, feature, output), m->blocks * m->padded)};
}

void ls_fm_ranks_init(struct ls_fm_ranks *r, uint32_t n)
{
	*r = (struct ls_fm_ranks){ls_xalloc(n * sizeof *r->feature), ls_xalloc(n * sizeof *r->pair),
				  .exact = true};
}

void ls_fm_ranks_done(struct ls_fm_ranks *r)
{
	free(r->feature);
	free(r->pair);
}

/* The first n features by some order. Those with first factors are left out, unless they
 * have a weight and linear says that it counts. */
static size_t top(const struct ls_fm_model *m, uint32_t output, uint32_t n, ls_topk_order *order,
		  bool linear, struct ls_feature_rank *ret)
{
	struct ls_topk b;
	ls_topk_init(&b, n, sizeof *ret, order, NULL);
	for (uint64_t j = 0; j < m->n_features; j++) {
		struct ls_feature_rank r = ls_rank_of(m, j, output);
		if (ls_topk_wants(&b, &r) &&
		    ((linear && r.linear != 0.0f) || !ls_fm_first_factors(m, j, 0, ls_fm_lanes(m))))
			ls_topk_add(&b, &r);
	}
	return ls_topk_end(&b, ret);
}

static size_t fm_pairs(const struct ls_fm_model *m, uint32_t output, uint32_t n,
		       struct ls_pair_rank *ret, bool *ret_exact)
{
	struct ls_feature_rank *pool = ls_xalloc(sizeof *pool * (POOL + 1));
	size_t count = top(m, output, POOL + 1, by_norm, false, pool),
	       used = count < POOL ? count : POOL;
	struct ls_topk b;
	ls_topk_init(&b, n, sizeof *ret, ls_rank_by_strength, NULL);
	for (size_t i = 0; i < used; i++)
		for (size_t j = i + 1; j < used; j++) {
			uint32_t x = pool[i].feature, y = pool[j].feature;
			struct ls_pair_rank p = {
				x < y ? x : y, x < y ? y : x,
				.strength = ls_rank_dot(ls_rank_factors(m, x, output),
							ls_rank_factors(m, y, output), m->padded)};
			ls_topk_add(&b, &p);
		}
	size_t found = ls_topk_end(&b, ret);
	*ret_exact = count <= POOL || (found && ls_rank_size(ret[found - 1].strength) >=
							pool[0].norm * pool[POOL].norm);
	free(pool);
	return found;
}

static size_t fwfm_pairs(const struct ls_fm_model *m, uint32_t output, uint32_t n,
			 struct ls_pair_rank *ret)
{
	struct ls_topk b;
	ls_topk_init(&b, n, sizeof *ret, ls_rank_by_strength, NULL);
	for (uint32_t f = 0; f < m->n_fields; f++)
		for (uint32_t g = f; g < m->n_fields; g++) {
			size_t i =
				(size_t)output * m->n_pairs + ls_fm_pair_index(m->n_fields, f, g);
			struct ls_pair_rank p = {f, g, .strength = m->pair[i]};
			if (!ls_fm_first_pair(m, i))
				ls_topk_add(&b, &p);
		}
	return ls_topk_end(&b, ret);
}

static size_t ffm_lengths(const struct ls_fm_model *m, uint32_t output, uint32_t n,
			  struct ls_pair_rank *ret)
{
	struct ls_topk b;
	ls_topk_init(&b, n, sizeof *ret, ls_rank_by_strength, NULL);
	for (uint64_t j = 0; j < m->n_features; j++)
		for (uint32_t f = 0; f < m->n_fields; f++) {
			const float *v = ls_rank_factors(m, j, output) + (size_t)f * m->padded;
			size_t lane = ((size_t)output * m->blocks + f) * m->padded;
			struct ls_pair_rank p = {(uint32_t)j, f, .strength = norm_of(v, m->padded)};
			if (ls_topk_wants(&b, &p) && !ls_fm_first_factors(m, j, lane, m->padded))
				ls_topk_add(&b, &p);
		}
	return ls_topk_end(&b, ret);
}

void ls_fm_rank_model(const struct ls_fm_model *m, uint32_t output, uint32_t n,
		      struct ls_fm_ranks *ret)
{
	uint64_t saved = ls_fp_enter();
	ls_fm_ranks_init(ret, n);
	ret->n_features = (uint32_t)top(m, output, n, ls_rank_by_linear, true, ret->feature);
	ret->n_pairs =
		(uint32_t)(!m->opts.factors        ? 0
			   : m->opts.kind == LS_FM ? fm_pairs(m, output, n, ret->pair, &ret->exact)
			   : m->opts.kind == LS_FWFM ? fwfm_pairs(m, output, n, ret->pair)
						     : ffm_lengths(m, output, n, ret->pair));
	ls_fp_leave(saved);
}
