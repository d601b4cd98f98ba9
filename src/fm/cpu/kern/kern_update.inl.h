/* From sums over a batch to new parameters. Columns wait in blocks; the sums of wide
 * columns are taken here, too. Included by kern.c alone. Owns nothing; workers have
 * disjoint features. */
#ifndef LS_FM_CPU_KERN_KERN_UPDATE_INL_H
#define LS_FM_CPU_KERN_KERN_UPDATE_INL_H

#include "fm/cpu/kern/kern.h"

/* Up to LS_KERN_BLOCK features. at[] has where the keys of each begin, and the end of the
 * last. */
struct run {
	uint32_t n;
	size_t at[LS_KERN_BLOCK + 1];
	/* where its linear weights begin, which all else of it follows */
	float *feature[LS_KERN_BLOCK];
};

/* --- updates: columns wait until a block of them is full ---
 *
 * Then their updates run one after another without a branch in between, and the lines
 * that were prefetched when a column came in have arrived. */

struct block {
	uint32_t n;
	const struct run *next; /* the features after these, which the updates prefetch */
	uint32_t prefetched;    /* how many of them */
	float *factors[LS_KERN_BLOCK], *linear[LS_KERN_BLOCK];
	float cross[LS_KERN_BLOCK];
	float linear_sum[LS_KERN_BLOCK];
	float *sums;                      /* short columns: N lanes each */
	const struct ls_wide_entry *wide; /* wide columns: entries, summed when updated */
	/* wide columns: where the entries of each begin */
	size_t at[LS_KERN_BLOCK + 1];
	/* wide columns: one column's sums, as integers and as floats */
	uint64_t *acc;
	float unit, linear_unit; /* of the sums */
	bool self;               /* entries have a part of their own, so cross is not 0 */
};

/* From sums to new parameters, n lanes. optimizer, regular and mostly n are compile-time
 * constants, so that this is a plain vector loop. regular 0: `part` has no penalties. */
INLINE void update_lanes(float *restrict v, float *restrict s1, float *restrict s2, uint32_t n,
			 const float *restrict sums, float unit, bool self, float cross,
			 const struct ls_update *all, enum ls_fm_part_of part, int optimizer,
			 int regular)
{
	struct ls_update u = *all;
	struct ls_penalty y = all->penalty[part];
	u.optimizer = optimizer;
	y.on = regular ? y.on : 0;
	bool with1 = optimizer != LS_SGD, with2 = optimizer == LS_ADAM || optimizer == LS_FTRL;
	for (uint32_t i = 0; i < n; i++) {
		struct ls_param p = {v[i], with1 ? s1[i] : 0.0f, with2 ? s2[i] : 0.0f};
		float g = self ? LS_CELL_GRADIENT(sums[i], unit, v[i], cross) : sums[i] * unit;
		p = ls_cell_update(p, g, &u, &y);
		v[i] = p.v;
		if (with1)
			s1[i] = p.s1;
		if (with2)
			s2[i] = p.s2;
	}
}

/* Updates the linear weights of a block: gathered, so that they fill vectors, too. */
INLINE void update_linear(const struct ls_batch *batch, const struct block *q, int optimizer,
			  int regular)
{
	uint32_t outputs = batch->m->outputs,
		 states = ls_fm_states_of((enum ls_fm_optimizer)optimizer); /* constant */
	float values[3][LS_KERN_BLOCK];
	for (uint32_t c = 0; c < q->n; c++)
		for (uint32_t s = 0; s <= states; s++)
			values[s][c] = q->linear[c][s * outputs];
	update_lanes(values[0], values[1], values[2], q->n, q->linear_sum, q->linear_unit, false,
		     0.0f, &batch->update, LS_ON_LINEAR, optimizer, regular);
	for (uint32_t c = 0; c < q->n; c++)
		for (uint32_t s = 0; s <= states; s++)
			q->linear[c][s * outputs] = values[s][c];
}

/* Prefetches the next feature of the run to come, if one is left. */
INLINE void prefetch_column(struct block *q, size_t stride)
{
	if (q->prefetched < q->next->n)
		prefetch_run(q->next->feature[q->prefetched++], stride, true);
}

/* --- wide columns: more lanes than fit into registers (ls_kern_is_wide) ---
 *
 * Taken one at a time: the factors, their state and the entries' vectors are runs of
 * memory. All but the last few entries are added up in memory (acc), the rest on the way
 * to the update. */

