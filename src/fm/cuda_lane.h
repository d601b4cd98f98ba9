/* What the kernels of all kinds share: groups of lanes, four factors a lane, and a column's way from sums to update.
 * Device code only, empty for the C compiler. Owns nothing.
 *
 * A group of G lanes (a power of two) has a vector of padded factors: lane l those of chunk l, l + G, …; a chunk is
 * four neighbours. Halving then is: lanes at distance h / 4 while h >= 4, and the last two steps within a chunk. */
#ifndef LS_FM_CUDA_LANE_H
#define LS_FM_CUDA_LANE_H

#include "fm/cell.h"
#include "fm/cuda_args.h"
#include "fm/grids.h"
#include "gpu/device.h"
#include "num/halve.h"

#if defined(__CUDACC__) || defined(LS_SIMT)

#if defined(__CUDACC__)
#define LS_DEVICE static __device__ __forceinline__
#else
#define LS_DEVICE static inline
#endif

LS_DEVICE uint32_t lane_of(void)
{
	return threadIdx.x % 32;
}

/* The lanes of this thread's group, as warp functions want them. */
template <int G> LS_DEVICE uint32_t group_mask(void)
{
	return G == 32 ? 0xffffffffu : ((1u << (G % 32)) - 1) << (lane_of() & ~(uint32_t)(G - 1));
}

LS_DEVICE uint32_t top_of(float x, uint32_t so_far)
{
	uint32_t u = ls_bits_f(x) & 0x7fffffffu;
	return u > so_far ? u : so_far;
}

LS_DEVICE uint32_t top_of4(float4 v, uint32_t so_far)
{
	return top_of(v.w, top_of(v.z, top_of(v.y, top_of(v.x, so_far))));
}

LS_DEVICE bool is_infinite(uint32_t top)
{
	return top >= 0x7f800000u;
}

