/* A step: rows are shared out for the forward pass, then features for the backward pass.
 *
 *   A  each worker: its rows' scores, slopes and back vectors, its largest exponents
 *   barrier, and until the last has come: the rest of the sort of this step's entries by feature,
 * and its first pass for the worker's rows of the next step, none of which needs a parameter B each
 * worker: the grids (same for all), its rows' part of the scalar sums, perhaps the terms of all
 * rows, then the features it owns: gradient and update in place
 *   barrier (fwfm: C  field weights, shared out; barrier)
 *
 * A feature is one worker's in a step, so no two touch the same parameter; whose does not reach the
 * bytes. The bias is so small that every worker keeps a copy and applies the same update to it at
 * the start of the next A. */
#include "fm/cpu/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/active_threads.h"
#include "base/balance.h"
#include "base/clock.h"
#include "base/cpus.h"
#include "base/huge_pages.h"
#include "base/mem.h"
#include "fm/cpu/next_batch.h"
#include "fm/cpu/sort.h"
#include "fm/cpu/step.h"
#include "fm/model/batch.h"
#include "fm/model/engine.h"
#include "num/num.h"

/* A worker's rows of a step: lo..hi of its n_all. */
struct rows_of {
	uint32_t lo, hi, n_all, n_entries;
};

enum { ROWS, COLUMNS, HALVES }; /* of a step, shared out each in its way */

/* One worker's own, on cache lines of its own. */
struct worker {
	struct ls_worker w;
	struct ls_ahead ahead;  /* its rows of a step or, once it is done with them, of the next */
	struct rows_of rows[2]; /* of a step and of the next */
	struct ls_sort_part part;
	const uint64_t *keys;            /* of its features in a step, sorted */
	size_t n_keys, before;           /* how many, and how many other workers have before them */
	struct ls_shares shares[HALVES]; /* this worker's copies */
	double took[HALVES];             /* seconds of the steps since shares were adjusted, */
	double told[HALVES];             /* and of those before, for all to read */
	double *times;                   /* threads: room to adjust */
	float *bias;                     /* outputs × (1 + states), this worker's copy */
	int64_t *bias_sum;               /* outputs */
	int64_t loss_sum;
	double loss_total; /* worker 0: with the steps of a call */
	uint64_t *terms;   /* of all rows of a batch, or NULL: see struct ls_step */
	char pad[64];
};

enum {
	ROUND = 16,      /* steps until shares are adjusted */
	ROOM = 32 << 20, /* bytes for the terms of all workers */
};
struct ls_cpu {
	struct ls_fm_model *m;
	const struct ls_rows *rows;
	struct ls_pool *pool;
	const struct ls_kern *kern;
	struct ls_crew crew; /* how many of the pool's threads work; phases are theirs */
	struct ls_step step; /* what all workers share; each works on a copy */
	struct ls_sort sort;
	struct ls_found *found; /* by place of a sorted key; NULL where no column is wide */
	size_t entries;         /* that a batch may have */
	struct worker *workers;
	uint64_t first, n; /* steps that are under way */
	double loss;       /* before them */
	size_t back_bytes, sums_bytes, terms_bytes;
};

/* --- making an engine --- */

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

/* What a worker needs for the terms of all rows, or 0 where it would have too few entries a row for
 * them to pay: then each entry's are worked out when it is its turn, as where there is no memory
 * for them. */
static size_t terms_bytes(const struct ls_cpu *c, size_t batch)
{
	uint64_t threads = (uint64_t)ls_pool_threads(c->pool);
	size_t bytes = sizeof *c->step.terms * batch * c->m->outputs * ls_term_stride(c->m->padded);
	return c->rows->n_entries / 2 >= threads * c->rows->n_rows && bytes <= ROOM / threads
		       ? bytes
		       : 0;
}

static int no_memory(size_t batch, struct ls_err *err)
{
	return ls_err_set(err, LS_ENOMEM,
			  "no memory for a batch of %zu rows; take a smaller --batch", batch);
}

