/* The second half of a step on a GPU: sums over the entries of a feature, and the
 * optimizer on its parameters. Device code only, empty for the C compiler. Owns nothing.
 *
 * A group of G lanes takes the entries of a feature. Each lane looks up a share of them
 * (rows, slopes) and shuffles it to the group. The group then adds up back vectors, four
 * at a time, so that their loads overlap. A lane has C chunks of four factors. Missing
 * entries at the end have slope 0: the lanes of a warp stay converged, and no load is
 * behind a branch. */
#ifndef LS_FM_CUDA_DEVICE_CUDA_COLUMNS_INL_H
#define LS_FM_CUDA_DEVICE_CUDA_COLUMNS_INL_H

#include "fm/cuda/device/cuda_lane.h"

#if defined(__CUDACC__) || defined(LS_SIMT)

/* Warps take units of work as they become free (dynamic load balancing): first the tasks
 * of whole warps, which are the longest, then stripes of rows, then LS_CUDA_GRAB tasks of
 * groups at a time, the longest first. */
struct column_work {
	uint32_t many, scalars, list[LS_CUDA_LISTS], all; /* units */
	/* of the lists, times outputs */
	uint32_t tasks[LS_CUDA_LISTS];
};

/* ONE: the model has one output, and a group's lanes have all of its chunks. */
template <bool ONE> LS_DEVICE uint32_t outputs_of(const struct ls_cuda_args &a)
{
	return ONE ? 1 : a.outputs;
}

/* Constants of a step, in shared memory. */
struct column_step {
	struct ls_grids grids;
	struct ls_update update;
	struct batch_lists lists;
	struct column_work work;
	uint32_t n_rows, n_entries;
	int go; /* false: a row was not finite, nothing may change */
};

/* The largest |bits| of fwfm's own weights r(f,f), over the block. */
LS_DEVICE int self_exp(const struct ls_cuda_args &a, uint32_t *shared)
{
	if (!a.pair)
		return 0;
	if (threadIdx.x == 0)
		*shared = 0;
	__syncthreads();
	uint32_t top = 0;
	for (uint32_t i = threadIdx.x; i < a.outputs * a.fields; i += blockDim.x) {
		uint32_t o = i / a.fields, f = i % a.fields;
		uint64_t own = (uint64_t)f * a.fields - (uint64_t)f * (f + 1) / 2 + f;
		top = top_of(a.pair[(uint64_t)o * a.n_pairs + own], top);
	}
	atomicMax(shared, top);
	__syncthreads();
	return ls_exp_of(ls_f_bits(*shared));
}

LS_DEVICE struct column_work work_of(const struct ls_cuda_args &a, const uint32_t *counts,
				     uint32_t rows)
{
	struct column_work w;
	w.many = counts[LS_SORT_TASKS] * a.outputs;
	w.scalars = (rows + LS_CUDA_STRIPE - 1) / LS_CUDA_STRIPE * (a.outputs + 1);
	w.all = w.many + w.scalars;
	for (int i = 0; i < LS_CUDA_LISTS; i++) {
		w.tasks[i] = counts[LS_SORT_LIGHT + i] * a.outputs;
		w.list[i] = (w.tasks[i] + LS_CUDA_GRAB - 1) / LS_CUDA_GRAB;
		w.all += w.list[i];
	}
	return w;
}