LS_DEVICE float4 zero4(void)
{
	return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

LS_DEVICE float4 load4(const float *p)
{
	return *(const float4 *)p;
}

LS_DEVICE void store4(float *p, float4 v)
{
	*(float4 *)p = v;
}

LS_DEVICE float4 scale4(float4 a, float x)
{
	return make_float4(a.x * x, a.y * x, a.z * x, a.w * x);
}

LS_DEVICE float4 times4(float4 a, float4 b)
{
	return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}

LS_DEVICE float4 plus4(float4 a, float4 b)
{
	return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

LS_DEVICE float4 minus4(float4 a, float4 b)
{
	return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}

/* An entry's part in the sums of a row. */
LS_DEVICE void add4(float4 *s, float4 *q, float4 v, float x)
{
	LS_CELL_ADD(s->x, q->x, v.x, x);
	LS_CELL_ADD(s->y, q->y, v.y, x);
	LS_CELL_ADD(s->z, q->z, v.z, x);
	LS_CELL_ADD(s->w, q->w, v.w, x);
}

LS_DEVICE float4 shuffle_xor4(uint32_t mask, float4 v, int distance, int width)
{
	return make_float4(__shfl_xor_sync(mask, v.x, distance, width), __shfl_xor_sync(mask, v.y, distance, width),
			   __shfl_xor_sync(mask, v.z, distance, width), __shfl_xor_sync(mask, v.w, distance, width));
}

/* ls_halve_sum over a group: t the lane's first chunk, t2 its second (chunk + 32; zero unless there are more than 128
 * factors). Every lane gets the result. */
template <int G> LS_DEVICE float halve_group(float4 t, float4 t2, uint32_t padded)
{
	int width = ls_halve_width((int)padded), h = width / 8;
	if (h > 16) {
		t = plus4(t, t2);
		h = 16;
	}
	for (; h > 0; h /= 2)
		t = plus4(t, shuffle_xor4(group_mask<G>(), t, h, G));
	return ls_halve_4(t.x, t.y, t.z, t.w);
}

template <int G> LS_DEVICE uint64_t sum_group(uint64_t v)
{
	for (int h = G / 2; h > 0; h /= 2)
		v += __shfl_xor_sync(group_mask<G>(), v, h, G);
	return v;
}

/* The largest of `mine` over the block into the step's state; shared has one word. All threads call. */
LS_DEVICE void note_top(const struct ls_cuda_args &a, int which, uint32_t mine, uint32_t *shared)
{
	__syncthreads();
	if (threadIdx.x == 0)
		*shared = 0;
	__syncthreads();
	for (int h = 16; h > 0; h /= 2) {
		uint32_t other = __shfl_xor_sync(0xffffffffu, mine, h);
		mine = other > mine ? other : mine;
	}
	if (lane_of() == 0)
		atomicMax(shared, mine);
	__syncthreads();
	if (threadIdx.x == 0 && *shared > *(volatile uint32_t *)&a.state->top[which])
		atomicMax(&a.state->top[which], *shared);
}

LS_DEVICE void note_bad(const struct ls_cuda_args &a, uint64_t row)
{
	atomicMin((unsigned long long *)&a.state->bad_row, (unsigned long long)(a.number ? a.number[row] : row));
}

LS_DEVICE float row_weight(const struct ls_cuda_args &a, uint64_t row)
{
	float weight = a.weight ? a.weight[row] : 1.0f;
	if (a.n_class_weights)
		weight *= a.class_weight[ls_cell_class(a.task, a.label[row])];
	return weight;
}

/* An entry's value: x[i] times scale, or scale where x is NULL. */
LS_DEVICE float entry_x(const float *x, float scale, uint32_t i)
{
	return x ? x[i] * scale : scale;
}

/* One row's entries, as the kernels of a kind see them. KNOWN says that the model has every feature and field. */
struct row_view {
	const uint32_t *feature;
	const uint16_t *field;
	const float *x;
	float scale;
	uint32_t n;
};

LS_DEVICE struct row_view batch_row(const struct ls_cuda_args &a, uint32_t b)
{
	uint32_t first = a.sort.first[b];
	struct row_view r = {a.sort.feature + first, a.sort.field ? a.sort.field + first : (const uint16_t *)0,
			     a.sort.x ? a.sort.x + first : (const float *)0, 1.0f, a.sort.length[b]};
	return r;
}

/* Row r of the rows to predict. */
LS_DEVICE struct row_view predict_row(const struct ls_cuda_args &a, uint64_t r)
{
	uint64_t first = a.start[r] - a.start[0];
	struct row_view v = {a.in_feature + first, a.in_field ? a.in_field + first : (const uint16_t *)0,
			     a.in_value ? a.in_value + first : (const float *)0, 1.0f,
			     (uint32_t)(a.start[r + 1] - a.start[r])};
	v.scale = a.normalize ? ls_cell_norm(v.x, v.n) : 1.0f;
	return v;
}

template <bool KNOWN> LS_DEVICE bool is_known(const struct ls_cuda_args &a, const struct row_view &r, uint32_t i)
{
	return KNOWN || (r.feature[i] < a.n_features && (!r.field || !a.fields || r.field[i] < a.fields));
}

/* Bias and weights in stored order; every lane that calls gets the same. */
template <bool KNOWN> LS_DEVICE float linear_score(const struct ls_cuda_args &a, const struct row_view &r, uint32_t o)
{
	uint64_t stride = (uint64_t)a.outputs * (1 + a.states);
	float sum = a.bias[o];
	for (uint32_t i = 0; i < r.n; i++)
		if (is_known<KNOWN>(a, r, i))
			sum += a.linear[r.feature[i] * stride + o] * entry_x(r.x, r.scale, i);
	return sum;
}

/* Largest |bits| of what a thread has seen of its rows. */
struct row_tops {
	uint32_t slope, value, back, sums, loss;
};

LS_DEVICE void note_tops(const struct ls_cuda_args &a, const struct row_tops &top, uint32_t *shared)
{
	note_top(a, LS_TOP_SLOPE, top.slope, shared);
	note_top(a, LS_TOP_BACK, top.back, shared);
	note_top(a, LS_TOP_LOSS, top.loss, shared);
	if (a.sums)
		note_top(a, LS_TOP_SUMS, top.sums, shared);
	if (a.sort.x)
		note_top(a, LS_TOP_VALUE, top.value, shared);
}

/* Loss and slopes of batch row b from its scores (in memory, or `one` of a single output): one lane calls. */
LS_DEVICE void end_row(const struct ls_cuda_args &a, uint32_t b, float one, struct row_tops *top)
{
	uint64_t row = a.sort.pick[b];
	float *score = a.score + (uint64_t)b * a.outputs, *slope = a.slope + (uint64_t)b * a.outputs, loss, g;
	uint32_t slopes = 0;
	if (a.outputs == 1) {
		loss = ls_cell_row_loss(a.task, a.soft, &one, 1, a.label[row], row_weight(a, row), &g);
		slope[0] = g;
		slopes = top_of(g, 0);
	} else {
		loss = ls_cell_row_loss(a.task, a.soft, score, a.outputs, a.label[row], row_weight(a, row), slope);
		for (uint32_t o = 0; o < a.outputs; o++)
			slopes = top_of(slope[o], slopes);
	}
	a.loss[b] = loss;
	top->loss = top_of(loss, top->loss);
	top->slope = slopes > top->slope ? slopes : top->slope;
	if (is_infinite(top_of(loss, slopes)))
		note_bad(a, row);
}

/* --- from sums to parameters --- */

/* Constants of a step, in shared memory. */
struct column_step {
	struct ls_grids grids;
	struct ls_update update;
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

/* All threads of the block call; ends with a barrier. */
LS_DEVICE void begin_columns(const struct ls_cuda_args &a, struct column_step *c, uint32_t *shared)
{
	int self = self_exp(a, shared);
	if (threadIdx.x == 0) {
		const struct ls_cuda_state *s = a.state;
		struct ls_exps e = {ls_exp_of(ls_f_bits(s->top[LS_TOP_SLOPE])),
				    a.sort.x ? ls_exp_of(ls_f_bits(s->top[LS_TOP_VALUE])) : 0,
				    ls_exp_of(ls_f_bits(s->top[LS_TOP_BACK])),
				    ls_exp_of(ls_f_bits(s->top[LS_TOP_SUMS])),
				    ls_exp_of(ls_f_bits(s->top[LS_TOP_LOSS]))};
		c->n_rows = a.sort.counts[LS_SORT_ROWS];
		c->n_entries = a.sort.counts[LS_SORT_ENTRIES];
		c->grids = ls_fm_grids(&e, self, c->n_rows, c->n_entries);
		c->update = a.updates[s->base + a.index - s->first];
		c->go = !s->stopped && s->bad_row == ~(uint64_t)0;
	}
	__syncthreads();
}

LS_DEVICE float update_one(const struct ls_cuda_args &a, const struct ls_update *u, float *v, uint64_t n, float g)
{
	struct ls_param p = {v[0], a.states > 0 ? v[n] : 0.0f, a.states > 1 ? v[2 * n] : 0.0f};
	p = ls_cell_update(p, g, u);
	v[0] = p.v;
	if (a.states > 0)
		v[n] = p.s1;
	if (a.states > 1)
		v[2 * n] = p.s2;
	return p.v;
}

/* Four neighbouring factors with their states n and 2 n floats behind: loaded before the sums are taken, so that the
 * memory has time. */
struct four {
	float4 v, s1, s2;
};

LS_DEVICE struct four load_four(const struct ls_cuda_args &a, const float *v, uint64_t n)
{
	struct four f = {load4(v), a.states > 0 ? load4(v + n) : zero4(), a.states > 1 ? load4(v + 2 * n) : zero4()};
	return f;
}

LS_DEVICE void update_four(const struct ls_cuda_args &a, const struct column_step *c, struct four f, float *v,
			   uint64_t n, const uint64_t *sum, float cross)
{
	const struct ls_update *u = &c->update;
	double unit = c->grids.back_unit;
	struct ls_param x = {f.v.x, f.s1.x, f.s2.x}, y = {f.v.y, f.s1.y, f.s2.y}, z = {f.v.z, f.s1.z, f.s2.z},
			w = {f.v.w, f.s1.w, f.s2.w};
	x = ls_cell_update(x, ls_cell_gradient((int64_t)sum[0], unit, x.v, cross), u);
	y = ls_cell_update(y, ls_cell_gradient((int64_t)sum[1], unit, y.v, cross), u);
	z = ls_cell_update(z, ls_cell_gradient((int64_t)sum[2], unit, z.v, cross), u);
	w = ls_cell_update(w, ls_cell_gradient((int64_t)sum[3], unit, w.v, cross), u);
	store4(v, make_float4(x.v, y.v, z.v, w.v));
	if (a.states > 0)
		store4(v + n, make_float4(x.s1, y.s1, z.s1, w.s1));
	if (a.states > 1)
		store4(v + 2 * n, make_float4(x.s2, y.s2, z.s2, w.s2));
}

/* Where the back vector of the entry at a place begins, for output o; KIND is an enum ls_fm_kind. */
template <int KIND> LS_DEVICE uint64_t back_at(const struct ls_cuda_args &a, uint32_t place, uint32_t row, uint32_t o)
{
	if (KIND == LS_FM)
		return (uint64_t)row * a.back_each + (uint64_t)o * a.padded;
	if (KIND == LS_FWFM)
		return (uint64_t)row * a.back_each + ((uint64_t)o * a.fields + a.sort.by_field[place]) * a.padded;
	return (uint64_t)a.sort.by_entry[place] * a.back_each + (uint64_t)o * a.fields * a.padded;
}

/* The factor of an entry's own part: x for fm, r(f,f) x for fwfm, nothing for ffm (P leaves the entry out). */
template <int KIND> LS_DEVICE float entry_self(const struct ls_cuda_args &a, uint32_t place, uint32_t o, float x)
{
	if (KIND == LS_FM)
		return x;
	if (KIND == LS_FFM)
		return 0.0f;
	uint32_t f = a.sort.by_field[place];
	return x * a.pair[(uint64_t)o * a.n_pairs + (uint64_t)f * a.fields - (uint64_t)f * (f + 1) / 2 + f];
}

/* Raw sums (num/sum.h) of a lane: four factors; and of the entries it looked up itself, the two scalar ones. */
struct column_sums {
	uint64_t four[4], linear, self;
};

LS_DEVICE void add_term4(uint64_t *acc, double slope, float4 back)
{
	acc[0] += ls_bits_d(LS_CELL_TERM(slope, (double)back.x));
	acc[1] += ls_bits_d(LS_CELL_TERM(slope, (double)back.y));
	acc[2] += ls_bits_d(LS_CELL_TERM(slope, (double)back.z));
	acc[3] += ls_bits_d(LS_CELL_TERM(slope, (double)back.w));
}

/* One batch of G entries, looked up by the lanes of a group, into the four sums of each lane; n of them are there. */
template <int G>
LS_DEVICE void add_group(const struct ls_cuda_args &a, uint64_t *four, double slope, uint64_t at, uint32_t n,
			 uint32_t chunk, bool active)
{
	uint32_t mask = group_mask<G>();
#pragma unroll(G < 8 ? G : 8)
	for (int q = 0; q < G; q++) {
		double s = __shfl_sync(mask, slope, q, G);
		uint64_t from = __shfl_sync(mask, at, q, G);
		if (active && (uint32_t)q < n)
			add_term4(four, s, load4(a.back + from + 4 * chunk));
	}
}

/* A task's entries into the sums of a chunk of factors. W lanes work together: a group (W = G), or the groups of a warp
 * (W = 32), whose sums are then added up. Each lane looks up one entry of W and tells its group. Then LS_MAGIC is off.
 */
template <int G, int KIND, int W>
LS_DEVICE void add_column(const struct ls_cuda_args &a, const struct ls_grids *grid, struct ls_cuda_task t, uint32_t o,
			  uint32_t chunk, bool active, struct column_sums *sums)
{
	uint32_t lane = lane_of() % W, group = lane / G * G;
	uint32_t row_ahead = lane < t.n ? a.sort.by_row[t.from + lane] : 0;
	sums->four[0] = sums->four[1] = sums->four[2] = sums->four[3] = sums->linear = sums->self = 0;
	for (uint32_t j = 0; j < t.n; j += W) {
		uint32_t place = t.from + j + lane, row = row_ahead;
		if (j + W + lane < t.n)
			row_ahead = a.sort.by_row[place + W];
		double slope = 0.0;
		uint64_t at = 0;
		if (j + lane < t.n) {
			float x = a.sort.by_x ? a.sort.by_x[place] : 1.0f;
			float gx = a.slope[(uint64_t)row * a.outputs + o] * x;
			slope = (double)gx * grid->back_scale;
			at = back_at<KIND>(a, place, row, o);
			sums->linear += ls_bits_d(LS_CELL_TERM((double)gx * grid->linear_scale, 1.0));
			sums->self += ls_bits_d(
				LS_CELL_TERM((double)gx * grid->self_scale, (double)entry_self<KIND>(a, place, o, x)));
		}
		uint32_t left = j + group < t.n ? t.n - j - group : 0;
		add_group<G>(a, sums->four, slope, at, left < G ? left : G, chunk, active);
	}
	sums->linear = sum_group<W>(sums->linear);
	sums->self = sum_group<W>(sums->self);
	if (W > G)
		for (int i = 0; i < 4; i++)
			for (int h = G; h < W; h *= 2)
				sums->four[i] += __shfl_xor_sync(0xffffffffu, sums->four[i], h);
	uint64_t offset = (uint64_t)t.n * LS_MAGIC_BITS;
	for (int i = 0; i < 4; i++)
		sums->four[i] -= offset;
	sums->linear -= offset;
	sums->self -= offset;
}

LS_DEVICE void update_linear(const struct ls_cuda_args &a, const struct column_step *c, uint32_t feature, uint32_t o,
			     int64_t sum)
{
	float *w = a.linear + (uint64_t)feature * a.outputs * (1 + a.states) + o;
	update_one(a, &c->update, w, a.outputs, ls_cell_gradient(sum, c->grids.linear_unit, *w, 0.0f));
}

/* A task with all of its feature's entries: sums and update in one go, by W lanes. */
template <int G, int KIND, int W>
LS_DEVICE void whole_task(const struct ls_cuda_args &a, const struct column_step *c, struct ls_cuda_task t, uint32_t o)
{
	uint32_t lanes = a.blocks * a.padded, chunks = lanes / 4, lane = lane_of() % G;
	bool writes = W == G || lane_of() < G;
	float cross = 0.0f;
	float *record = a.record + (uint64_t)t.feature * a.width * (1 + a.states) + (uint64_t)o * lanes;
	for (uint32_t from = 0; from < chunks; from += G) {
		uint32_t chunk = from + lane;
		bool active = chunk < chunks;
		struct column_sums sums;
		struct four f = {zero4(), zero4(), zero4()};
		if (active && writes)
			f = load_four(a, record + 4 * chunk, a.width);
		add_column<G, KIND, W>(a, &c->grids, t, o, chunk, active, &sums);
		if (from == 0) {
			cross = (float)((double)(int64_t)sums.self * c->grids.self_unit);
			if (lane_of() % W == 0)
				update_linear(a, c, t.feature, o, (int64_t)sums.linear);
		}
		if (active && writes)
			update_four(a, c, f, record + 4 * chunk, a.width, sums.four, cross);
	}
}

LS_DEVICE void add_heavy(int64_t *to, uint64_t v)
{
	atomicAdd((unsigned long long *)to, (unsigned long long)v);
}

LS_DEVICE int64_t take_heavy(int64_t *from)
{
	int64_t v = __ldcg((const long long *)from); /* other blocks' atomics are in L2 */
	*from = 0;
	return v;
}

/* One of several tasks of a feature, by a warp: sums meet in memory, the last to come updates and leaves zeros behind.
 */
template <int G, int KIND>
LS_DEVICE void part_task(const struct ls_cuda_args &a, const struct column_step *c, struct ls_cuda_task t, uint32_t o)
{
	uint32_t lanes = a.blocks * a.padded, chunks = lanes / 4, lane = lane_of();
	int64_t *into = a.heavy + (uint64_t)(t.heavy - 1) * a.heavy_each + (uint64_t)o * (lanes + 2);
	for (uint32_t from = 0; from < chunks; from += G) {
		uint32_t chunk = from + lane % G;
		struct column_sums sums;
		add_column<G, KIND, 32>(a, &c->grids, t, o, chunk, chunk < chunks, &sums);
		if (from == 0 && lane == 0) {
			add_heavy(into + lanes, sums.self);
			add_heavy(into + lanes + 1, sums.linear);
		}
#pragma unroll
		for (int i = 0; i < 4; i++)
			if (chunk < chunks && lane < G)
				add_heavy(into + 4 * chunk + i, sums.four[i]);
	}
	__threadfence();
	__syncwarp();
	uint32_t *done = a.heavy_done + (uint64_t)(t.heavy - 1) * a.outputs + o, before = 0;
	if (lane == 0)
		before = atomicAdd(done, 1u);
	before = __shfl_sync(0xffffffffu, before, 0);
	if (before + 1 != a.sort.heavy_parts[t.heavy - 1])
		return;
	__threadfence();
	float cross = 0.0f;
	if (lane == 0) {
		*done = 0;
		cross = (float)((double)take_heavy(into + lanes) * c->grids.self_unit);
		update_linear(a, c, t.feature, o, take_heavy(into + lanes + 1));
	}
	cross = __shfl_sync(0xffffffffu, cross, 0);
	float *record = a.record + (uint64_t)t.feature * a.width * (1 + a.states) + (uint64_t)o * lanes;
	for (uint32_t chunk = lane; chunk < chunks; chunk += 32) {
		uint64_t sum[4];
#pragma unroll
		for (int i = 0; i < 4; i++)
			sum[i] = (uint64_t)take_heavy(into + 4 * chunk + i);
		update_four(a, c, load_four(a, record + 4 * chunk, a.width), record + 4 * chunk, a.width, sum, cross);
	}
}

/* The rows' part of the bias' gradient and of the loss: a warp takes a stripe of rows and one of outputs + 1 sums. */
LS_DEVICE void scalar_sums(const struct ls_cuda_args &a, const struct column_step *c)
{
	uint32_t stripes = (c->n_rows + LS_CUDA_STRIPE - 1) / LS_CUDA_STRIPE, sums = a.outputs + 1;
	uint32_t warps = gridDim.x * blockDim.x / 32;
	double bias_scale = ls_pow2(c->grids.bias), loss_scale = ls_pow2(c->grids.loss);
	for (uint32_t w = (blockIdx.x * blockDim.x + threadIdx.x) / 32; w < stripes * sums; w += warps) {
		uint32_t o = w % sums, lo = w / sums * LS_CUDA_STRIPE, hi = lo + LS_CUDA_STRIPE;
		uint64_t sum = 0;
		for (uint32_t b = lo + lane_of(); b < hi && b < c->n_rows; b += 32)
			sum += (uint64_t)(o == a.outputs ? ls_sum_term((double)a.loss[b] * loss_scale)
							 : ls_sum_term((double)a.slope[(uint64_t)b * a.outputs + o] *
								       bias_scale));
		__syncwarp();
		sum = sum_group<32>(sum);
		if (lane_of() == 0)
			add_heavy(o == a.outputs ? &a.state->loss_sum : a.bias_sum + o, sum);
	}
}

/* The last block of a step's last kernel: bias, loss, and everything zero for the next step. */
LS_DEVICE void end_step(const struct ls_cuda_args &a, const struct column_step *c)
{
	struct ls_cuda_state *s = a.state;
	for (uint32_t o = threadIdx.x; o < a.outputs && c->go; o += blockDim.x) {
		int64_t sum = take_heavy(a.bias_sum + o);
		update_one(a, &c->update, a.bias + o, a.outputs, ls_sum_float(sum, c->grids.bias));
	}
	for (uint32_t i = threadIdx.x; i < 5; i += blockDim.x)
		s->top[i] = 0;
	for (uint32_t i = threadIdx.x; i < LS_SORT_COUNTS; i += blockDim.x)
		a.sort.counts[i] = 0;
	if (threadIdx.x == 0) {
		s->blocks_done = 0;
		if (c->go)
			a.losses[s->base + a.index - s->first] = ls_sum_value(take_heavy(&s->loss_sum), c->grids.loss);
		else
			s->stopped = 1;
	}
}

/* True in the last block of the grid to call it; all threads call. */
LS_DEVICE bool is_last_block(const struct ls_cuda_args &a, uint32_t *shared)
{
	__threadfence();
	__syncthreads();
	if (threadIdx.x == 0)
		*shared = atomicAdd(&a.state->blocks_done, 1u) + 1 == gridDim.x;
	__syncthreads();
	__threadfence();
	return *shared != 0;
}

template <int G, int KIND> LS_DEVICE void columns(const struct ls_cuda_args &a)
{
	__shared__ struct column_step c;
	__shared__ uint32_t word;
	begin_columns(a, &c, &word);
	if (c.go) {
		scalar_sums(a, &c);
		uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x,
			 threads = (uint64_t)gridDim.x * blockDim.x;
		uint64_t work = (uint64_t)a.sort.counts[LS_SORT_TASKS] * a.outputs;
		for (uint64_t i = thread / 32; i < work; i += threads / 32) {
			struct ls_cuda_task t = a.sort.task[i / a.outputs];
			if (t.heavy)
				part_task<G, KIND>(a, &c, t, (uint32_t)(i % a.outputs));
			else
				whole_task<G, KIND, 32>(a, &c, t, (uint32_t)(i % a.outputs));
		}
		work = (uint64_t)a.sort.counts[LS_SORT_LIGHT] * a.outputs;
		for (uint64_t i = thread / G; i < work; i += threads / G)
			whole_task<G, KIND, G>(a, &c, a.sort.light[i / a.outputs], (uint32_t)(i % a.outputs));
	}
	if (KIND != LS_FWFM && is_last_block(a, &word))
		end_step(a, &c);
}

#endif
#endif