static int alloc_batch(struct ls_cpu *c, uint64_t longest, struct ls_err *err)
{
	struct ls_fm_model *m = c->m;
	struct ls_step *st = &c->step;
	int threads = ls_pool_threads(c->pool);
	size_t batch = most_rows(m, c->rows);
	bool ffm = m->opts.kind == LS_FFM, fwfm = m->opts.kind == LS_FWFM;
	c->entries = batch * longest;
	st->has_x = c->rows->value || m->opts.normalize;
	st->back_stride = (size_t)m->outputs * (fwfm || ffm ? m->n_fields : 1) * m->padded;
	c->back_bytes = sizeof(float) * st->back_stride * (ffm ? c->entries : batch);
	bool wide = ls_kern_wide(m->opts.kind, m->blocks * m->padded);
	c->terms_bytes = ls_keys_are_rows(st) && !wide ? terms_bytes(c, batch) : 0;
	c->sums_bytes = fwfm ? sizeof(float) * st->back_stride * 2 * batch : 0;
	st->score = ls_alloc_array(batch * m->outputs, sizeof(float));
	st->slope = ls_alloc_array(batch * m->outputs, sizeof(float));
	st->loss = ls_alloc_array(batch, sizeof(float));
	st->row_of = ls_huge_alloc(c->entries * sizeof *st->row_of);
	st->x = st->has_x ? ls_huge_alloc(c->entries * sizeof *st->x) : NULL;
	st->field = fwfm ? ls_huge_alloc(c->entries * sizeof *st->field) : NULL;
	st->back = ls_huge_alloc(c->back_bytes);
	st->sums = fwfm ? ls_huge_alloc(c->sums_bytes) : NULL;
	c->found = wide ? ls_huge_alloc(c->entries * sizeof *c->found) : NULL;
	bool sort = ls_sort_init(&c->sort, (uint32_t)threads, c->rows->n_features,
				 ls_keys_are_rows(st) ? batch : c->entries, c->entries);
	ls_sort_weigh(&c->sort, c->rows);
	if (!st->score || !st->slope || !st->loss || !st->row_of || (st->has_x && !st->x) ||
	    (fwfm && (!st->field || !st->sums)) || !st->back || (wide && !c->found) || !sort)
		return no_memory(batch, err);
	return 0;
}

static int make_workers(struct ls_cpu *c, uint64_t longest, struct ls_err *err)
{
	struct ls_fm_model *m = c->m;
	int threads = ls_pool_threads(c->pool);
	uint32_t batch = most_rows(m, c->rows);
	bool ahead = true, sums = true;
	uint32_t lanes = m->blocks * m->padded;
	c->workers = ls_xalloc(sizeof *c->workers * (size_t)threads);
	for (int t = 0; t < threads; t++) {
		struct worker *w = &c->workers[t];
		for (int i = 0; i < HALVES; i++)
			ls_shares_init(&w->shares[i], threads);
		w->times = ls_xalloc(sizeof *w->times * (size_t)threads);
		w->w.bad_row = UINT64_MAX;
		w->bias = ls_xalloc(sizeof(float) * ls_fm_linear_size(m));
		w->w.bias = w->bias;
		w->bias_sum = ls_xalloc(sizeof *w->bias_sum * m->outputs);
		w->terms = c->terms_bytes ? ls_huge_alloc(c->terms_bytes) : NULL;
		w->w.sums =
			c->found ? NULL : ls_alloc_array(lanes, sizeof *w->w.sums * LS_KERN_BLOCK);
		w->w.acc =
			c->found ? ls_alloc_array(lanes, sizeof *w->w.acc + sizeof(float)) : NULL;
		w->w.pair_sums =
			ls_alloc_array((size_t)m->outputs * m->n_pairs + 1, sizeof *w->w.pair_sums);
		sums &= (w->w.sums || w->w.acc) && w->w.pair_sums;
		ahead &= ls_ahead_init(&w->ahead, batch, (uint32_t)longest);
	}
	if (!sums)
		return ls_err_set(err, LS_ENOMEM,
				  "no memory for the sums of %d threads; take fewer --threads, "
				  "factors or fields",
				  threads);
	return ahead ? 0 : no_memory(batch, err);
}

