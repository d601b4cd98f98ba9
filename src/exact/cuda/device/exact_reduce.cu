/* Reductions (exact/reduce.h). In two halves: the largest exponents of the terms, then
 * their sums as integers on the grid that follows. Where outputs are many and their
 * elements lie along memory a warp or a block does both halves of an output, and finds
 * the elements in the cache the second time. Otherwise blocks share the elements of an
 * output, and add into its state by atomics on integers. */
#include "exact/cuda/device/exact_team.h"
#include "exact/reduce.h"
#include "gpu/device.h"

enum { BOUNDS, SUMS, BATCH = 8 /* elements that a thread loads at a time */ };

static __device__ __forceinline__ void load(const ls_reduce &r, int operands, const int64_t *base,
					    int64_t l, float *v)
{
	for (int k = 0; k < operands; k++) {
		const ls_reduce_in &in = r.in[k];
		int64_t at =
			base[k] + ls_reduce_offset(l, r.reduced_dims, r.reduced_size, in.reduced);
		v[k] = in.at ? ls_reduce_get(in.at, in.type, at) : in.fill;
	}
}

static __device__ __forceinline__ void find_base(const ls_reduce &r, int operands, int64_t i,
						 int64_t *base)
{
	for (int k = 0; k < operands; k++)
		base[k] = ls_reduce_offset(i, r.kept_dims, r.kept_size, r.in[k].kept);
}

static __device__ __forceinline__ void add_bound(int kind, const ls_reduce &r, const float *v,
						 int64_t l, ls_sum_state *s)
{
	if (ls_term_is_key(kind)) {
		uint64_t key = ls_term_key(kind, v[0]), at = ~(uint64_t)l & 0xffffffffu;
		uint64_t both = key << 32 | (ls_term_is_index(kind) ? at : 0);
		s->sum[0] = both > s->sum[0] ? both : s->sum[0];
		return;
	}
	if (kind == LS_TERM_MOMENTS) {
		uint32_t key = ls_float_key(v[0]);
		s->top[0] = ls_team_larger(s->top[0], key);
		s->top[1] = ls_team_larger(s->top[1], ~key);
		s->flags |= ls_term_flags((double)v[0]);
		return;
	}
	double t[2];
	ls_terms_of(kind, v, r.number, 0.0, t);
	for (int k = 0; k < ls_term_sums(kind); k++) {
		uint32_t top = ls_term_top(t[k]);
		s->top[k] = ls_team_larger(s->top[k], top);
		if (top == 0x7ff)
			s->flags |= ls_term_flags(t[k]) << (LS_TERM_FLAGS * k);
	}
}

static __device__ __forceinline__ void add_term(int kind, const ls_reduce &r, const float *v,
						const ls_grids &g, ls_sum_state *s)
{
	double t[2];
	ls_terms_of(kind, v, r.number, g.pivot, t);
	for (int k = 0; k < ls_term_sums(kind); k++)
		s->sum[k] += ls_term_steps(t[k], g.scale[k]);
}

/* Elements l, l + step … of operand k, before `to`; all loads are under way before the
 * first is used. */
static __device__ __forceinline__ void load_batch(const ls_reduce &r, int k, int64_t base,
						  int64_t l, int64_t to, int64_t step,
						  float (*v)[LS_TERM_OPERANDS])
{
	const ls_reduce_in &in = r.in[k];
	const int64_t stride = r.reduced_dims ? in.reduced[0] : 0;
	int64_t at[BATCH];
#pragma unroll
	for (int u = 0; u < BATCH; u++)
		at[u] = base + (r.reduced_dims > 1 ? ls_reduce_far(l + u * step, r.reduced_dims,
								   r.reduced_size, in.reduced)
						   : (l + u * step) * stride);
	if (in.at && in.type == LS_REDUCE_F32) {
#pragma unroll
		for (int u = 0; u < BATCH; u++)
			v[u][k] = l + u * step < to ? ((const float *)in.at)[at[u]] : 0.0f;
		return;
	}
	uint16_t half[BATCH];
#pragma unroll
	for (int u = 0; u < BATCH; u++)
		half[u] = in.at && l + u * step < to ? ((const uint16_t *)in.at)[at[u]] : 0;
#pragma unroll
	for (int u = 0; u < BATCH; u++) {
		v[u][k] =
			in.type == LS_REDUCE_BF16 ? ls_bf16_value(half[u]) : ls_f16_value(half[u]);
		v[u][k] = in.at ? v[u][k] : in.fill;
	}
}

template <int HALF>
static __device__ __forceinline__ void add_one(int kind, const ls_reduce &r, const float *v,
					       int64_t l, const ls_grids &g, ls_sum_state *s)
{
	if (HALF == BOUNDS)
		add_bound(kind, r, v, l, s);
	else
		add_term(kind, r, v, g, s);
}

