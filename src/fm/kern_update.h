/* From sums over a batch to new parameters: part of kern.c, by way of kern_columns.h, and compiled with it for each
 * instruction set. Columns wait in blocks; the sums of wide ones are taken here too. Owns nothing; workers have
 * disjoint features. */
#ifndef LS_FM_KERN_UPDATE_H
#define LS_FM_KERN_UPDATE_H

#include "fm/kern.h"

/* Up to LS_KERN_BLOCK features: where the keys of each begin, and behind the last. */
struct run {
	uint32_t n;
	size_t at[LS_KERN_BLOCK + 1];
	const float *feature[LS_KERN_BLOCK];
};

/* --- updates: columns wait until a block of them is full ---
 * Then their updates run one after the other without a branch between them, and the lines that were asked for when a
 * column came in have had time to arrive. */

struct block {
	uint32_t n;
	const struct run *next; /* features to come, which the updates ask memory for on the way */
	uint32_t asked;         /* how many of them were asked for */
	float *factors[LS_KERN_BLOCK], *linear[LS_KERN_BLOCK];
	float cross[LS_KERN_BLOCK];
	double linear_sum[LS_KERN_BLOCK];
	double *sums;                 /* N lanes a column; not used by wide columns, */
	const struct ls_found *found; /* whose sums are taken when they are updated: entries, */
	size_t at[LS_KERN_BLOCK + 1]; /* and where those of each column begin */
	bool self;                    /* entries have a part of their own: cross is not 0 */
};

/* From sums to new parameters, n lanes. optimizer, regular and often n are constants of the call: a plain vector loop.
 */
INLINE void update_lanes(float *restrict v, float *restrict s1, float *restrict s2, uint32_t n,
			 const double *restrict sums, float unit, float cross, const struct ls_update *all,
			 int optimizer, int regular)
{
	struct ls_update u = *all;
	u.optimizer = optimizer;
	u.regular = regular;
	bool with1 = optimizer != LS_SGD, with2 = optimizer == LS_ADAM || optimizer == LS_FTRL;
	for (uint32_t i = 0; i < n; i++) {
		struct ls_param p = {v[i], with1 ? s1[i] : 0.0f, with2 ? s2[i] : 0.0f};
		p = ls_cell_update(p, ls_cell_gradient_of(sums[i], unit, v[i], cross), &u);
		v[i] = p.v;
		if (with1)
			s1[i] = p.s1;
		if (with2)
			s2[i] = p.s2;
	}
}

/* The linear weights of a block, gathered, so that their updates fill vectors too. */
INLINE void update_linear(const struct ls_step *st, const struct block *q, int optimizer, int regular)
{
	uint32_t outputs = st->m->outputs, states = st->m->states;
	float values[3][LS_KERN_BLOCK];
	for (uint32_t c = 0; c < q->n; c++)
		for (uint32_t s = 0; s <= states; s++)
			values[s][c] = q->linear[c][s * outputs];
	update_lanes(values[0], values[1], values[2], q->n, q->linear_sum, st->grids.linear_unit, 0.0f, &st->update,
		     optimizer, regular);
	for (uint32_t c = 0; c < q->n; c++)
		for (uint32_t s = 0; s <= states; s++)
			q->linear[c][s * outputs] = values[s][c];
}

/* Asks for the next feature to come, if there is one that nobody has asked for. */
INLINE void ask(struct block *q, size_t stride)
{
	if (q->asked < q->next->n)
		prefetch_run(q->next->feature[q->asked++], stride);
}

/* --- wide columns: more lanes than registers hold, or a number that has no code of its own (ls_kern_wide) ---
 * They are summed and updated a chunk of lanes at a time, all columns of a block before the next chunk: what they ask
 * memory for next lies in as many places as there are columns, and comes while the others are at work. */

/* Sums of W lanes from `at` on, as doubles; what is `ahead` of them is asked for. `one`: there is one entry, whose term
 * needs no integer. */
INLINE void add_chunk(const struct ls_found *found, size_t n, bool one, uint32_t at, uint32_t W, uint32_t ahead,
		      ls_pack_d *ret)
{
	ls_pack_u lane[LS_KERN_CHUNK / LS_PACK];
	for (uint32_t c = 0; c < W / LS_PACK; c++)
		lane[c] = (ls_pack_u){0} - (uint64_t)n * LS_MAGIC_BITS;
	for (size_t i = 0; i < (one ? 1 : n); i++) {
		const float *back = found[i].back + at;
		double slope = found[i].slope;
		__builtin_prefetch(back + ahead);
		for (uint32_t c = 0; c < W / 4; c++) {
			ls_pack_d wide[PACKS_IN_4];
			ls_pack_widen(back + 4 * c, wide);
			for (uint32_t h = 0; h < PACKS_IN_4; h++) {
				ls_pack_u term = ls_pack_term(slope, wide[h]);
				if (one)
					ret[c * PACKS_IN_4 + h] = (ls_pack_d)term - LS_MAGIC;
				else
					lane[c * PACKS_IN_4 + h] += term;
			}
		}
	}
	for (uint32_t c = 0; c < W / LS_PACK && !one; c++)
		ret[c] = ls_pack_value(lane[c]);
}

/* AdaGrad without penalties, W lanes. self: the entries have a part of their own, else cross is 0 and left out, which
 * changes nothing (no sum is -0). */
INLINE void update_usual_chunk(float *restrict v, float *restrict s1, uint32_t W, const ls_pack_d *sums, float unit,
			       bool self, float cross, float lr)
{
	for (uint32_t c = 0; c < W / 4; c++) {
		ls_pack_f *to_v = (ls_pack_f *)(v + 4 * c), *to_s = (ls_pack_f *)(s1 + 4 * c);
		ls_pack_f p = *to_v, s = *to_s, main = ls_pack_narrow(sums + c * PACKS_IN_4);
		ls_pack_f g = self ? LS_CELL_GRADIENT(main, unit, p, cross) : main * unit;
		LS_CELL_ADAGRAD(p, s, g, lr, ls_pack_sqrt);
		*to_v = p;
		*to_s = s;
	}
}