/* All threads of the block call; ends with a barrier. */
LS_DEVICE void begin_columns(const struct ls_cuda_args &a, struct column_step *c, uint32_t *shared)
{
	int self = self_exp(a, shared);
	if (threadIdx.x == 0) {
		const struct ls_cuda_state *s = a.state;
		struct batch t = batch_of(a);
		struct ls_exps e = {ls_exp_of(ls_f_bits(s->top[LS_TOP_SLOPE])),
				    a.x ? ls_exp_of(ls_f_bits(s->top[LS_TOP_VALUE])) : 0,
				    ls_exp_of(ls_f_bits(s->top[LS_TOP_BACK])),
				    ls_exp_of(ls_f_bits(s->top[LS_TOP_SUMS])),
				    ls_exp_of(ls_f_bits(s->top[LS_TOP_LOSS]))};
		c->lists = lists_of(a, a.index, t);
		c->work = work_of(a, c->lists.counts, t.rows);
		c->n_rows = t.rows;
		c->n_entries = t.first[t.rows] - t.first[0];
		c->grids = ls_fm_grids(&e, self, c->n_rows, c->n_entries);
		c->update = a.updates[s->base + a.index - s->first];
		c->go = !s->stopped && s->bad_row == ~(uint64_t)0;
	}
	__syncthreads();
}

/* --- parameters --- */

/* n parameters of a part by one optimizer, so that it is chosen once. */
template <int N>
LS_DEVICE void update_all(struct ls_param *p, const float *g, const struct ls_update *u, int part)
{
	const struct ls_penalty *y = &u->penalty[part];
	switch (u->optimizer) {
	case 0:
#pragma unroll
		for (int i = 0; i < N; i++)
			p[i] = ls_cell_sgd(p[i], g[i], u, y);
		break;
	case 1:
#pragma unroll
		for (int i = 0; i < N; i++)
			p[i] = ls_cell_adagrad(p[i], g[i], u, y);
		break;
	default:
#pragma unroll
		for (int i = 0; i < N; i++)
			p[i] = ls_cell_update(p[i], g[i], u, y);
	}
}

/* A parameter with states n floats apart. */
LS_DEVICE struct ls_param load_one(const struct ls_cuda_args &a, const float *v, uint32_t n)
{
	struct ls_param p = {v[0], a.states > 0 ? v[n] : 0.0f, a.states > 1 ? v[2 * n] : 0.0f};
	return p;
}

LS_DEVICE void update_one(const struct ls_cuda_args &a, const struct ls_update *u, int part,
			  struct ls_param p, float *v, uint32_t n, float g)
{
	update_all<1>(&p, &g, u, part);
	v[0] = p.v;
	if (a.states > 0)
		v[n] = p.s1;
	if (a.states > 1)
		v[2 * n] = p.s2;
}

/* Four neighbouring factors and their first states, which lie n floats behind. Loaded
 * before the sums are taken, to hide the latency. */
struct four {
	float4 v, s1;
};

/* Keeps the compiler from using values before the sums are there, for which it would
 * wait. */
LS_DEVICE void hold_four(struct four *f)
{
	LS_LATER(f->v.x);
	LS_LATER(f->v.y);
	LS_LATER(f->v.z);
	LS_LATER(f->v.w);
}

LS_DEVICE struct four load_four(const struct ls_cuda_args &a, const float *v)
{
	struct four f = {load4(v), a.states > 0 ? load4(v + a.width) : zero4()};
	return f;
}

LS_DEVICE void update_four(const struct ls_cuda_args &a, const struct column_step *c,
			   const struct four &f, float *v, const uint64_t *sum, float cross)
{
	float unit = c->grids.back_unit;
	float4 s2 = a.states > 1 ? load4(v + 2 * a.width) : zero4();
	struct ls_param p[4] = {{f.v.x, f.s1.x, s2.x},
				{f.v.y, f.s1.y, s2.y},
				{f.v.z, f.s1.z, s2.z},
				{f.v.w, f.s1.w, s2.w}};
	float g[4];
#pragma unroll
	for (int i = 0; i < 4; i++)
		g[i] = ls_cell_gradient((int64_t)sum[i], unit, p[i].v, cross);
	update_all<4>(p, g, &c->update, LS_ON_FACTORS);
	store4(v, make_float4(p[0].v, p[1].v, p[2].v, p[3].v));
	if (a.states > 0)
		store4(v + a.width, make_float4(p[0].s1, p[1].s1, p[2].s1, p[3].s1));
	if (a.states > 1)
		store4(v + 2 * a.width, make_float4(p[0].s2, p[1].s2, p[2].s2, p[3].s2));
}