enum { FEW = 4 }; /* entries at a time */

/* Up to FEW entries, copied into locals. */
struct few {
	const float *back[FEW];
	double slope[FEW];
};

INLINE struct few few_of(const struct ls_wide_entry *found, uint32_t m)
{
	struct few f;
	for (uint32_t i = 0; i < m; i++) {
		f.back[i] = found[i].back;
		f.slope[i] = found[i].slope;
	}
	return f;
}

/* Adds the terms of four lanes. m is a compile-time constant. */
INLINE void add_four(const struct few *f, uint32_t m, uint32_t at, ls_simd_u64 *lane)
{
	for (uint32_t i = 0; i < m; i++) {
		ls_simd_f64 wide[VECTORS_IN_4];
		ls_simd_to_f64(f->back[i] + at, wide);
		for (uint32_t h = 0; h < VECTORS_IN_4; h++)
			lane[h] += ls_simd_term(f->slope[i], wide[h]);
	}
}

/* Adds m of the n entries that are left to acc, which the first ones set. Prefetches the
 * m after them, if there are as many. */
INLINE void add_some(const struct ls_wide_entry *found, uint32_t m, bool first, size_t n,
		     uint32_t N, uint64_t *restrict acc)
{
	struct few f = few_of(found, m), later = few_of(n >= 2 * (size_t)m ? found + m : found, m);
	for (uint32_t at = 0; at < N; at += 4) {
		ls_simd_u64 lane[VECTORS_IN_4], *to = (ls_simd_u64 *)(acc + at);
		for (uint32_t i = 0; i < m && at % LINE == 0; i++)
			__builtin_prefetch(later.back[i] + at);
		for (uint32_t h = 0; h < VECTORS_IN_4; h++)
			lane[h] = first ? (ls_simd_u64){0} - (uint64_t)n * LS_MAGIC_BITS : to[h];
		add_four(&f, m, at, lane);
		for (uint32_t h = 0; h < VECTORS_IN_4; h++)
			to[h] = lane[h];
	}
}

/* Adds entries to acc while there are more than `rest`; returns how many were added. */
static NOINLINE size_t add_most(const struct ls_wide_entry *found, size_t n, uint32_t rest,
				uint32_t N, uint64_t *acc)
{
	size_t i = 0;
	for (; i + FEW <= n && i + rest < n; i += FEW)
		if (i == 0)
			add_some(found, FEW, true, n, N, acc);
		else
			add_some(found + i, FEW, false, n - i, N, acc);
	for (; i + rest < n; i++)
		if (i == 0)
			add_some(found, 1, true, n, N, acc);
		else
			add_some(found + i, 1, false, n - i, N, acc);
	return i;
}

/* A wide column and, for prefetching, the next one. */
struct wide {
	float *v, *next_v;
	const float *next_back;
	size_t n1; /* floats to the state of v */
	uint32_t N;
	float unit, cross, lr;
};

INLINE void prefetch_next_column(const struct wide *c, uint32_t at)
{
	__builtin_prefetch(c->next_v + at, 1);
	__builtin_prefetch(c->next_v + c->n1 + at, 1);
	__builtin_prefetch(c->next_back + at);
}

/* AdaGrad without penalties, four lanes from their sums. */
INLINE void adagrad_four(const struct wide *c, uint32_t at, ls_simd_f32 sums, float unit, bool self)
{
	ls_simd_f32 *to_v = (ls_simd_f32 *)(c->v + at), *to_s = (ls_simd_f32 *)(c->v + c->n1 + at),
		    p = *to_v, s = *to_s;
	ls_simd_f32 g = self ? LS_CELL_GRADIENT(sums, unit, p, c->cross) : sums * unit;
	LS_CELL_ADAGRAD(p, s, g, c->lr, ls_simd_sqrt);
	*to_v = p;
	*to_s = s;
}

/* Adds the last m of n entries, on top of acc if `more`, and updates. m, more and self
 * are compile-time constants. */
