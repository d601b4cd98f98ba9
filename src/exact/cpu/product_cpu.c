#include "exact/product.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "exact/cpu/kern.h"
#include "exact/cpu/threads.h"
#include "exact/grid.h"
#include "num/num.h"

enum {
	MOST_ROWS = 192, /* of a block of the output: what a second-level cache has room for */
	MOST_COLUMNS = 384,
	ALIGN = 64,
	LINES_A_TASK = 64,
};
static const double SERIAL = 1 << 18; /* fewer products do not pay for waking threads */

struct job {
	const struct ls_exact_product *p;
	const struct ls_exact_kern *kern;
	int64_t rows, columns; /* of a block */
	int64_t row_blocks, column_blocks;
	uint32_t *top_a, *top_b; /* batch × m, batch × n */
	atomic_llong next_lines, next_block;
	atomic_bool no_memory;
};

/* What a thread works with. */
struct room {
	double *a, *b;
	int64_t *sum, *high, *low;
};

/* --- the sides --- */

static const void *batch_of(const struct ls_exact_matrix *x, int64_t batch)
{
	size_t size = x->type == LS_EXACT_F32 ? sizeof(float) : sizeof(uint16_t);
	/* an empty matrix may have no memory */
	return x->at ? (const char *)x->at + batch * x->batch * (int64_t)size : NULL;
}

static struct ls_exact_side side_a(const struct job *j, int64_t batch)
{
	const struct ls_exact_matrix *a = &j->p->a;
	return (struct ls_exact_side){batch_of(a, batch), a->type,    a->row,
				      a->column,          j->p->bits, j->top_a + batch * j->p->m};
}

static struct ls_exact_side side_b(const struct job *j, int64_t batch)
{
	const struct ls_exact_matrix *b = &j->p->b;
	return (struct ls_exact_side){batch_of(b, batch), b->type,
				      b->column,          b->row,
				      j->p->bits,         j->top_b + batch * j->p->n};
}

static void find_tops(const struct job *j, struct ls_exact_side s, int64_t task, int64_t lines,
		      uint32_t *top)
{
	int64_t at = task * LINES_A_TASK, n = lines - at < LINES_A_TASK ? lines - at : LINES_A_TASK;
	size_t size = s.type == LS_EXACT_F32 ? sizeof(float) : sizeof(uint16_t);
	if (!s.at) { /* k is 0 */
		memset(top + at, 0, sizeof *top * (size_t)n);
		return;
	}
	s.at = (const char *)s.at + at * s.line * (int64_t)size;
	j->kern->tops(&s, n, j->p->k, top + at);
}

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static void all_tops(struct job *j)
{
	int64_t a = divide_up(j->p->m, LINES_A_TASK), b = divide_up(j->p->n, LINES_A_TASK);
	for (int64_t i; (i = atomic_fetch_add(&j->next_lines, 1)) < j->p->batch * (a + b);) {
		int64_t batch = i / (a + b), task = i % (a + b);
		if (task < a)
			find_tops(j, side_a(j, batch), task, j->p->m, j->top_a + batch * j->p->m);
		else
			find_tops(j, side_b(j, batch), task - a, j->p->n,
				  j->top_b + batch * j->p->n);
	}
}

/* --- a block of the output --- */

static void fold(const struct job *j, struct room *r)
{
	for (int64_t i = 0; i < j->rows * j->columns; i++) {
		r->high[i] += r->sum[i] >> LS_GRID_SPLIT;
		r->low[i] += r->sum[i] & ((1 << LS_GRID_SPLIT) - 1);
		r->sum[i] = 0;
	}
}

static void multiply(const struct job *j, int64_t rows, int64_t columns, int64_t depth,
		     struct room *r)
{
	const struct ls_exact_tile *t = j->kern->tile;
	for (int64_t i = 0; i < rows; i += t->rows)
		for (int64_t k = 0; k < columns; k += t->columns)
			t->add(r->a + i * depth, r->b + k * depth, depth,
			       r->sum + i * j->columns + k, j->columns);
}

static void sum_block(const struct job *j, int64_t batch, int64_t i, int64_t rows, int64_t column,
		      int64_t columns, struct room *r)
{
	const struct ls_exact_product *p = j->p;
	struct ls_exact_side a = side_a(j, batch), b = side_b(j, batch);
	size_t bytes = sizeof(int64_t) * (size_t)(j->rows * j->columns);
	memset(r->sum, 0, bytes);
	if (r->high) {
		memset(r->high, 0, bytes);
		memset(r->low, 0, bytes);
	}
	for (int64_t at = 0, depth; at < p->k; at += depth) {
		depth = p->k - at < LS_EXACT_DEPTH ? p->k - at : LS_EXACT_DEPTH;
		j->kern->pack(&a, i, rows, at, depth, j->kern->tile->rows, r->a);
		j->kern->pack(&b, column, columns, at, depth, j->kern->tile->columns, r->b);
		multiply(j, rows, columns, depth, r);
		if (r->high && (at + depth) % (LS_GRID_MOST_TERMS / 2) == 0)
			fold(j, r);
	}
	if (r->high)
		fold(j, r);
}