LS_DEVICE float *linear_at(const struct ls_cuda_args &a, uint32_t outputs, uint32_t feature,
			   uint32_t o)
{
	return a.linear + (uint64_t)feature * (outputs * (1 + a.states)) + o;
}

LS_DEVICE float *record_at(const struct ls_cuda_args &a, uint32_t feature, uint32_t o)
{
	return a.record + (uint64_t)feature * (a.width * (1 + a.states)) +
	       o * (a.blocks * a.padded);
}

LS_DEVICE void update_linear(const struct ls_cuda_args &a, const struct column_step *c,
			     struct ls_param p, float *w, uint32_t outputs, int64_t sum)
{
	update_one(a, &c->update, LS_ON_LINEAR, p, w, outputs,
		   ls_cell_gradient(sum, c->grids.linear_unit, p.v, 0.0f));
}

/* --- sums --- */

/* Where the back vector of the entry at a place begins, for output o, in chunks; KIND is
 * an enum ls_fm_kind. */
template <int KIND>
LS_DEVICE uint32_t back_at(const struct ls_cuda_args &a, uint32_t place, uint32_t row, uint32_t o)
{
	uint32_t each = a.back_each / 4, chunks = a.padded / 4;
	if (KIND == LS_FM)
		return row * each + o * chunks;
	if (KIND == LS_FWFM)
		return row * each + (o * a.fields + a.sort.by_field[place]) * chunks;
	return a.sort.by_batch.entry[place] * each + o * a.fields * chunks;
}

/* The factor of an entry's own part: x for fm, r(f,f) x for fwfm, nothing for ffm (P
 * leaves the entry out). */
template <int KIND>
LS_DEVICE float entry_self(const struct ls_cuda_args &a, uint32_t place, uint32_t o, float x)
{
	if (KIND == LS_FM)
		return x;
	if (KIND == LS_FFM)
		return 0.0f;
	uint32_t f = a.sort.by_field[place];
	return x * a.pair[(uint64_t)o * a.n_pairs + f * a.fields - f * (f + 1) / 2 + f];
}

/* Raw sums (num/sum.h) of a lane. */
template <int C> struct column_sums {
	uint64_t four[C][4], linear, self;
};

/* LS_CELL_TERM in one instruction. The product is exact, so fma rounds in the same
 * way. */
LS_DEVICE uint64_t term_bits(double slope, float factor)
{
	return ls_bits_d(__fma_rn(slope, (double)factor, LS_MAGIC));
}

LS_DEVICE void add_four(uint64_t *sum, double slope, float4 back)
{
	sum[0] += term_bits(slope, back.x);
	sum[1] += term_bits(slope, back.y);
	sum[2] += term_bits(slope, back.z);
	sum[3] += term_bits(slope, back.w);
}

/* What a lane does for a task. */
template <int C> struct column_lane {
	struct ls_cuda_task t;
	uint32_t o, chunk[C], slots;
};

/* What a lane looks up of an entry: places and rows early, slopes later, because only the
 * sums wait for those. */
template <int N> struct entry_data {
	uint32_t place[N], row[N], at[N];
	float x[N], g[N];
	double slope[N];
};

/* Entries i, i + stride, … of a task: their rows. */
template <int C, int N>
LS_DEVICE void find_rows(const struct ls_cuda_args &a, const struct column_lane<C> &l, uint32_t i,
			 uint32_t stride, struct entry_data<N> *f)
{
#pragma unroll
	for (int j = 0; j < N; j++) {
		uint32_t e = i + (uint32_t)j * stride;
		f->place[j] = l.t.from + (e < l.t.n ? e : l.t.n - 1);
		f->row[j] = a.sort.by_batch.key[f->place[j]] & l.slots;
	}
}