INLINE void finish_usual(const struct wide *c, const struct ls_wide_entry *found, uint32_t m,
			 bool more, size_t n, bool self, const uint64_t *restrict acc)
{
	struct few f = few_of(found, m);
	struct wide w = *c;
	for (uint32_t at = 0; at < w.N; at += 4) {
		ls_simd_u64 lane[VECTORS_IN_4];
		if (at % LINE == 0)
			prefetch_next_column(&w, at);
		for (uint32_t h = 0; h < VECTORS_IN_4; h++)
			lane[h] = more ? ((const ls_simd_u64 *)(acc + at))[h]
				       : (ls_simd_u64){0} - (uint64_t)n * LS_MAGIC_BITS;
		add_four(&f, m, at, lane);
		adagrad_four(&w, at, ls_simd_sums_to_f32(lane), w.unit, self);
	}
}

/* A column of one entry: its term needs no integer sum. */
INLINE void update_usual_single(const struct wide *c, const struct ls_wide_entry *found, bool self)
{
	struct few f = few_of(found, 1);
	struct wide w = *c;
	for (uint32_t at = 0; at < w.N; at += 4) {
		ls_simd_f64 term[VECTORS_IN_4];
		if (at % LINE == 0)
			prefetch_next_column(&w, at);
		ls_simd_to_f64(f.back[0] + at, term);
		for (uint32_t h = 0; h < VECTORS_IN_4; h++)
			term[h] = (ls_simd_f64)ls_simd_term(f.slope[0], term[h]) - LS_MAGIC;
		adagrad_four(&w, at, ls_simd_to_f32(term), w.unit, self);
	}
}

INLINE void update_usual_wide(const struct wide *c, const struct ls_wide_entry *found, size_t n,
			      bool self, uint64_t *acc)
{
	size_t done = n > FEW ? add_most(found, n, FEW, c->N, acc) : 0;
	uint32_t rest = (uint32_t)(n - done);
	if (done && rest == 4)
		finish_usual(c, found + done, 4, true, n, self, acc);
	else if (done && rest == 3)
		finish_usual(c, found + done, 3, true, n, self, acc);
	else if (done && rest == 2)
		finish_usual(c, found + done, 2, true, n, self, acc);
	else if (done)
		finish_usual(c, found + done, 1, true, n, self, acc);
	else if (rest == 4)
		finish_usual(c, found, 4, false, n, self, acc);
	else if (rest == 3)
		finish_usual(c, found, 3, false, n, self, acc);
	else if (rest == 2)
		finish_usual(c, found, 2, false, n, self, acc);
	else
		update_usual_single(c, found, self);
}

/* For the other optimizers: the sums, as floats. */
static NOINLINE void wide_sums(const struct ls_wide_entry *found, size_t n, uint32_t N,
			       uint64_t *acc, float *ret)
{
	add_most(found, n, 0, N, acc);
	for (uint32_t at = 0; at < N; at += 4)
		*(ls_simd_f32 *)(ret + at) = ls_simd_sums_to_f32((const ls_simd_u64 *)(acc + at));
}

INLINE struct wide wide_of(const struct ls_batch *batch, const struct block *q, uint32_t c,
			   uint32_t N, size_t n1)
{
	uint32_t next = c + 1 < q->n ? c + 1 : c;
	return (struct wide){.v = q->factors[c],
			     .next_v = q->factors[next],
			     .next_back = q->wide[q->at[next]].back,
			     .n1 = n1,
			     .N = N,
			     .unit = q->unit,
			     .cross = q->cross[c],
			     .lr = batch->update.lr};
}

static NOINLINE void update_wide_usual(const struct ls_batch *batch, const struct block *q,
				       uint32_t N, size_t n1)
{
	for (uint32_t c = 0; c < q->n; c++) {
		struct wide w = wide_of(batch, q, c, N, n1);
		const struct ls_wide_entry *found = q->wide + q->at[c];
		size_t n = q->at[c + 1] - q->at[c];
		if (q->self)
			update_usual_wide(&w, found, n, true, q->acc);
		else
			update_usual_wide(&w, found, n, false, q->acc);
	}
}

INLINE void update_wide(const struct ls_batch *batch, const struct block *q, uint32_t N, size_t n1,
			int optimizer, int regular)
{
	if (optimizer == LS_ADAGRAD && !regular) {
		update_wide_usual(batch, q, N, n1);
		return;
	}
	for (uint32_t c = 0; c < q->n; c++) {
		float *v = q->factors[c], *sums = (float *)(q->acc + N);
		wide_sums(q->wide + q->at[c], q->at[c + 1] - q->at[c], N, q->acc, sums);
		if (q->self)
			update_lanes(v, v + n1, v + 2 * n1, N, sums, q->unit, true, q->cross[c],
				     &batch->update, LS_ON_FACTORS, optimizer, regular);
		else
			update_lanes(v, v + n1, v + 2 * n1, N, sums, q->unit, false, 0.0f,
				     &batch->update, LS_ON_FACTORS, optimizer, regular);
	}
}

