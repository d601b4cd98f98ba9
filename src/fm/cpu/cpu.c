/* Training steps on threads. A step has two halves, with a barrier behind each:
 *
 *   A  Each worker takes its rows: scores, slopes, back vectors, largest exponents. While it
 *      waits at the barrier it finishes the sort of this step's entries by feature, finds
 *      its rows of the next step and starts their sort. None of that needs a parameter.
 *   B  Each worker computes the grids (all get the same), the scalar sums of its rows, and
 *      perhaps the terms of all rows. Then it takes its features: gradient, update in place.
 *   C  fwfm only: the field weights are shared out and updated, behind a third barrier.
 *
 * A feature belongs to one worker in a step, so no two write the same parameter. Which
 * worker that is does not reach the bytes. The bias is small: every worker keeps a copy
 * and applies the same update to it. */
#include "fm/cpu/cpu.h"

#include <string.h>

#include "base/clock.h"
#include "fm/cpu/cpu_internal.h"
#include "fm/model/batch.h"
#include "fm/model/engine.h"
#include "num/num.h"

const char *ls_cpu_isa(const struct ls_cpu *cpu)
{
	return cpu->kern->name;
}

const struct ls_balance *ls_cpu_shares(const struct ls_cpu *cpu, bool of_rows)
{
	return &cpu->workers[0].shares[of_rows ? ROWS : COLUMNS];
}

bool ls_cpu_terms(const struct ls_cpu *cpu)
{
	return cpu->workers[0].terms;
}

void ls_cpu_hold(struct ls_cpu *cpu, int workers)
{
	ls_active_hold(&cpu->active, workers);
}

void ls_cpu_drill(struct ls_cpu *cpu)
{
	ls_active_drill(&cpu->active);
}

int ls_cpu_at_work(const struct ls_cpu *cpu)
{
	return cpu->active.stay;
}

enum { ROUND = 16 }; /* steps from one adjustment of the shares to the next */

/* --- phase A --- */

static uint32_t first_entry(const struct worker *w, const struct rows_of *of)
{
	return of->lo * w->next.longest;
}

/* Finds a worker's rows of a step and sorts them as far as one worker can. */
static void prepare_rows(struct ls_cpu *c, const struct ls_batch *batch, struct worker *w,
			 int thread, uint64_t step)
{
	struct rows_of *of = &w->rows[step % 2];
	const struct ls_next_batch *next = &w->next;
	struct ls_order order = ls_fm_order(&c->m->opts, c->rows->n_rows, step);
	of->n_all = order.n;
	of->lo = (uint32_t)ls_balance_begin(&w->shares[ROWS], order.n, thread);
	of->hi = (uint32_t)ls_balance_begin(&w->shares[ROWS], order.n, thread + 1);
	of->n_entries = ls_next_batch_find(next, c->rows, &order, of->lo, of->hi);
	ls_sort_first(&c->sort, step, thread,
		      &(struct ls_sort_rows){.feature = next->feature,
					     .n_entries = of->n_entries,
					     .entry = first_entry(w, of),
					     .place = ls_keys_are_rows(batch) ? next->place : NULL,
					     .lo = of->lo,
					     .hi = of->hi});
}