/* one and self are constants of the call, as are W, optimizer and regular. */
INLINE void sum_and_update(const struct ls_step *st, const struct block *q, uint32_t c, bool one, bool self,
			   uint32_t at, uint32_t W, uint32_t ahead, size_t n1, int optimizer, int regular)
{
	ls_pack_d sums[LS_KERN_CHUNK / LS_PACK];
	float *v = q->factors[c] + at, unit = st->grids.back_unit;
	add_chunk(q->found + q->at[c], q->at[c + 1] - q->at[c], one, at, W, ahead, sums);
	if (optimizer == LS_ADAGRAD && !regular)
		update_usual_chunk(v, v + n1, W, sums, unit, self, q->cross[c], st->update.lr);
	else
		update_lanes(v, v + n1, v + 2 * n1, W, (const double *)sums, unit, q->cross[c], &st->update, optimizer,
			     regular);
}

INLINE void ask_ahead(const float *v, size_t n1, int optimizer)
{
	__builtin_prefetch(v, 1);
	if (optimizer != LS_SGD)
		__builtin_prefetch(v + n1, 1);
	if (optimizer == LS_ADAM || optimizer == LS_FTRL)
		__builtin_prefetch(v + 2 * n1, 1);
}

INLINE void update_chunk(const struct ls_step *st, const struct block *q, uint32_t at, uint32_t W, uint32_t N,
			 size_t n1, int optimizer, int regular)
{
	uint32_t ahead = at + LS_KERN_CHUNK < N ? LS_KERN_CHUNK : 0;
	bool usual = optimizer == LS_ADAGRAD && !regular; /* the others make do with one way: less code */
	for (uint32_t c = 0; c < q->n; c++) {
		if (ahead)
			ask_ahead(q->factors[c] + at + ahead, n1, optimizer);
		if (q->self || !usual)
			sum_and_update(st, q, c, false, true, at, W, ahead, n1, optimizer, regular);
		else if (q->at[c + 1] - q->at[c] == 1)
			sum_and_update(st, q, c, true, false, at, W, ahead, n1, optimizer, regular);
		else
			sum_and_update(st, q, c, false, false, at, W, ahead, n1, optimizer, regular);
	}
}

INLINE void update_wide(const struct ls_step *st, const struct block *q, uint32_t N, size_t n1, int optimizer,
			int regular)
{
	uint32_t at = 0;
	bool usual = optimizer == LS_ADAGRAD && !regular;
	for (; at + LS_KERN_CHUNK <= N; at += LS_KERN_CHUNK)
		update_chunk(st, q, at, LS_KERN_CHUNK, N, n1, optimizer, regular);
	for (; usual && at + 8 <= N; at += 8)
		update_chunk(st, q, at, 8, N, n1, optimizer, regular);
	for (; at < N; at += 4)
		update_chunk(st, q, at, 4, N, n1, optimizer, regular);
}

INLINE void update_short(const struct ls_step *st, struct block *q, uint32_t N, size_t n1, int optimizer, int regular)
{
	size_t stride = ls_fm_stride(st->m);
	for (uint32_t c = 0; c < q->n; c++) {
		float *v = q->factors[c];
		ask(q, stride);
		update_lanes(v, v + n1, v + 2 * n1, N, q->sums + (size_t)c * N, st->grids.back_unit, q->cross[c],
			     &st->update, optimizer, regular);
	}
	update_linear(st, q, optimizer, regular);
}

/* The usual lanes as constants: everything stays in registers. */
static NOT_SPECIALISED void update_usual(const struct ls_step *st, struct block *q, uint32_t N)
{
	if (N == 16)
		update_short(st, q, 16, 16, LS_ADAGRAD, 0);
	else
		update_short(st, q, 8, 8, LS_ADAGRAD, 0);
}

INLINE void update_block(const struct ls_step *st, struct block *q, uint32_t N, size_t n1, int optimizer, int regular)
{
	if (!q->found) {
		update_short(st, q, N, n1, optimizer, regular);
		return;
	}
	update_wide(st, q, N, n1, optimizer, regular);
	update_linear(st, q, optimizer, regular);
}

INLINE void update_as(const struct ls_step *st, struct block *q, uint32_t N, int regular)
{
	size_t n1 = st->m->width;
	if (st->update.optimizer == LS_SGD)
		update_block(st, q, N, n1, LS_SGD, regular);
	else if (st->update.optimizer == LS_ADAGRAD)
		update_block(st, q, N, n1, LS_ADAGRAD, regular);
	else if (st->update.optimizer == LS_ADAM)
		update_block(st, q, N, n1, LS_ADAM, regular);
	else
		update_block(st, q, N, n1, LS_FTRL, regular);
}

static NOT_SPECIALISED void update_plain(const struct ls_step *st, struct block *q, uint32_t N)
{
	update_as(st, q, N, 0);
}

static NOT_SPECIALISED void update_regular(const struct ls_step *st, struct block *q, uint32_t N)
{
	update_as(st, q, N, 1);
}

static inline void update_waiting(const struct ls_step *st, struct block *q, uint32_t N)
{
	bool usual = !q->found && st->update.optimizer == LS_ADAGRAD && st->m->outputs == 1 && (N == 16 || N == 8);
	if (st->update.regular)
		update_regular(st, q, N);
	else if (usual)
		update_usual(st, q, N);
	else
		update_plain(st, q, N);
	q->n = 0;
}

#endif
