#include "fm/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { POOL = 2048 }; /* features whose pairs are all looked at: two million products */

static float size_of(float x)
{
	return x < 0.0f ? -x : x;
}

static float norm_of(const float *v, uint32_t n)
{
	float sum = 0.0f;
	for (uint32_t i = 0; i < n; i++)
		sum += v[i] * v[i];
	return __builtin_sqrtf(sum);
}

static int by_linear(const void *a, const void *b)
{
	const struct ls_feature_rank *x = a, *y = b;
	float p = size_of(x->linear), q = size_of(y->linear);
	return p != q ? (p < q ? 1 : -1) : (x->feature > y->feature) - (x->feature < y->feature);
}

static int by_norm(const void *a, const void *b)
{
	const struct ls_feature_rank *x = a, *y = b;
	return x->norm != y->norm ? (x->norm < y->norm ? 1 : -1)
				  : (x->feature > y->feature) - (x->feature < y->feature);
}

static int by_strength(const void *a, const void *b)
{
	const struct ls_pair_rank *x = a, *y = b;
	float p = size_of(x->strength), q = size_of(y->strength);
	if (p != q)
		return p < q ? 1 : -1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return (x->b > y->b) - (x->b < y->b);
}

/* Keeps the first `keep` of an ordered list while more come in: appends, and sorts when twice as many are there. */
struct best {
	char *items;
	size_t n, keep, size;
	int (*order)(const void *, const void *);
};

static void best_cut(struct best *b)
{
	qsort(b->items, b->n, b->size, b->order);
	b->n = b->n < b->keep ? b->n : b->keep;
}

static void best_add(struct best *b, const void *item)
{
	memcpy(b->items + b->n++ * b->size, item, b->size);
	if (b->n == 2 * b->keep)
		best_cut(b);
}

static struct best best_new(size_t keep, size_t size, int (*order)(const void *, const void *))
{
	return (struct best){ls_xalloc(2 * keep * size), 0, keep, size, order};
}

static size_t best_end(struct best *b, void *ret)
{
	best_cut(b);
	memcpy(ret, b->items, b->n * b->size);
	free(b->items);
	return b->n;
}

static struct ls_feature_rank rank_of(const struct ls_fm_model *m, uint64_t j, uint32_t output)
{
	uint32_t lanes = m->blocks * m->padded;
	return (struct ls_feature_rank){(uint32_t)j, m->linear[j * ls_fm_stride(m) + output],
					norm_of(m->record + j * ls_fm_stride(m) + output * lanes, lanes)};
}

static size_t top(const struct ls_fm_model *m, uint32_t output, uint32_t n, int (*order)(const void *, const void *),
		  struct ls_feature_rank *ret)
{
	struct best b = best_new(n, sizeof *ret, order);
	for (uint64_t j = 0; j < m->n_features; j++) {
		struct ls_feature_rank r = rank_of(m, j, output);
		best_add(&b, &r);
	}
	return best_end(&b, ret);
}

uint32_t ls_fm_top_features(const struct ls_fm_model *m, uint32_t output, uint32_t n, struct ls_feature_rank *ret)
{
	return (uint32_t)top(m, output, n, by_linear, ret);
}

static uint32_t fm_pairs(const struct ls_fm_model *m, uint32_t output, uint32_t n, struct ls_pair_rank *ret,
			 bool *ret_exact)
{
	struct ls_feature_rank *pool = ls_xalloc(sizeof *pool * (POOL + 1));
	size_t count = top(m, output, POOL + 1, by_norm, pool), used = count < POOL ? count : POOL;
	struct best b = best_new(n, sizeof *ret, by_strength);
	for (size_t i = 0; i < used; i++)
		for (size_t j = i + 1; j < used; j++) {
			const float *v = m->record + pool[i].feature * ls_fm_stride(m) + output * m->padded;
			const float *u = m->record + pool[j].feature * ls_fm_stride(m) + output * m->padded;
			float dot = 0.0f;
			for (uint32_t f = 0; f < m->padded; f++)
				dot += v[f] * u[f];
			uint32_t x = pool[i].feature, y = pool[j].feature;
			struct ls_pair_rank p = {x < y ? x : y, x < y ? y : x, dot};
			best_add(&b, &p);
		}
	size_t found = best_end(&b, ret);
	*ret_exact = count <= POOL || (found && size_of(ret[found - 1].strength) >= pool[0].norm * pool[POOL].norm);
	free(pool);
	return (uint32_t)found;
}

uint32_t ls_fm_top_pairs(const struct ls_fm_model *m, uint32_t output, uint32_t n, struct ls_pair_rank *ret,
			 bool *ret_exact)
{
	*ret_exact = true;
	if (m->opts.kind == LS_FM)
		return fm_pairs(m, output, n, ret, ret_exact);
	struct best b = best_new(n, sizeof *ret, by_strength);
	for (uint32_t f = 0; f < m->n_fields && m->opts.kind == LS_FWFM; f++)
		for (uint32_t g = f; g < m->n_fields; g++) {
			struct ls_pair_rank p = {f, g,
						 m->pair[output * m->n_pairs + ls_fm_pair_index(m->n_fields, f, g)]};
			best_add(&b, &p);
		}
	for (uint64_t j = 0; j < m->n_features && m->opts.kind == LS_FFM; j++)
		for (uint32_t f = 0; f < m->n_fields; f++) {
			const float *v = m->record + j * ls_fm_stride(m) + (size_t)(output * m->blocks + f) * m->padded;
			struct ls_pair_rank p = {(uint32_t)j, f, norm_of(v, m->padded)};
			best_add(&b, &p);
		}
	return (uint32_t)best_end(&b, ret);
}