int ls_cpu_new(struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
	       const char *isa, struct ls_cpu **ret, struct ls_err *err)
{
	const struct ls_kern *kern = ls_kern_pick(isa);
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
	c->step.m = m;
	c->step.rows = rows;
	ls_crew_init(&c->crew, ls_pool_threads(pool));
	if (c->crew.most > ls_cpus())
		ls_crew_hold(&c->crew, c->crew.most);
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
			ls_shares_free(&w->shares[i]);
		free(w->times);
		free(w->bias);
		free(w->bias_sum);
		ls_huge_free(w->terms, c->terms_bytes);
		free(w->w.sums);
		free(w->w.acc);
		free(w->w.pair_sums);
		ls_ahead_free(&w->ahead);
	}
	free(c->workers);
}

void ls_cpu_free(struct ls_cpu *c)
{
	if (!c)
		return;
	free_workers(c);
	struct ls_step *st = &c->step;
	free(st->score);
	free(st->slope);
	free(st->loss);
	ls_huge_free(st->row_of, c->entries * sizeof *st->row_of);
	ls_huge_free(st->x, c->entries * sizeof *st->x);
	ls_huge_free(st->field, c->entries * sizeof *st->field);
	ls_huge_free(st->back, c->back_bytes);
	ls_huge_free(st->sums, c->sums_bytes);
	ls_huge_free(c->found, c->entries * sizeof *c->found);
	ls_sort_free(&c->sort);
	free(c);
}

const char *ls_cpu_isa(const struct ls_cpu *cpu)
{
	return cpu->kern->name;
}

const struct ls_shares *ls_cpu_shares(const struct ls_cpu *cpu, bool of_rows)
{
	return &cpu->workers[0].shares[of_rows ? ROWS : COLUMNS];
}

bool ls_cpu_terms(const struct ls_cpu *cpu)
{
	return cpu->workers[0].terms;
}

void ls_cpu_hold(struct ls_cpu *cpu, int workers)
{
	ls_crew_hold(&cpu->crew, workers);
}

void ls_cpu_drill(struct ls_cpu *cpu)
{
	ls_crew_drill(&cpu->crew);
}

int ls_cpu_at_work(const struct ls_cpu *cpu)
{
	return cpu->crew.stay;
}

/* --- phase A --- */

static uint32_t first_entry(const struct worker *w, const struct rows_of *of)
{
	return of->lo * w->ahead.longest;
}

/* A worker's rows of a step, found and sorted as far as it can alone. */
static void prepare_rows(struct ls_cpu *c, const struct ls_step *st, struct worker *w, int thread,
			 uint64_t step)
{
	struct rows_of *of = &w->rows[step % 2];
	const struct ls_ahead *ahead = &w->ahead;
	struct ls_order order = ls_fm_order(&c->m->opts, c->rows->n_rows, step);
	of->n_all = order.n;
	of->lo = (uint32_t)ls_shares_begin(&w->shares[ROWS], order.n, thread);
	of->hi = (uint32_t)ls_shares_begin(&w->shares[ROWS], order.n, thread + 1);
	of->n_entries = ls_ahead_find(ahead, c->rows, &order, of->lo, of->hi);
	ls_sort_first(&c->sort, step, thread,
		      &(struct ls_sort_rows){.feature = ahead->feature,
					     .n_entries = of->n_entries,
					     .entry = first_entry(w, of),
					     .place = ls_keys_are_rows(st) ? ahead->place : NULL,
					     .lo = of->lo,
					     .hi = of->hi});
}

