#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "fm/eval/inspect.h"
#include "fm/eval/inspect_internal.h"
#include "num/num.h"

enum {
	STRETCH = 512, /* rows that a worker takes at a time */
	WORKERS = 64,  /* at most: each has a list of its own */
};

struct entry {
	const float *v; /* its feature's factors */
	uint32_t feature;
	uint16_t field;
};

struct worker {
	struct ls_topk best;
	float floor;         /* pairs that are weaker are dropped */
	struct entry *entry; /* of the row at hand */
};

struct scan {
	const struct ls_fm_model *m;
	const struct ls_rows *rows;
	uint32_t output;
	/* floats from a feature's factors for a field to those for the next; 0: one for
	 * all */
	size_t apart;
	/* of pairs of fields, for the output; NULL: they all weigh 1 */
	const float *weight;
	_Atomic uint64_t next; /* the first row that no worker has taken */
	atomic_uchar *seen;    /* by feature of the model: is in a row */
	struct worker *worker;
	size_t n_workers;
	struct entry *entries; /* of all workers */
};

static uint64_t hash_pair(const void *item)
{
	const struct ls_pair_rank *p = item;
	uint64_t h = ((uint64_t)p->a << 32 | p->b) * 0x9e3779b97f4a7c15u;
	h = (h ^ h >> 29 ^ ((uint64_t)p->field_a << 16 | p->field_b)) * 0xbf58476d1ce4e5b9u;
	return h ^ h >> 32;
}

static void see(const struct scan *s, uint32_t feature)
{
	if (!atomic_load_explicit(&s->seen[feature],
				  /* checked first: a write would take the cache line from
				   * other workers */
				  memory_order_relaxed))
		atomic_store_explicit(&s->seen[feature], 1, memory_order_relaxed);
}

/* Entries e..end that count, and how many those are. */
static uint32_t take_entries(const struct scan *s, uint64_t e, uint64_t end, struct entry *ret)
{
	const struct ls_rows *rows = s->rows;
	const uint16_t *field = s->m->n_fields ? rows->field : NULL;
	uint32_t n = 0;
	for (; e < end; e++) {
		uint32_t j = rows->feature[e];
		if (j >= s->m->n_features || (field && field[e] >= s->m->n_fields) ||
		    (rows->value && rows->value[e] == 0.0f))
			continue;
		see(s, j);
		ret[n++] = (struct entry){ls_rank_factors(s->m, j, s->output), j,
					  field ? field[e] : 0};
	}
	return n;
}

/* K, the floats of a product, is a constant of the calls where it pays. */
INLINE float strength(const struct scan *s, const struct entry *x, const struct entry *y,
		      uint32_t K)
{
	float dot = ls_rank_dot(x->v + y->field * s->apart, y->v + x->field * s->apart, K);
	if (!s->weight)
		return dot;
	uint32_t f = x->field < y->field ? x->field : y->field, g = x->field ^ y->field ^ f;
	return dot * s->weight[ls_fm_pair_index(s->m->n_fields, f, g)];
}

/* Either order of the two is the same pair. */
static void offer(struct worker *w, const struct entry *x, const struct entry *y, float strength)
{
	bool turn = x->feature > y->feature || (x->feature == y->feature && x->field > y->field);
	const struct entry *a = turn ? y : x, *b = turn ? x : y;
	struct ls_pair_rank p = {a->feature, b->feature, a->field, b->field, strength};
	ls_topk_add(&w->best, &p);
	const struct ls_pair_rank *last = ls_topk_last(&w->best);
	w->floor = last ? ls_rank_size(last->strength) : 0.0f;
}

INLINE void scan_pairs(const struct scan *s, struct worker *w, uint32_t n, uint32_t K)
{
	const struct entry *entry = w->entry;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = i + 1; j < n; j++) {
			float t = strength(s, &entry[i], &entry[j], K);
			if (ls_rank_size(t) >= w->floor)
				offer(w, &entry[i], &entry[j], t);
		}
}