static void phase_rows(struct ls_cpu *c, struct ls_batch *batch, struct worker *w, uint64_t step)
{
	const struct rows_of *of = &w->rows[step % 2];
	const struct ls_next_batch *next = &w->next;
	batch->n_rows = of->n_all;
	w->w.place = next->place;
	w->w.feature = next->feature;
	w->w.exps = (struct ls_exps){LS_EXP_MIN, batch->has_x ? LS_EXP_MIN : 0, LS_EXP_MIN,
				     LS_EXP_MIN, LS_EXP_MIN};
	w->w.bad_row = UINT64_MAX;
	c->kern->forward(batch, &w->w, of->lo, of->hi, first_entry(w, of));
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

/* The largest exponents and the number of entries of the whole batch. False: a row was
 * not finite. */
static bool whole_batch(const struct ls_cpu *c, uint64_t step, struct ls_exps *ret_exps,
			uint64_t *ret_entries, uint64_t *ret_bad)
{
	*ret_exps = c->workers[0].w.exps;
	*ret_entries = 0;
	*ret_bad = UINT64_MAX;
	for (int t = 0; t < c->active.now; t++) {
		const struct ls_scratch *w = &c->workers[t].w;
		ls_exps_max(ret_exps, &w->exps);
		*ret_entries += c->workers[t].rows[step % 2].n_entries;
		*ret_bad = w->bad_row < *ret_bad ? w->bad_row : *ret_bad;
	}
	return *ret_bad == UINT64_MAX;
}

static void scalar_sums(struct ls_cpu *c, struct ls_batch *batch, struct worker *w,
			const struct rows_of *of)
{
	uint32_t outputs = c->m->outputs;
	double bias_scale = ls_pow2(batch->grids.bias), loss_scale = ls_pow2(batch->grids.loss);
	memset(w->bias_sum, 0, sizeof *w->bias_sum * outputs);
	w->loss_sum = 0;
	for (size_t b = of->lo; b < of->hi; b++) {
		w->loss_sum += ls_sum_term((double)batch->loss[b] * loss_scale);
		for (uint32_t o = 0; o < outputs; o++)
			w->bias_sum[o] +=
				ls_sum_term((double)batch->slope[b * outputs + o] * bias_scale);
	}
	/* own rows first, so that workers do not all read the same ones */
	if (batch->terms) {
		c->kern->terms(batch, of->lo, batch->n_rows);
		c->kern->terms(batch, 0, of->lo);
	}
	if (c->m->n_pairs) {
		memset(w->w.pair_sums, 0, sizeof *w->w.pair_sums * outputs * c->m->n_pairs);
		c->kern->pairs(batch, &w->w, of->lo, of->hi);
	}
}

/* --- bias, field weights --- */

static void update_one(const struct ls_fm_model *m, const struct ls_update *u,
		       enum ls_fm_part_of part, float *v, size_t n, size_t i, float g)
{
	struct ls_param p = {v[i], m->states > 0 ? v[n + i] : 0.0f,
			     m->states > 1 ? v[2 * n + i] : 0.0f};
	p = ls_cell_update(p, g, u, &u->penalty[part]);
	v[i] = p.v;
	if (m->states > 0)
		v[n + i] = p.s1;
	if (m->states > 1)
		v[2 * n + i] = p.s2;
}

static void update_bias(struct ls_cpu *c, const struct ls_batch *batch, struct worker *w)
{
	for (uint32_t o = 0; o < c->m->outputs; o++) {
		int64_t sum = 0;
		for (int t = 0; t < c->active.now; t++)
			sum += c->workers[t].bias_sum[o];
		update_one(c->m, &batch->update, LS_ON_BIAS, w->bias, c->m->outputs, o,
			   ls_sum_float(sum, batch->grids.bias));
	}
}

static void update_pairs(struct ls_cpu *c, const struct ls_batch *batch, int thread)
{
	uint64_t lo, hi, n = (uint64_t)c->m->outputs * c->m->n_pairs;
	ls_pool_share(n, thread, c->active.now, &lo, &hi);
	for (uint64_t i = lo; i < hi; i++) {
		int64_t sum = 0;
		for (int t = 0; t < c->active.now; t++)
			sum += c->workers[t].w.pair_sums[i];
		update_one(c->m, &batch->update, LS_ON_FIELDS, c->m->pair, n, i,
			   ls_sum_float(sum, batch->grids.pair));
	}
}

static double batch_loss(const struct ls_cpu *c, const struct ls_batch *batch)
{
	int64_t sum = 0;
	for (int t = 0; t < c->active.now; t++)
		sum += c->workers[t].loss_sum;
	return ls_sum_value(sum, batch->grids.loss);
}

/* --- a stretch of steps --- */

/* Half A with its barrier, and the worker's keys. */
static void rows_half(struct ls_cpu *c, struct ls_batch *batch, struct worker *w, int thread,
		      uint64_t step)
{
	double begun = ls_clock();
	phase_rows(c, batch, w, step);
	w->elapsed[ROWS] += ls_clock() - begun;
	uint32_t phase = ls_pool_arrive(c->pool);
	if (step == c->first || step % ROUND == 0)
		w->part = ls_sort_part(&c->sort, &w->shares[COLUMNS], thread);
	w->keys = ls_sort_rest(&c->sort, step, &w->part, &w->n_keys, &w->before);
	if (step + 1 < c->first + c->n)
		prepare_rows(c, batch, w, thread, step + 1);
	ls_pool_leave(c->pool, phase);
}

static void all_columns(struct ls_cpu *c, struct ls_batch *batch, struct worker *w)
{
	double begun = ls_clock();
	w->w.wide = c->wide ? c->wide + w->before : NULL;
	c->kern->columns(batch, &w->w, w->keys, w->n_keys);
	w->elapsed[COLUMNS] += ls_clock() - begun;
}

/* Half B with its barrier. `last` of a round: workers also report how long they took. */
static void columns_half(struct ls_cpu *c, struct ls_batch *batch, struct worker *w, bool last)
{
	all_columns(c, batch, w);
	for (int i = 0; i < HALVES && last; i++) {
		w->reported[i] = w->elapsed[i];
		w->elapsed[i] = 0.0;
	}
	ls_pool_barrier(c->pool);
	for (int i = 0; i < HALVES && last; i++) {
		for (int t = 0; t < c->active.now; t++)
			w->times[t] = c->workers[t].reported[i];
		ls_balance_adjust(&w->shares[i], w->times);
	}
}

static bool one_step(struct ls_cpu *c, struct ls_batch *batch, struct worker *w, int thread,
		     uint64_t step)
{
	struct ls_exps exps;
	uint64_t entries, bad;
	rows_half(c, batch, w, thread, step);
	if (!whole_batch(c, step, &exps, &entries, &bad))
		return false;
	batch->grids = ls_fm_grids(&exps, self_exp(c->m), batch->n_rows, entries);
	batch->update = ls_fm_update(&c->m->opts, step, batch->n_rows);
	scalar_sums(c, batch, w, &w->rows[step % 2]);
	columns_half(c, batch, w, step % ROUND == ROUND - 1);
	if (c->m->n_pairs) {
		update_pairs(c, batch, thread);
		ls_pool_barrier(c->pool);
	}
	if (thread == 0)
		w->loss_total += batch_loss(c, batch);
	update_bias(c, batch, w);
	return true;
}

static void steps_main(void *context, int thread, int threads)
{
	(void)threads;
	struct ls_cpu *c = context;
	struct worker *w = &c->workers[thread];
	struct ls_batch batch = c->batch;
	batch.terms = w->terms;
	uint64_t saved = ls_fp_enter();
	size_t bias_bytes = sizeof(float) * ls_fm_linear_size(c->m);
	memcpy(w->bias, c->m->bias, bias_bytes);
	w->loss_total = c->loss;
	prepare_rows(c, &batch, w, thread, c->first);
	ls_pool_barrier(c->pool);
	for (uint64_t s = c->first; s < c->first + c->n; s++)
		if (!one_step(c, &batch, w, thread, s))
			break;
	ls_pool_barrier(c->pool);
	if (thread == 0)
		memcpy(c->m->bias, w->bias, bias_bytes);
	ls_fp_leave(saved);
}

/* Sets the number of workers, with equal shares. */
static void set_workers(struct ls_cpu *c, int n)
{
	c->sort.threads = (uint32_t)n;
	for (int t = 0; t < n; t++)
		for (int i = 0; i < HALVES; i++) {
			ls_balance_level(&c->workers[t].shares[i], n);
			c->workers[t].elapsed[i] = 0.0;
		}
}

/* Returns the row that was not finite, or UINT64_MAX. */
static uint64_t batch_steps(struct ls_cpu *c)
{
	struct ls_exps exps;
	uint64_t entries, bad;
	if (c->sort.threads != (uint32_t)c->active.now)
		set_workers(c, c->active.now);
	ls_pool_run_some(c->pool, c->active.now, steps_main, c);
	whole_batch(c, c->first, &exps, &entries, &bad);
	c->loss = c->workers[0].loss_total;
	return bad;
}

/* Steps first..first + n by the threads that are active now. */
static uint64_t some_steps(struct ls_cpu *c, uint64_t first, uint64_t n)
{
	double begun = ls_clock(), cpu = ls_clock_process();
	c->first = first;
	c->n = n;
	uint64_t bad = batch_steps(c);
	ls_active_did(&c->active, n, ls_clock() - begun, ls_clock_process() - cpu);
	return bad;
}

int ls_cpu_steps(struct ls_cpu *c, uint64_t first, uint64_t n, double *loss, struct ls_err *err)
{
	c->loss = *loss;
	for (uint64_t done = 0, few; done < n; done += few) {
		few = ls_active_units(&c->active);
		few = few < n - done ? few : n - done;
		uint64_t bad = some_steps(c, first + done, few);
		if (bad != UINT64_MAX)
			return ls_fm_not_finite(&c->m->opts, c->rows, bad, first + done, err);
	}
	*loss = c->loss;
	return 0;
}