static void block(const struct job *j, int64_t number, struct room *r)
{
	const struct ls_exact_product *p = j->p;
	int64_t per_batch = j->row_blocks * j->column_blocks, batch = number / per_batch;
	int64_t i = number % per_batch / j->column_blocks * j->rows;
	int64_t column = number % j->column_blocks * j->columns;
	int64_t rows = p->m - i < j->rows ? p->m - i : j->rows;
	int64_t columns = p->n - column < j->columns ? p->n - column : j->columns;
	sum_block(j, batch, i, rows, column, columns, r);
	for (int64_t k = 0; k < rows; k++) {
		int64_t at = k * j->columns;
		j->kern->finish(p, &(struct ls_exact_row){
					   .sum = r->sum + at,
					   .high = r->high ? r->high + at : NULL,
					   .low = r->low ? r->low + at : NULL,
					   .batch = batch,
					   .i = i + k,
					   .j = column,
					   .n = columns,
					   .top_a = j->top_a[batch * p->m + i + k],
					   .top_b = j->top_b + batch * p->n + column,
				   });
	}
}

/* --- threads --- */

static void *aligned(int64_t bytes)
{
	return aligned_alloc(ALIGN, (size_t)divide_up(bytes, ALIGN) * ALIGN);
}

static bool new_room(const struct job *j, struct room *r)
{
	int64_t size = (int64_t)sizeof(int64_t) * j->rows * j->columns;
	bool wide = j->p->k > LS_GRID_MOST_TERMS;
	*r = (struct room){
		.a = aligned((int64_t)sizeof(double) * LS_EXACT_DEPTH * j->rows),
		.b = aligned((int64_t)sizeof(double) * LS_EXACT_DEPTH * j->columns),
		.sum = aligned(size),
		.high = wide ? aligned(size) : NULL,
		.low = wide ? aligned(size) : NULL,
	};
	return r->a && r->b && r->sum && (!wide || (r->high && r->low));
}

static void free_room(struct room *r)
{
	free(r->a);
	free(r->b);
	free(r->sum);
	free(r->high);
	free(r->low);
}

static void all_blocks(struct job *j)
{
	int64_t blocks = j->p->batch * j->row_blocks * j->column_blocks;
	struct room r;
	if (!new_room(j, &r))
		atomic_store(&j->no_memory, true);
	while (!atomic_load(&j->no_memory)) {
		int64_t i = atomic_fetch_add(&j->next_block, 1);
		if (i >= blocks)
			break;
		block(j, i, &r);
	}
	free_room(&r);
}

static void on_pool(void *context, int thread, int threads)
{
	struct {
		struct job *job;
		struct ls_pool *pool; /* NULL: one thread */
	} *c = context;
	(void)thread, (void)threads;
	uint64_t saved = ls_fp_enter();
	all_tops(c->job);
	if (c->pool)
		ls_pool_barrier(c->pool);
	all_blocks(c->job);
	ls_fp_leave(saved);
}

/* Blocks as large as caches hold, but enough of them for all threads. */
static void choose_blocks(struct job *j, int threads)
{
	const struct ls_exact_tile *t = j->kern->tile;
	int64_t m = divide_up(j->p->m, t->rows) * t->rows;
	int64_t n = divide_up(j->p->n, t->columns) * t->columns;
	j->rows = m < MOST_ROWS ? m : MOST_ROWS;
	j->columns = n < MOST_COLUMNS ? n : MOST_COLUMNS;
	for (;;) {
		j->row_blocks = divide_up(j->p->m, j->rows);
		j->column_blocks = divide_up(j->p->n, j->columns);
		int64_t blocks = j->p->batch * j->row_blocks * j->column_blocks;
		bool wide = j->columns >= j->rows && j->columns > 2 * t->columns;
		if (blocks >= 3 * threads || (!wide && j->rows <= 2 * t->rows))
			return;
		if (wide)
			j->columns = divide_up(j->columns / 2, t->columns) * t->columns;
		else
			j->rows = divide_up(j->rows / 2, t->rows) * t->rows;
	}
}

static int run(struct job *j, int threads, struct ls_err *err)
{
	struct {
		struct job *job;
		struct ls_pool *pool;
	} context = {j, threads > 1 ? ls_exact_threads_take(threads) : NULL};
	if (context.pool) {
		ls_pool_run_some(context.pool, threads, on_pool, &context);
		ls_exact_threads_give();
	} else {
		on_pool(&context, 0, 1);
	}
	if (atomic_load(&j->no_memory))
		return ls_err_set(err, LS_ENOMEM, "no memory is left for an exact product");
	return 0;
}

int ls_exact_product(const struct ls_exact_product *p, int threads, const char *isa,
		     struct ls_err *err)
{
	int rc = ls_exact_check(p, err);
	struct job j = {.p = p, .kern = ls_exact_kern_find(isa)};
	if (rc || p->batch == 0 || p->m == 0 || p->n == 0)
		return rc;
	if (!j.kern)
		return ls_err_set(err, LS_EINPUT, "this processor has no instruction set %s", isa);
	double products = (double)p->batch * (double)p->m * (double)p->n * (double)p->k;
	if (threads < 1 || products < SERIAL)
		threads = 1;
	j.top_a = ls_alloc_array((size_t)p->batch, sizeof *j.top_a * (size_t)p->m);
	j.top_b = ls_alloc_array((size_t)p->batch, sizeof *j.top_b * (size_t)p->n);
	if (j.top_a && j.top_b) {
		choose_blocks(&j, threads);
		rc = run(&j, threads, err);
	} else
		rc = ls_err_set(err, LS_ENOMEM, "no memory is left for an exact product");
	free(j.top_a);
	free(j.top_b);
	return rc;
}