static void scan_row(const struct scan *s, struct worker *w, uint64_t row)
{
	uint32_t n = take_entries(s, s->rows->start[row], s->rows->start[row + 1], w->entry),
		 K = s->m->padded;
	if (!s->m->opts.factors)
		return;
	if (K == 4)
		scan_pairs(s, w, n, 4);
	else if (K == 8)
		scan_pairs(s, w, n, 8);
	else if (K == 16)
		scan_pairs(s, w, n, 16);
	else
		scan_pairs(s, w, n, K);
}

static void work(void *context, size_t worker)
{
	struct scan *s = context;
	uint64_t row, n = s->rows->n_rows, saved = ls_fp_enter();
	while ((row = atomic_fetch_add(&s->next, STRETCH)) < n)
		for (uint64_t end = n - row < STRETCH ? n : row + STRETCH; row < end; row++)
			scan_row(s, &s->worker[worker], row);
	ls_fp_leave(saved);
}

static int scan_init(struct scan *s, uint32_t n, int threads, struct ls_err *err)
{
	uint64_t stretches = s->rows->n_rows / STRETCH + 1, longest = ls_rows_longest(s->rows);
	s->n_workers = (size_t)(threads < WORKERS ? threads : WORKERS);
	s->n_workers = stretches < s->n_workers ? stretches : s->n_workers;
	s->apart = s->m->opts.kind == LS_FFM ? s->m->padded : 0;
	s->weight = s->m->pair ? s->m->pair + (size_t)s->output * s->m->n_pairs : NULL;
	s->seen = ls_alloc_array(s->m->n_features, sizeof *s->seen);
	s->entries = ls_alloc_array(s->n_workers * (longest + 1), sizeof *s->entries);
	if (!s->seen || !s->entries)
		return ls_err_set(
			err, LS_ENOMEM,
			"no memory to look at rows of up to %llu entries and %llu features",
			(unsigned long long)longest, (unsigned long long)s->m->n_features);
	s->worker = ls_xalloc(s->n_workers * sizeof *s->worker);
	for (size_t i = 0; i < s->n_workers; i++) {
		ls_topk_init(&s->worker[i].best, n, sizeof(struct ls_pair_rank),
			     ls_rank_by_strength, hash_pair);
		s->worker[i].entry = s->entries + i * (longest + 1);
	}
	return 0;
}

/* Merges the pairs of all workers into the first one's. */
static size_t gather_pairs(struct scan *s, struct ls_pair_rank *ret)
{
	for (size_t i = 1; i < s->n_workers; i++) {
		size_t found = ls_topk_end(&s->worker[i].best, ret);
		for (size_t k = 0; k < found; k++)
			ls_topk_add(&s->worker[0].best, &ret[k]);
	}
	return ls_topk_end(&s->worker[0].best, ret);
}

static size_t gather_features(const struct scan *s, uint32_t n, struct ls_feature_rank *ret)
{
	struct ls_topk b;
	ls_topk_init(&b, n, sizeof *ret, ls_rank_by_linear, NULL);
	for (uint64_t j = 0; j < s->m->n_features; j++)
		if (s->seen[j]) {
			struct ls_feature_rank r = ls_rank_of(s->m, j, s->output);
			ls_topk_add(&b, &r);
		}
	return ls_topk_end(&b, ret);
}

int ls_fm_rank_rows(const struct ls_fm_model *m, uint32_t output, uint32_t n,
		    const struct ls_rows *rows, int threads, struct ls_fm_ranks *ret,
		    struct ls_err *err)
{
	struct scan s = {.m = m, .rows = rows, .output = output};
	int rc = scan_init(&s, n, threads, err);
	if (rc == 0) {
		ls_parallel((int)s.n_workers, s.n_workers, work, &s);
		ls_fm_ranks_init(ret, n);
		ret->n_pairs = (uint32_t)gather_pairs(&s, ret->pair);
		ret->n_features = (uint32_t)gather_features(&s, n, ret->feature);
	}
	free(s.seen);
	free(s.entries);
	free(s.worker);
	return rc;
}