static void phase_rows(struct ls_cpu *c, struct ls_step *st, struct worker *w, uint64_t step)
{
	const struct rows_of *of = &w->rows[step % 2];
	const struct ls_ahead *ahead = &w->ahead;
	st->n_rows = of->n_all;
	w->w.place = ahead->place;
	w->w.feature = ahead->feature;
	w->w.exps = (struct ls_exps){LS_EXP_MIN, st->has_x ? LS_EXP_MIN : 0, LS_EXP_MIN, LS_EXP_MIN,
				     LS_EXP_MIN};
	w->w.bad_row = UINT64_MAX;
	c->kern->forward(st, &w->w, of->lo, of->hi, first_entry(w, of));
}

/* --- phase B --- */

static int self_exp(const struct ls_fm_model *m)
{
	int e = LS_EXP_MIN;
	for (uint32_t o = 0; o < m->outputs; o++)
		for (uint32_t f = 0; f < m->n_fields && m->pair; f++)
			e = ls_exps_larger(e,
					   ls_exp_of(m->pair[(size_t)o * m->n_pairs +
							     ls_fm_pair_index(m->n_fields, f, f)]));
	return m->pair ? e : 0;
}

/* The largest exponents and the number of entries of the whole batch; false when a row was not
 * finite. */
static bool whole_batch(const struct ls_cpu *c, uint64_t step, struct ls_exps *ret_exps,
			uint64_t *ret_entries, uint64_t *ret_bad)
{
	*ret_exps = c->workers[0].w.exps;
	*ret_entries = 0;
	*ret_bad = UINT64_MAX;
	for (int t = 0; t < c->crew.now; t++) {
		const struct ls_worker *w = &c->workers[t].w;
		ls_exps_max(ret_exps, &w->exps);
		*ret_entries += c->workers[t].rows[step % 2].n_entries;
		*ret_bad = w->bad_row < *ret_bad ? w->bad_row : *ret_bad;
	}
	return *ret_bad == UINT64_MAX;
}

static void scalar_sums(struct ls_cpu *c, struct ls_step *st, struct worker *w,
			const struct rows_of *of)
{
	uint32_t outputs = c->m->outputs;
	double bias_scale = ls_pow2(st->grids.bias), loss_scale = ls_pow2(st->grids.loss);
	memset(w->bias_sum, 0, sizeof *w->bias_sum * outputs);
	w->loss_sum = 0;
	for (size_t b = of->lo; b < of->hi; b++) {
		w->loss_sum += ls_sum_term((double)st->loss[b] * loss_scale);
		for (uint32_t o = 0; o < outputs; o++)
			w->bias_sum[o] +=
				ls_sum_term((double)st->slope[b * outputs + o] * bias_scale);
	}
	if (st->terms) { /* own rows first, so that not all workers read the same one's */
		c->kern->terms(st, of->lo, st->n_rows);
		c->kern->terms(st, 0, of->lo);
	}
	if (c->m->n_pairs) {
		memset(w->w.pair_sums, 0, sizeof *w->w.pair_sums * outputs * c->m->n_pairs);
		c->kern->pairs(st, &w->w, of->lo, of->hi);
	}
}

/* --- bias, field weights --- */

static void update_one(const struct ls_fm_model *m, const struct ls_update *u, float *v, size_t n,
		       size_t i, float g)
{
	struct ls_param p = {v[i], m->states > 0 ? v[n + i] : 0.0f,
			     m->states > 1 ? v[2 * n + i] : 0.0f};
	p = ls_cell_update(p, g, u);
	v[i] = p.v;
	if (m->states > 0)
		v[n + i] = p.s1;
	if (m->states > 1)
		v[2 * n + i] = p.s2;
}

static void update_bias(struct ls_cpu *c, const struct ls_step *st, struct worker *w)
{
	for (uint32_t o = 0; o < c->m->outputs; o++) {
		int64_t sum = 0;
		for (int t = 0; t < c->crew.now; t++)
			sum += c->workers[t].bias_sum[o];
		update_one(c->m, &st->update, w->bias, c->m->outputs, o,
			   ls_sum_float(sum, st->grids.bias));
	}
}

