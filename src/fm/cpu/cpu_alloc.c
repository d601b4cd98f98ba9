/* Makes and frees the engine on threads. */
#include <stdlib.h>

#include "base/cpus.h"
#include "base/huge_pages.h"
#include "base/mem.h"
#include "fm/cpu/cpu_internal.h"
#include "fm/cpu/dispatch.h"
#include "fm/cpu/kern_sizes.h"
#include "fm/model/engine.h"

enum { ROOM = 32 << 20 }; /* bytes for the terms of all workers */

/* Rows a batch can have. */
static uint32_t most_rows(const struct ls_fm_model *m, const struct ls_rows *rows)
{
	uint64_t n = rows->n_rows < m->opts.batch ? rows->n_rows : m->opts.batch;
	return n ? (uint32_t)n : 1;
}

static int check_sizes(const struct ls_fm_model *m, const struct ls_rows *rows, uint64_t longest,
		       struct ls_err *err)
{
	if (longest >= UINT32_MAX / most_rows(m, rows))
		return ls_err_set(err, LS_EINPUT,
				  "a batch of %u rows with up to %llu entries each is too large; "
				  "take a smaller --batch",
				  most_rows(m, rows), (unsigned long long)longest);
	if (!rows->label)
		return ls_err_set(err, LS_EINPUT, "the training data has no labels");
	if (rows->n_features > m->n_features ||
	    (m->n_fields && (!rows->field || rows->n_fields > m->n_fields)))
		return ls_err_set(err, LS_EINPUT,
				  "the data has features or fields that the model has not");
	return ls_fm_check_states(m, err);
}

/* Bytes for the terms of all rows in one worker. 0: it would have too few entries a row
 * for that to be faster, or there is too little memory. Then each entry's terms are
 * computed when it is its turn. */
static size_t terms_bytes(const struct ls_cpu *c, size_t max_rows)
{
	uint64_t threads = (uint64_t)ls_pool_threads(c->pool);
	size_t bytes =
		sizeof *c->batch.terms * max_rows * c->m->outputs * ls_term_stride(c->m->padded);
	return c->rows->n_entries / 2 >= threads * c->rows->n_rows && bytes <= ROOM / threads
		       ? bytes
		       : 0;
}

static int no_memory(size_t max_rows, struct ls_err *err)
{
	return ls_err_set(err, LS_ENOMEM,
			  "no memory for a batch of %zu rows; take a smaller --batch", max_rows);
}

static int alloc_batch(struct ls_cpu *c, uint64_t longest, struct ls_err *err)
{
	struct ls_fm_model *m = c->m;
	struct ls_batch *batch = &c->batch;
	int threads = ls_pool_threads(c->pool);
	size_t max_rows = most_rows(m, c->rows);
	bool ffm = m->opts.kind == LS_FFM, fwfm = m->opts.kind == LS_FWFM;
	c->entries = max_rows * longest;
	batch->has_x = c->rows->value || m->opts.normalize;
	batch->back_stride = (size_t)m->outputs * (fwfm || ffm ? m->n_fields : 1) * m->padded;
	c->back_bytes = sizeof(float) * batch->back_stride * (ffm ? c->entries : max_rows);
	bool wide = ls_kern_is_wide(m->opts.kind, m->blocks * m->padded);
	c->terms_bytes = ls_keys_are_rows(batch) && !wide ? terms_bytes(c, max_rows) : 0;
	c->sums_bytes = fwfm ? sizeof(float) * batch->back_stride * 2 * max_rows : 0;
	batch->score = ls_alloc_array(max_rows * m->outputs, sizeof(float));
	batch->slope = ls_alloc_array(max_rows * m->outputs, sizeof(float));
	batch->loss = ls_alloc_array(max_rows, sizeof(float));
	batch->row_of = ls_huge_alloc(c->entries * sizeof *batch->row_of);
	batch->x = batch->has_x ? ls_huge_alloc(c->entries * sizeof *batch->x) : NULL;
	batch->field = fwfm ? ls_huge_alloc(c->entries * sizeof *batch->field) : NULL;
	batch->back = ls_huge_alloc(c->back_bytes);
	batch->sums = fwfm ? ls_huge_alloc(c->sums_bytes) : NULL;
	c->wide = wide ? ls_huge_alloc(c->entries * sizeof *c->wide) : NULL;
	bool sort = ls_sort_init(&c->sort, (uint32_t)threads, c->rows->n_features,
				 ls_keys_are_rows(batch) ? max_rows : c->entries, c->entries);
	ls_sort_weigh(&c->sort, c->rows);
	if (!batch->score || !batch->slope || !batch->loss || !batch->row_of ||
	    (batch->has_x && !batch->x) || (fwfm && (!batch->field || !batch->sums)) ||
	    !batch->back || (wide && !c->wide) || !sort)
		return no_memory(max_rows, err);
	return 0;
}