template <int KIND, int C, bool ONE, int N>
LS_DEVICE void find_slopes(const struct ls_cuda_args &a, const struct column_lane<C> &l,
			   struct entry_data<N> *f)
{
#pragma unroll
	for (int j = 0; j < N; j++) {
		f->g[j] = a.slope[(uint64_t)f->row[j] * outputs_of<ONE>(a) + l.o];
		f->x[j] = a.sort.by_x ? a.sort.by_x[f->place[j]] : 1.0f;
		f->at[j] = back_at<KIND>(a, f->place[j], f->row[j], l.o);
	}
}

/* Slopes on their grid, and the scalar sums. Entries from number n on have slope 0. */
template <int KIND, int C, int N>
LS_DEVICE void scale_slopes(const struct ls_cuda_args &a, const struct column_step *c,
			    const struct column_lane<C> &l, uint32_t i, uint32_t stride,
			    struct entry_data<N> *f, struct column_sums<C> *sums)
{
#pragma unroll
	for (int j = 0; j < N; j++) {
		double g = i + (uint32_t)j * stride < l.t.n ? (double)(f->g[j] * f->x[j]) : 0.0;
		f->slope[j] = g * c->grids.back_scale;
		sums->linear += term_bits(g * c->grids.linear_scale, 1.0f);
		sums->self += term_bits(g * c->grids.self_scale,
					entry_self<KIND>(a, f->place[j], l.o, f->x[j]));
	}
}

/* Loads the back vectors of U entries from number q on and adds their terms. */
template <int G, int C, int N, int U>
LS_DEVICE void load_back(const struct ls_cuda_args &a, const struct column_lane<C> &l,
			 const struct entry_data<N> &f, int q, float4 (*back)[C])
{
#pragma unroll
	for (int u = 0; u < U; u++) {
		uint32_t at = __shfl_sync(0xffffffffu, f.at[N > 1 ? u / G : 0], (q + u) % G, G);
#pragma unroll
		for (int i = 0; i < C; i++)
			back[u][i] = load4(a.back + 4 * (uint64_t)(at + l.chunk[i]));
	}
}

template <int G, int C, int N, int U>
LS_DEVICE void add_back(const struct entry_data<N> &f, int q, const float4 (*back)[C],
			struct column_sums<C> *sums)
{
#pragma unroll
	for (int u = 0; u < U; u++) {
		double slope = __shfl_sync(0xffffffffu, f.slope[N > 1 ? u / G : 0], (q + u) % G, G);
#pragma unroll
		for (int i = 0; i < C; i++)
			add_four(sums->four[i], slope, back[u][i]);
	}
}

template <int C> LS_DEVICE void clear_sums(struct column_sums<C> *sums)
{
#pragma unroll
	for (int i = 0; i < 4 * C; i++)
		sums->four[i / 4][i % 4] = 0;
	sums->linear = sums->self = 0;
}

template <int W> LS_DEVICE uint64_t sum_lanes(uint64_t v, int from)
{
	for (int h = from; h < W; h *= 2)
		v += __shfl_xor_sync(0xffffffffu, v, h);
	return v;
}

/* Adds up all entries of a task. W lanes work together: a group (W = G), or all groups of
 * a warp (W = 32), whose sums are then added. `most`: the largest number of entries that
 * a group of the warp has. The result is without LS_MAGIC. */