/* Terms that grow with the magnitude of their one operand, and are 0 where that is: their
 * bound is that of the largest magnitude, and elements that are not there, 0, change no
 * sum. */
template <int KIND> struct plain {
	enum { IS = KIND == LS_TERM_SUM || KIND == LS_TERM_SQUARE };
};

/* What a thread has found while it walks. */
struct found {
	uint32_t magnitude; /* the largest, of a plain kind */
	uint64_t sum;       /* with LS_MAGIC_BITS in each term */
	uint32_t terms;
};

template <int KIND, int HALF>
static __device__ __forceinline__ void add_batch(const ls_reduce &r,
						 const float (*v)[LS_TERM_OPERANDS], int64_t l,
						 int64_t to, int64_t step, const ls_grids &g,
						 found &f, ls_sum_state *s)
{
#pragma unroll
	for (int u = 0; u < BATCH; u++) {
		if (!plain<KIND>::IS) {
			if (l + u * step < to)
				add_one<HALF>(KIND, r, v[u], l + u * step, g, s);
		} else if (HALF == BOUNDS)
			f.magnitude = ls_team_larger(f.magnitude, ls_bits_f(v[u][0]) & 0x7fffffffu);
		else {
			double t[2];
			ls_terms_of(KIND, v[u], r.number, 0.0, t);
			f.sum += ls_bits_d(t[0] * g.scale[0] + LS_MAGIC);
		}
	}
	f.terms += BATCH;
}

/* Into the state. What is not finite is rare: only then its flags are looked for, by
 * again(), which adds all bounds. */
template <int KIND, int HALF, typename F>
static __device__ __forceinline__ void add_found(const ls_reduce &r, const found &f,
						 ls_sum_state *s, F again)
{
	if (!plain<KIND>::IS)
		return;
	if (HALF == SUMS)
		s->sum[0] += f.sum - f.terms * LS_MAGIC_BITS;
	else if (f.magnitude >= 0x7f800000u)
		again();
	else {
		const float v[LS_TERM_OPERANDS] = {ls_f_bits(f.magnitude)};
		double t[2];
		ls_terms_of(KIND, v, r.number, 0.0, t);
		s->top[0] = ls_team_larger(s->top[0], ls_term_top(t[0]));
	}
}

/* One element at a time, of the kind of r. */
template <int HALF>
static __device__ __noinline__ void walk_slowly(const ls_reduce &r, const int64_t *base,
						int64_t from, int64_t to, int64_t step,
						const ls_grids &g, ls_sum_state *s)
{
#pragma unroll 1
	for (int64_t l = from; l < to; l += step) {
		float v[LS_TERM_OPERANDS];
		load(r, ls_term_operands(r.kind), base, l, v);
		add_one<HALF>(r.kind, r, v, l, g, s);
	}
}

/* The elements from, from + step … of one output. KIND: -1 for that of r, which takes one
 * element at a time, for its formulas are long. */
template <int KIND, int HALF>
static __device__ __forceinline__ void walk(const ls_reduce &r, const int64_t *base, int64_t from,
					    int64_t to, int64_t step, const ls_grids &g,
					    ls_sum_state *s)
{
	found f = {0, 0, 0};
	if (KIND < 0)
		walk_slowly<HALF>(r, base, from, to, step, g, s);
#pragma unroll 1
	for (int64_t l = from; KIND >= 0 && l < to; l += BATCH * step) {
		float v[BATCH][LS_TERM_OPERANDS];
#pragma unroll
		for (int k = 0; k < ls_term_operands(KIND); k++)
			load_batch(r, k, base[k], l, to, step, v);
		add_batch<KIND, HALF>(r, v, l, to, step, g, f, s);
	}
	add_found<KIND, HALF>(r, f, s, [&]() {
		walk_slowly<BOUNDS>(r, base, from, to, step, g, s);
	});
}

/* --- elements that a thread keeps from one half to the next: those of one operand, of
 * which a team has at most BATCHES batches a thread --- */

enum { BATCHES = 4 };

struct kept {
	float v[BATCHES][BATCH][LS_TERM_OPERANDS];
};

static __device__ __forceinline__ void keep(const ls_reduce &r, int64_t base, int64_t from,
					    int64_t step, kept &x)
{
#pragma unroll
	for (int i = 0; i < BATCHES; i++)
		if (from + i * BATCH * step < r.reduced)
			load_batch(r, 0, base, from + i * BATCH * step, r.reduced, step, x.v[i]);
}