static int make_workers(struct ls_cpu *c, uint64_t longest, struct ls_err *err)
{
	struct ls_fm_model *m = c->m;
	int threads = ls_pool_threads(c->pool);
	uint32_t max_rows = most_rows(m, c->rows);
	bool ahead = true, sums = true;
	uint32_t lanes = m->blocks * m->padded;
	c->workers = ls_xalloc(sizeof *c->workers * (size_t)threads);
	for (int t = 0; t < threads; t++) {
		struct worker *w = &c->workers[t];
		for (int i = 0; i < HALVES; i++)
			ls_balance_init(&w->shares[i], threads);
		w->times = ls_xalloc(sizeof *w->times * (size_t)threads);
		w->w.bad_row = UINT64_MAX;
		w->bias = ls_xalloc(sizeof(float) * ls_fm_linear_size(m));
		w->w.bias = w->bias;
		w->bias_sum = ls_xalloc(sizeof *w->bias_sum * m->outputs);
		w->terms = c->terms_bytes ? ls_huge_alloc(c->terms_bytes) : NULL;
		w->w.sums =
			c->wide ? NULL : ls_alloc_array(lanes, sizeof *w->w.sums * LS_KERN_BLOCK);
		w->w.acc = c->wide ? ls_alloc_array(lanes, sizeof *w->w.acc + sizeof(float)) : NULL;
		w->w.pair_sums =
			ls_alloc_array((size_t)m->outputs * m->n_pairs + 1, sizeof *w->w.pair_sums);
		sums &= (w->w.sums || w->w.acc) && w->w.pair_sums;
		ahead &= ls_next_batch_init(&w->next, max_rows, (uint32_t)longest);
	}
	if (!sums)
		return ls_err_set(err, LS_ENOMEM,
				  "no memory for the sums of %d threads; take fewer --threads, "
				  "factors or fields",
				  threads);
	return ahead ? 0 : no_memory(max_rows, err);
}

int ls_cpu_new(struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
	       const char *isa, struct ls_cpu **ret, struct ls_err *err)
{
	const struct ls_kern *kern = ls_kern_dispatch(isa);
	if (!kern)
		return ls_err_set(err, LS_EUNKNOWN, "this machine cannot run the \"%s\" kernels",
				  isa);
	uint64_t longest = ls_rows_longest(rows);
	longest = longest ? longest : 1;
	int rc = check_sizes(m, rows, longest, err);
	if (rc)
		return rc;
	struct ls_cpu *c = ls_xalloc(sizeof *c);
	c->m = m;
	c->rows = rows;
	c->pool = pool;
	c->kern = kern;
	c->batch.m = m;
	c->batch.rows = rows;
	ls_active_init(&c->active, ls_pool_threads(pool));
	if (c->active.most > ls_cpus())
		ls_active_hold(&c->active, c->active.most);
	rc = alloc_batch(c, longest, err);
	if (rc == 0)
		rc = make_workers(c, longest, err);
	if (rc) {
		ls_cpu_free(c);
		return rc;
	}
	*ret = c;
	return 0;
}

static void free_workers(struct ls_cpu *c)
{
	for (int t = 0; c->workers && t < ls_pool_threads(c->pool); t++) {
		struct worker *w = &c->workers[t];
		for (int i = 0; i < HALVES; i++)
			ls_balance_free(&w->shares[i]);
		free(w->times);
		free(w->bias);
		free(w->bias_sum);
		ls_huge_free(w->terms, c->terms_bytes);
		free(w->w.sums);
		free(w->w.acc);
		free(w->w.pair_sums);
		ls_next_batch_free(&w->next);
	}
	free(c->workers);
}

void ls_cpu_free(struct ls_cpu *c)
{
	if (!c)
		return;
	free_workers(c);
	struct ls_batch *batch = &c->batch;
	free(batch->score);
	free(batch->slope);
	free(batch->loss);
	ls_huge_free(batch->row_of, c->entries * sizeof *batch->row_of);
	ls_huge_free(batch->x, c->entries * sizeof *batch->x);
	ls_huge_free(batch->field, c->entries * sizeof *batch->field);
	ls_huge_free(batch->back, c->back_bytes);
	ls_huge_free(batch->sums, c->sums_bytes);
	ls_huge_free(c->wide, c->entries * sizeof *c->wide);
	ls_sort_free(&c->sort);
	free(c);
}