template <int G, int KIND, int C, bool ONE, int W>
LS_DEVICE void add_column(const struct ls_cuda_args &a, const struct column_step *c,
			  const struct column_lane<C> &l, uint32_t most,
			  struct column_sums<C> *sums)
{
	enum {
		N = G < 4 ? 4 / G : 1,
		Q = N * G,
		U = C > 2 ? 1 : 4
	}; /* entries of a lane, of a group; loads under way */
	uint32_t added = 0, rounds = 0, mine = lane_of() % W;
	struct entry_data<N> next;
	clear_sums<C>(sums);
	find_rows<C, N>(a, l, mine, W, &next);
	for (uint32_t lo = 0; lo < most; lo += W * N, rounds++) {
		struct entry_data<N> now = next;
		float4 back[U][C];
		/* of a group */
		uint32_t here = W > G || most - lo > Q ? (uint32_t)Q : most - lo;
		find_slopes<KIND, C, ONE, N>(a, l, &now);
		load_back<G, C, N, U>(a, l, now, 0, back);
		if (lo + W * N < most)
			find_rows<C, N>(a, l, lo + W * N + mine, W, &next);
		scale_slopes<KIND, C, N>(a, c, l, lo + mine, W, &now, sums);
		add_back<G, C, N, U>(now, 0, back, sums);
		added += U;
#pragma unroll 1
		for (uint32_t q = U; q < here; q += U, added += U) {
			load_back<G, C, N, U>(a, l, now, (int)q, back);
			add_back<G, C, N, U>(now, (int)q, back, sums);
		}
	}
	uint64_t offset = (uint64_t)added * (W / G) * LS_MAGIC_BITS,
		 scalars = (uint64_t)rounds * W * N * LS_MAGIC_BITS;
#pragma unroll
	for (int i = 0; i < 4 * C; i++)
		sums->four[i / 4][i % 4] = sum_lanes<W>(sums->four[i / 4][i % 4], G) - offset;
	sums->linear = sum_lanes<W>(sums->linear, 1) - scalars;
	sums->self = sum_lanes<W>(sums->self, 1) - scalars;
}

/* The one entry of a task: every lane of the group looks it up itself. */
template <int KIND, int C, bool ONE>
LS_DEVICE void add_single(const struct ls_cuda_args &a, const struct column_step *c,
			  const struct column_lane<C> &l, struct column_sums<C> *sums)
{
	struct entry_data<1> f;
	float4 back[C];
	clear_sums<C>(sums);
	f.place[0] = l.t.from;
	f.row[0] = l.t.extra;
	find_slopes<KIND, C, ONE, 1>(a, l, &f);
#pragma unroll
	for (int i = 0; i < C; i++)
		back[i] = load4(a.back + 4 * (uint64_t)(f.at[0] + l.chunk[i]));
	scale_slopes<KIND, C, 1>(a, c, l, 0, 1, &f, sums);
#pragma unroll
	for (int i = 0; i < C; i++) {
		add_four(sums->four[i], f.slope[0], back[i]);
#pragma unroll
		for (int k = 0; k < 4; k++)
			sums->four[i][k] -= LS_MAGIC_BITS;
	}
	sums->linear -= LS_MAGIC_BITS;
	sums->self -= LS_MAGIC_BITS;
}

/* --- tasks --- */

template <int G, int C>
LS_DEVICE struct column_lane<C> lane_for(const struct ls_cuda_args &a, struct ls_cuda_task t,
					 uint32_t o, uint32_t from) {
	struct column_lane<C> l;
	uint32_t last = a.blocks * a.padded / 4 - 1;
	l.t = t;
	l.o = o;
	l.slots = (1u << a.sort.slot_bits) - 1;
	for (int i = 0; i < C; i++) {
		uint32_t chunk = from + (uint32_t)i * G + lane_of() % G;
		l.chunk[i] = chunk < last ? chunk : last; /* surplus lanes do nothing */
	}
	return l;
}

/* Who works on a task with all entries of its feature: a group on a single entry, a group
 * on several, or a warp. */
enum team {
	TEAM_SINGLE,
	TEAM_GROUP,
	TEAM_WARP
};

/* Sums and update. All lanes of the warp call; groups that do not `write` only take
 * part. */