static void update_pairs(struct ls_cpu *c, const struct ls_step *st, int thread)
{
	uint64_t lo, hi, n = (uint64_t)c->m->outputs * c->m->n_pairs;
	ls_pool_share(n, thread, c->crew.now, &lo, &hi);
	for (uint64_t i = lo; i < hi; i++) {
		int64_t sum = 0;
		for (int t = 0; t < c->crew.now; t++)
			sum += c->workers[t].w.pair_sums[i];
		update_one(c->m, &st->update, c->m->pair, n, i, ls_sum_float(sum, st->grids.pair));
	}
}

static double batch_loss(const struct ls_cpu *c, const struct ls_step *st)
{
	int64_t sum = 0;
	for (int t = 0; t < c->crew.now; t++)
		sum += c->workers[t].loss_sum;
	return ls_sum_value(sum, st->grids.loss);
}

/* --- a stretch of steps --- */

/* Phase A with its barrier, and the worker's keys. */
static void rows_half(struct ls_cpu *c, struct ls_step *st, struct worker *w, int thread,
		      uint64_t step)
{
	double begun = ls_clock();
	phase_rows(c, st, w, step);
	w->took[ROWS] += ls_clock() - begun;
	uint32_t phase = ls_pool_arrive(c->pool);
	if (step == c->first || step % ROUND == 0)
		w->part = ls_sort_part(&c->sort, &w->shares[COLUMNS], thread);
	w->keys = ls_sort_rest(&c->sort, step, &w->part, &w->n_keys, &w->before);
	if (step + 1 < c->first + c->n)
		prepare_rows(c, st, w, thread, step + 1);
	ls_pool_leave(c->pool, phase);
}

static void all_columns(struct ls_cpu *c, struct ls_step *st, struct worker *w)
{
	double begun = ls_clock();
	w->w.found = c->found ? c->found + w->before : NULL;
	c->kern->columns(st, &w->w, w->keys, w->n_keys);
	w->took[COLUMNS] += ls_clock() - begun;
}

/* Phase B with its barrier. `last` of a round: then workers tell each other how long they took. */
static void columns_half(struct ls_cpu *c, struct ls_step *st, struct worker *w, bool last)
{
	all_columns(c, st, w);
	for (int i = 0; i < HALVES && last; i++) {
		w->told[i] = w->took[i];
		w->took[i] = 0.0;
	}
	ls_pool_barrier(c->pool);
	for (int i = 0; i < HALVES && last; i++) {
		for (int t = 0; t < c->crew.now; t++)
			w->times[t] = c->workers[t].told[i];
		ls_shares_adjust(&w->shares[i], w->times);
	}
}

static bool one_step(struct ls_cpu *c, struct ls_step *st, struct worker *w, int thread,
		     uint64_t step)
{
	struct ls_exps exps;
	uint64_t entries, bad;
	rows_half(c, st, w, thread, step);
	if (!whole_batch(c, step, &exps, &entries, &bad))
		return false;
	st->grids = ls_fm_grids(&exps, self_exp(c->m), st->n_rows, entries);
	st->update = ls_fm_update(&c->m->opts, step, st->n_rows);
	scalar_sums(c, st, w, &w->rows[step % 2]);
	columns_half(c, st, w, step % ROUND == ROUND - 1);
	if (c->m->n_pairs) {
		update_pairs(c, st, thread);
		ls_pool_barrier(c->pool);
	}
	if (thread == 0)
		w->loss_total += batch_loss(c, st);
	update_bias(c, st, w);
	return true;
}