template <int KIND, int HALF>
static __device__ __forceinline__ void walk_kept(const ls_reduce &r, const int64_t *base,
						 const kept &x, int64_t from, int64_t step,
						 const ls_grids &g, ls_sum_state *s)
{
	found f = {0, 0, 0};
#pragma unroll
	for (int i = 0; i < BATCHES; i++)
		if (from + i * BATCH * step < r.reduced)
			add_batch<KIND, HALF>(r, x.v[i], from + i * BATCH * step, r.reduced, step, g,
					      f, s);
	add_found<KIND, HALF>(r, f, s, [&]() {
		walk_slowly<BOUNDS>(r, base, from, r.reduced, step, g, s);
	});
}

static __device__ __forceinline__ ls_sum_state nothing()
{
	ls_sum_state s = {{0, 0}, {0, 0}, 0, 0};
	return s;
}

static __device__ __forceinline__ ls_grids no_grids()
{
	ls_grids g = {0.0, {0.0, 0.0}, {0, 0}};
	return g;
}

/* The key of an extreme moves to where ls_reduce_finish looks for it. */
static __device__ __forceinline__ void finish(const ls_reduce &r, int64_t i, ls_sum_state s)
{
	if (ls_term_is_key(r.kind))
		s.top[0] = (uint32_t)(s.sum[0] >> 32);
	ls_reduce_finish(&r, i, &s);
}

/* --- both halves: a team of threads has an output --- */

/* KEEPS: reduced is small enough for that. */
template <int KIND, int TEAM, bool KEEPS>
static __device__ __forceinline__ void whole(const ls_reduce &given)
{
	__shared__ ls_reduce r;
	__shared__ ls_team_room room;
	if (threadIdx.x == 0)
		r = given;
	__syncthreads();
	const int operands = ls_term_operands(KIND < 0 ? r.kind : KIND);
	const unsigned size = ls_team_size<TEAM>(), a_block = blockDim.x / size;
	const int64_t teams = (int64_t)gridDim.x * a_block;
	for (int64_t i = blockIdx.x * (int64_t)a_block + threadIdx.x / size; i < r.kept;
	     i += teams) {
		int64_t base[LS_TERM_OPERANDS];
		ls_sum_state s = nothing();
		find_base(r, operands, i, base);
		const int64_t own = ls_team_thread<TEAM>();
		kept x;
		if (KEEPS) {
			keep(r, base[0], own, size, x);
			walk_kept<KIND, BOUNDS>(r, base, x, own, size, no_grids(), &s);
		} else
			walk<KIND, BOUNDS>(r, base, own, r.reduced, size, no_grids(), &s);
		ls_team_bounds<TEAM>(&s, r.kind, &room);
		if (!ls_term_is_key(r.kind)) {
			ls_grids g = ls_grids_of(r.kind, &s, r.reduced);
			if (KEEPS)
				walk_kept<KIND, SUMS>(r, base, x, own, size, g, &s);
			else
				walk<KIND, SUMS>(r, base, own, r.reduced, size, g, &s);
			ls_team_sums<TEAM>(&s, ls_term_sums(r.kind), &room);
		}
		if (ls_team_thread<TEAM>() == 0)
			finish(r, i, s);
	}
}

/* --- a half: blocks share the elements of an output --- */

static __device__ __forceinline__ void merge(const ls_reduce &r, int half, const ls_sum_state &s,
					     ls_sum_state *to)
{
	typedef unsigned long long word;
	if (half == SUMS) {
		for (int k = 0; k < ls_term_sums(r.kind); k++)
			if (s.sum[k])
				atomicAdd((word *)&to->sum[k], (word)s.sum[k]);
		return;
	}
	if (ls_term_is_key(r.kind)) {
		atomicMax((word *)&to->sum[0], (word)s.sum[0]);
		return;
	}
	for (int k = 0; k < 2; k++)
		if (s.top[k])
			atomicMax(&to->top[k], s.top[k]);
	if (s.flags)
		atomicOr(&to->flags, s.flags);
}

/* One half of output i by this thread: elements from, from + step … */
template <int KIND>
static __device__ __forceinline__ ls_sum_state part_of(const ls_reduce &r,
						       const ls_sum_state &known, int which,
						       int64_t i, int64_t from, int64_t to,
						       int64_t step)
{
	int64_t base[LS_TERM_OPERANDS];
	ls_sum_state s = nothing();
	find_base(r, ls_term_operands(KIND < 0 ? r.kind : KIND), i, base);
	if (which == BOUNDS)
		walk<KIND, BOUNDS>(r, base, from, to, step, no_grids(), &s);
	else
		walk<KIND, SUMS>(r, base, from, to, step, ls_grids_of(r.kind, &known, r.reduced),
				 &s);
	return s;
}