template <int G, int KIND, int C, bool ONE>
LS_DEVICE void whole_task(const struct ls_cuda_args &a, const struct column_step *c,
			  struct ls_cuda_task t, uint32_t o, enum team team, uint32_t most,
			  bool write)
{
	uint32_t chunks = a.blocks * a.padded / 4, outputs = outputs_of<ONE>(a);
	float cross = 0.0f, *record = record_at(a, t.feature, o),
	      *weight = linear_at(a, outputs, t.feature, o);
	struct ls_param linear = load_one(a, weight, outputs);
	for (uint32_t from = 0; from < (ONE ? 1 : chunks); from += G * C) {
		struct column_lane<C> l = lane_for<G, C>(a, t, o, from);
		struct column_sums<C> sums;
		struct four f[C];
#pragma unroll
		for (int i = 0; i < C && C <= 2; i++)
			f[i] = load_four(a, record + 4 * l.chunk[i]);
		if (team == TEAM_SINGLE)
			add_single<KIND, C, ONE>(a, c, l, &sums);
		else if (team == TEAM_GROUP)
			add_column<G, KIND, C, ONE, G>(a, c, l, most, &sums);
		else
			add_column<G, KIND, C, ONE, 32>(a, c, l, most, &sums);
#pragma unroll
		for (int i = 0; i < C && C <= 2; i++)
			hold_four(&f[i]);
		LS_LATER(linear.v);
		if (from == 0) {
			cross = (float)((double)(int64_t)sums.self * c->grids.self_unit);
			if (write && lane_of() % G == 0)
				update_linear(a, c, linear, weight, outputs, (int64_t)sums.linear);
		}
#pragma unroll
		for (int i = 0; i < C && C > 2;
		     /* with many chunks registers are short while the sums are taken */
		     i++)
			f[i] = load_four(a, record + 4 * l.chunk[i]);
#pragma unroll
		for (int i = 0; i < C; i++)
			if (write && from + (uint32_t)i * G + lane_of() % G < chunks)
				update_four(a, c, f[i], record + 4 * l.chunk[i], sums.four[i],
					    cross);
	}
}

LS_DEVICE void add_heavy(int64_t *to, uint64_t v)
{
	atomicAdd((unsigned long long *)to, (unsigned long long)v);
}

LS_DEVICE int64_t take_heavy(int64_t *from)
{
	/* other blocks' atomics are in L2, so bypass L1 */
	int64_t v = __ldcg((const long long *)from);
	*from = 0;
	return v;
}

/* The last task of a feature: moves the collected sums to the parameters and leaves
 * zeros. */
LS_DEVICE void end_parts(const struct ls_cuda_args &a, const struct column_step *c,
			 struct ls_cuda_task t, uint32_t o, int64_t *from)
{
	uint32_t lanes = a.blocks * a.padded, chunks = lanes / 4, lane = lane_of();
	float cross = 0.0f, *record = record_at(a, t.feature, o),
	      *weight = linear_at(a, a.outputs, t.feature, o);
	if (lane == 0) {
		cross = (float)((double)take_heavy(from + lanes) * c->grids.self_unit);
		update_linear(a, c, load_one(a, weight, a.outputs), weight, a.outputs,
			      take_heavy(from + lanes + 1));
	}
	cross = __shfl_sync(0xffffffffu, cross, 0);
	for (uint32_t chunk = lane; chunk < chunks; chunk += 32) {
		uint64_t sum[4];
#pragma unroll
		for (int i = 0; i < 4; i++)
			sum[i] = (uint64_t)take_heavy(from + 4 * chunk + i);
		update_four(a, c, load_four(a, record + 4 * chunk), record + 4 * chunk, sum, cross);
	}
}

/* One of several tasks of a feature, by a warp. Sums meet in memory, and the last task
 * updates. */