static void steps_main(void *context, int thread, int threads)
{
	(void)threads;
	struct ls_cpu *c = context;
	struct worker *w = &c->workers[thread];
	struct ls_step st = c->step;
	st.terms = w->terms;
	uint64_t saved = ls_fp_enter();
	size_t bias_bytes = sizeof(float) * ls_fm_linear_size(c->m);
	memcpy(w->bias, c->m->bias, bias_bytes);
	w->loss_total = c->loss;
	prepare_rows(c, &st, w, thread, c->first);
	ls_pool_barrier(c->pool);
	for (uint64_t s = c->first; s < c->first + c->n; s++)
		if (!one_step(c, &st, w, thread, s))
			break;
	ls_pool_barrier(c->pool);
	if (thread == 0)
		memcpy(c->m->bias, w->bias, bias_bytes);
	ls_fp_leave(saved);
}

/* So many at work from now on, with parts of their own. */
static void set_workers(struct ls_cpu *c, int n)
{
	c->sort.threads = (uint32_t)n;
	for (int t = 0; t < n; t++)
		for (int i = 0; i < HALVES; i++) {
			ls_shares_level(&c->workers[t].shares[i], n);
			c->workers[t].took[i] = 0.0;
		}
}

/* Returns the row that was not finite, or UINT64_MAX. */
static uint64_t batch_steps(struct ls_cpu *c)
{
	struct ls_exps exps;
	uint64_t entries, bad;
	if (c->sort.threads != (uint32_t)c->crew.now)
		set_workers(c, c->crew.now);
	ls_pool_run_some(c->pool, c->crew.now, steps_main, c);
	whole_batch(c, c->first, &exps, &entries, &bad);
	c->loss = c->workers[0].loss_total;
	return bad;
}

/* Steps first .. first + n by as many as are to work now. */
static uint64_t some_steps(struct ls_cpu *c, uint64_t first, uint64_t n)
{
	double begun = ls_clock(), cpu = ls_clock_process();
	c->first = first;
	c->n = n;
	uint64_t bad = batch_steps(c);
	ls_crew_did(&c->crew, n, ls_clock() - begun, ls_clock_process() - cpu);
	return bad;
}

int ls_cpu_steps(struct ls_cpu *c, uint64_t first, uint64_t n, double *loss, struct ls_err *err)
{
	c->loss = *loss;
	for (uint64_t done = 0, few; done < n; done += few) {
		few = ls_crew_units(&c->crew);
		few = few < n - done ? few : n - done;
		uint64_t bad = some_steps(c, first + done, few);
		if (bad != UINT64_MAX)
			return ls_fm_not_finite(&c->m->opts, c->rows, bad, first + done, err);
	}
	*loss = c->loss;
	return 0;
}

/* --- prediction --- */

struct prediction {
	const struct ls_fm_model *m;
	const struct ls_rows *rows;
	const struct ls_kern *kern;
	float *score, *scratch;
	size_t each;
};

static void predict_main(void *context, int thread, int threads)
{
	const struct prediction *p = context;
	uint64_t lo, hi, saved = ls_fp_enter();
	ls_pool_share(p->rows->n_rows, thread, threads, &lo, &hi);
	p->kern->predict(p->m, p->rows, lo, hi, p->score + lo * p->m->outputs,
			 p->scratch + (size_t)thread * p->each);
	ls_fp_leave(saved);
}

int ls_cpu_predict(const struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
		   float *ret_score, struct ls_err *err)
{
	if (m->n_fields && !rows->field)
		return ls_err_set(err, LS_EINPUT, "this %s model needs data with fields (libffm)",
				  ls_fm_kind_name(m->opts.kind));
	struct prediction p = {m,         rows, ls_kern_pick(NULL),
			       ret_score, NULL, ls_kern_scratch(m, ls_rows_longest(rows)) + 16};
	p.scratch = ls_alloc_array(p.each * (size_t)ls_pool_threads(pool), sizeof(float));
	if (!p.scratch)
		return ls_err_set(err, LS_ENOMEM, "no memory to predict rows this long");
	ls_pool_run(pool, predict_main, &p);
	free(p.scratch);
	return 0;
}