/* across: 32 outputs side by side, 8 elements at a time; else one output a block. */
template <int KIND>
static __device__ __forceinline__ void half(const ls_reduce &given, ls_sum_state *state,
					    int64_t part, int which, int across)
{
	__shared__ ls_reduce r;
	__shared__ ls_sum_state room[256];
	if (threadIdx.x == 0)
		r = given;
	__syncthreads();
	const unsigned side = across ? 32 : 1, lane = threadIdx.x % side;
	const int64_t i = (int64_t)blockIdx.x * side + lane, from = blockIdx.y * part;
	const int64_t to = from + part < r.reduced ? from + part : r.reduced;
	ls_sum_state s = nothing();
	if (i < r.kept)
		s = part_of<KIND>(r, state[i], which, i, from + threadIdx.x / side, to,
				  blockDim.x / side);
	room[threadIdx.x] = s;
	for (unsigned n = blockDim.x / 2; n >= side; n /= 2) {
		__syncthreads();
		if (threadIdx.x < n) {
			ls_team_combine(&s, room[threadIdx.x + n], r.kind);
			room[threadIdx.x] = s;
		}
	}
	if (threadIdx.x < side && i < r.kept)
		merge(r, which, s, &state[i]);
}

extern "C" __global__ void exact_reduce_finish(ls_reduce given, const ls_sum_state *state)
{
	__shared__ ls_reduce r;
	if (threadIdx.x == 0)
		r = given;
	__syncthreads();
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < r.kept; i += step)
		finish(r, i, state[i]);
}

/* --- maps: an element a thread --- */

extern "C" __global__ void exact_reduce_map(ls_reduce given)
{
	__shared__ ls_reduce r;
	if (threadIdx.x == 0)
		r = given;
	__syncthreads();
	const int operands = ls_term_operands(r.kind);
	const ls_reduce_out &out = r.out[0];
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < r.kept; i += step) {
		int64_t base[LS_TERM_OPERANDS];
		float v[LS_TERM_OPERANDS];
		find_base(r, operands, i, base);
		load(r, operands, base, 0, v);
		ls_reduce_put(out.at, out.type,
			      ls_reduce_offset(i, r.kept_dims, r.kept_size, out.kept),
			      ls_map_of(r.kind, v, r.number));
	}
}

/* --- by kind: a constant where the loops are worth it --- */

extern "C" __global__ void __launch_bounds__(256) exact_reduce_warp_sum(ls_reduce r)
{
	whole<LS_TERM_SUM, 32, true>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_reduce_block_sum(ls_reduce r)
{
	whole<LS_TERM_SUM, LS_TEAM_BLOCK, true>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_reduce_warp_square(ls_reduce r)
{
	whole<LS_TERM_SQUARE, 32, true>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_reduce_block_square(ls_reduce r)
{
	whole<LS_TERM_SQUARE, LS_TEAM_BLOCK, true>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_reduce_warp_moments(ls_reduce r)
{
	whole<LS_TERM_MOMENTS, 32, true>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_reduce_block_moments(ls_reduce r)
{
	whole<LS_TERM_MOMENTS, LS_TEAM_BLOCK, true>(r);
}

extern "C" __global__ void __launch_bounds__(256)
	exact_reduce_half_sum(ls_reduce r, ls_sum_state *state, int64_t part, int which, int across)
{
	half<LS_TERM_SUM>(r, state, part, which, across);
}

extern "C" __global__ void __launch_bounds__(256)
	exact_reduce_half_square(ls_reduce r, ls_sum_state *state, int64_t part, int which, int across)
{
	half<LS_TERM_SQUARE>(r, state, part, which, across);
}

extern "C" __global__ void __launch_bounds__(256)
	exact_reduce_half_moments(ls_reduce r, ls_sum_state *state, int64_t part, int which, int across)
{
	half<LS_TERM_MOMENTS>(r, state, part, which, across);
}

extern "C" __global__ void __launch_bounds__(256)
	exact_reduce_half_grads(ls_reduce r, ls_sum_state *state, int64_t part, int which, int across)
{
	half<LS_TERM_GRADS>(r, state, part, which, across);
}

extern "C" __global__ void __launch_bounds__(256) exact_reduce_warp(ls_reduce r)
{
	whole<-1, 32, false>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_reduce_block(ls_reduce r)
{
	whole<-1, LS_TEAM_BLOCK, false>(r);
}

extern "C" __global__ void __launch_bounds__(256)
	exact_reduce_half(ls_reduce r, ls_sum_state *state, int64_t part, int which, int across)
{
	half<-1>(r, state, part, which, across);
}