template <int G, int KIND, int C, bool ONE>
LS_DEVICE void part_task(const struct ls_cuda_args &a, const struct column_step *c,
			 struct ls_cuda_task t, uint32_t o)
{
	uint32_t lanes = a.blocks * a.padded, chunks = lanes / 4, lane = lane_of();
	int64_t *into =
		a.heavy + (uint64_t)(t.extra - 1) * a.heavy_each + (uint64_t)o * (lanes + 2);
	for (uint32_t from = 0; from < (ONE ? 1 : chunks); from += G * C) {
		struct column_sums<C> sums;
		add_column<G, KIND, C, ONE, 32>(a, c, lane_for<G, C>(a, t, o, from), t.n, &sums);
		if (from == 0 && lane < 2)
			add_heavy(into + lanes + lane, lane ? sums.linear : sums.self);
#pragma unroll
		for (int i = 0; i < 4 * C; i++) {
			uint32_t chunk = from + (uint32_t)(i / 4) * G + lane % G;
			if (chunk < chunks && lane < G)
				add_heavy(into + 4 * chunk + i % 4, sums.four[i / 4][i % 4]);
		}
	}
	__syncwarp();
	uint32_t *done = a.heavy_done + (uint64_t)(t.extra - 1) * a.outputs + o, last = 0;
	if (lane == 0) { /* for the whole warp */
		uint32_t parts = c->lists.heavy_parts[t.extra - 1];
		__threadfence();
		last = atomicAdd(done, 1u) + 1 == parts;
	}
	if (!__shfl_sync(0xffffffffu, last, 0))
		return;
	__threadfence();
	if (lane == 0)
		*done = 0;
	end_parts(a, c, t, o, into);
}

/* --- a step's end --- */

/* The rows' part of the bias' gradient and of the loss: a warp takes a stripe of rows and
 * one of outputs + 1 sums. */
LS_DEVICE void scalar_sums(const struct ls_cuda_args &a, const struct column_step *c, uint32_t unit)
{
	uint32_t sums = a.outputs + 1, o = unit % sums, lo = unit / sums * LS_CUDA_STRIPE,
		 hi = lo + LS_CUDA_STRIPE;
	double scale = ls_pow2(o == a.outputs ? c->grids.loss : c->grids.bias);
	const float *from = o == a.outputs ? a.loss : a.slope + o;
	uint32_t each = o == a.outputs ? 1 : a.outputs;
	uint64_t sum = 0;
	hi = hi < c->n_rows ? hi : c->n_rows;
#pragma unroll 4
	for (uint32_t b = lo + lane_of(); b < hi; b += 32)
		sum += (uint64_t)ls_sum_term((double)from[(uint64_t)b * each] * scale);
	__syncwarp();
	sum = sum_group<32>(sum);
	if (lane_of() == 0)
		add_heavy(o == a.outputs ? &a.state->loss_sum : a.bias_sum + o, sum);
}

/* The last block of a step's last kernel: bias, loss, and everything zero for the next
 * step. */
LS_DEVICE void end_step(const struct ls_cuda_args &a, const struct column_step *c)
{
	struct ls_cuda_state *s = a.state;
	for (uint32_t o = threadIdx.x; o < a.outputs && c->go; o += blockDim.x) {
		int64_t sum = take_heavy(a.bias_sum + o);
		update_one(a, &c->update, LS_ON_BIAS, load_one(a, a.bias + o, a.outputs),
			   a.bias + o, a.outputs, ls_sum_float(sum, c->grids.bias));
	}
	for (uint32_t i = threadIdx.x; i < LS_TOPS; i += blockDim.x)
		s->top[i] = 0;
	for (uint32_t i = threadIdx.x; i < LS_SORT_COUNTS; i += blockDim.x)
		c->lists.counts[i] = 0;
	if (threadIdx.x == 0) {
		s->blocks_done = s->grabbed = 0;
		if (c->go)
			a.losses[s->base + a.index - s->first] =
				ls_sum_value(take_heavy(&s->loss_sum), c->grids.loss);
		else
			s->stopped = 1;
	}
}

/* True in the last block of the grid to call it; all threads call. */
LS_DEVICE bool is_last_block(const struct ls_cuda_args &a, uint32_t *shared)
{
	__syncthreads();
	if (threadIdx.x == 0) { /* for the whole block, which the barrier is between */
		__threadfence();
		*shared = atomicAdd(&a.state->blocks_done, 1u) + 1 == gridDim.x;
		__threadfence();
	}
	__syncthreads();
	return *shared != 0;
}