INLINE void update_short(const struct ls_batch *batch, struct block *q, uint32_t N, size_t n1,
			 int optimizer, int regular)
{
	size_t stride = ls_fm_stride(batch->m);
	for (uint32_t c = 0; c < q->n; c++) {
		float *v = q->factors[c];
		prefetch_column(q, stride);
		update_lanes(v, v + n1, v + 2 * n1, N, q->sums + (size_t)c * N, q->unit, true,
			     q->cross[c], &batch->update, LS_ON_FACTORS, optimizer, regular);
	}
	update_linear(batch, q, optimizer, regular);
}

/* update_short for one output of eight lanes by AdaGrad without penalties. Written with
 * vectors, because with AVX-512 gcc takes these lanes one by one. */
INLINE void update_eight(const struct ls_batch *batch, struct block *q)
{
	size_t stride = ls_fm_stride(batch->m);
	for (uint32_t c = 0; c < q->n; c++) {
		const float *sums = q->sums + 8 * (size_t)c;
		float *at = q->factors[c];
		prefetch_column(q, stride);
		for (uint32_t i = 0; i < 8; i += LS_MID) {
			ls_mid_f32 v = *(ls_mid_f32 *)(at + i), s = *(ls_mid_f32 *)(at + 8 + i);
			ls_mid_f32 g = LS_CELL_GRADIENT(*(const ls_mid_f32 *)(sums + i), q->unit, v,
							q->cross[c]);
			LS_CELL_ADAGRAD(v, s, g, batch->update.lr, ls_mid_sqrt);
			*(ls_mid_f32 *)(at + i) = v;
			*(ls_mid_f32 *)(at + 8 + i) = s;
		}
	}
	update_linear(batch, q, LS_ADAGRAD, 0);
}

/* The usual numbers of lanes as compile-time constants, so that everything stays in
 * registers. */
static NOINLINE void update_usual(const struct ls_batch *batch, struct block *q, uint32_t N)
{
	if (N == 16)
		update_short(batch, q, 16, 16, LS_ADAGRAD, 0);
	else
		update_eight(batch, q);
}

INLINE void update_block(const struct ls_batch *batch, struct block *q, uint32_t N, size_t n1,
			 int optimizer, int regular)
{
	if (!q->wide) {
		update_short(batch, q, N, n1, optimizer, regular);
		return;
	}
	update_wide(batch, q, N, n1, optimizer, regular);
	update_linear(batch, q, optimizer, regular);
}

INLINE void update_as(const struct ls_batch *batch, struct block *q, uint32_t N, int regular)
{
	size_t n1 = batch->m->width;
	if (batch->update.optimizer == LS_SGD)
		update_block(batch, q, N, n1, LS_SGD, regular);
	else if (batch->update.optimizer == LS_ADAGRAD)
		update_block(batch, q, N, n1, LS_ADAGRAD, regular);
	else if (batch->update.optimizer == LS_ADAM)
		update_block(batch, q, N, n1, LS_ADAM, regular);
	else
		update_block(batch, q, N, n1, LS_FTRL, regular);
}

static NOINLINE void update_plain(const struct ls_batch *batch, struct block *q, uint32_t N)
{
	update_as(batch, q, N, 0);
}

static NOINLINE void update_regular(const struct ls_batch *batch, struct block *q, uint32_t N)
{
	update_as(batch, q, N, 1);
}

static inline void update_waiting(const struct ls_batch *batch, struct block *q, uint32_t N)
{
	bool usual = !q->wide && batch->update.optimizer == LS_ADAGRAD && batch->m->outputs == 1 &&
		     (N == 16 || N == 8);
	const struct ls_penalty *y = batch->update.penalty;
	if (y[LS_ON_LINEAR].on || y[LS_ON_FACTORS].on)
		update_regular(batch, q, N);
	else if (usual)
		update_usual(batch, q, N);
	else
		update_plain(batch, q, N);
	q->n = 0;
}

#endif