/* The warp's next unit of work; all lanes call. Written as PTX: for atomicAdd the
 * compiler adds a reduction over the warp and waits for the result at once. */
LS_DEVICE uint32_t grab(const struct ls_cuda_args &a)
{
	uint32_t unit = 0;
	if (lane_of() == 0)
		unit = atomicInc(&a.state->grabbed, ~0u);
	return unit;
}

LS_DEVICE struct ls_cuda_task load_task(const struct ls_cuda_task *from)
{
	LS_ALIGNED(from);
	uint4 v = *(const uint4 *)from;
	struct ls_cuda_task t = {v.x, v.y, v.z, v.w};
	return t;
}

/* LS_CUDA_GRAB tasks of one list, a group each, the groups of a warp converged. Or one
 * task of a warp. */
template <int G, int KIND, int C, bool ONE>
LS_DEVICE void do_tasks(const struct ls_cuda_args &a, const struct column_step *c,
			const struct ls_cuda_task *list, enum team team, uint32_t lo, uint32_t hi)
{
	uint32_t mine = team == TEAM_WARP ? lo : lo + lane_of() / G;
	for (uint32_t i = lo; i < hi; i += 32 / G, mine += 32 / G) {
		bool write = team == TEAM_WARP ? lane_of() < G : mine < hi;
		struct ls_cuda_task t =
			load_task(list + (mine < hi ? mine : hi - 1) / outputs_of<ONE>(a));
		uint32_t most = t.n, o = (mine < hi ? mine : hi - 1) % outputs_of<ONE>(a);
		if (team == TEAM_WARP && t.extra) {
			part_task<G, KIND, C, ONE>(a, c, t, o);
			continue;
		}
		for (int h = G; h < 32; h *= 2)
			most = larger(most, __shfl_xor_sync(0xffffffffu, most, h));
		whole_task<G, KIND, C, ONE>(a, c, t, o, team, most, write);
	}
}

template <int G, int KIND, int C, bool ONE>
LS_DEVICE void do_unit(const struct ls_cuda_args &a, const struct column_step *c, uint32_t unit)
{
	const struct column_work *w = &c->work;
	const struct ls_cuda_task *list = c->lists.task;
	enum team team = TEAM_WARP;
	uint32_t lo = unit, hi = unit + 1;
	if (unit >= w->many && unit - w->many < w->scalars)
		return scalar_sums(a, c, unit - w->many);
	if (unit >= w->many) {
		uint32_t i = LS_CUDA_LISTS - 1;
		for (unit -= w->many + w->scalars; i > 0 && unit >= w->list[i]; i--)
			unit -= w->list[i];
		uint32_t work = w->tasks[i];
		list = c->lists.light[i];
		team = i ? TEAM_GROUP : TEAM_SINGLE;
		lo = unit * LS_CUDA_GRAB;
		hi = work - lo < LS_CUDA_GRAB ? work : lo + LS_CUDA_GRAB;
	}
	do_tasks<G, KIND, C, ONE>(a, c, list, team, lo, hi);
}

template <int G, int KIND, int C, bool ONE> LS_DEVICE void columns(const struct ls_cuda_args &a)
{
	__shared__ struct column_step c;
	__shared__ uint32_t word;
	begin_columns(a, &c, &word);
	if (c.go) {
		uint32_t unit = threadIdx.x / 32 * gridDim.x + blockIdx.x,
			 first = gridDim.x * blockDim.x / 32;
		while (unit < c.work.all) {
			uint32_t next = c.work.all > first
						? grab(a)
						/* before the work, to hide the latency */
						: 0;
			do_unit<G, KIND, C, ONE>(a, &c, unit);
			unit = first + __shfl_sync(0xffffffffu, next, 0);
		}
	}
	if (KIND != LS_FWFM && is_last_block(a, &word))
		end_step(a, &c);
}

#endif
#endif
