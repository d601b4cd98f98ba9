/* A step of fm on a GPU: cuda_args.h has the plan, cell.h the formulas. */
#include "fm/cuda/device/cuda_columns.inl.h"

/* What a group knows of the next E entries of a row, each lane of EACH of them: their
 * loads do not wait for each other. Q: entries whose factors are loaded at a time. ONES:
 * every x is 1. */
template <int G, int Q, bool ONES> struct ahead {
	enum { EACH = G == 32 ? 2 : G <= 2 ? 8 : G == 4 && Q == 4 ? 5 : 40 / G, E = EACH * G };
	static_assert(E % Q == 0, "entries come Q at a time");
	uint32_t feature[EACH];
	float x[EACH], weight[EACH];
};

/* Sums of a row over its entries, of a lane's chunk of factors (and, of a warp's lane,
 * another 32 chunks on). */
struct row_sums {
	float4 s, q, s2, q2;
	float linear;
};

/* One output of a row, as a lane sees it. */
struct row_lane {
	const float *record, *linear; /* of feature 0, at the lane's chunk */
	uint32_t record_stride, linear_stride;
	uint64_t n_features;
	bool second; /* it has another chunk */
};

/* Entries from .. from + E of a row. */
template <int G, int Q, bool KNOWN, bool ONES>
LS_DEVICE void look_ahead(const struct row_lane &l, const struct row_view &r, uint32_t from,
			  struct ahead<G, Q, ONES> *n)
{
	enum { EACH = ahead<G, Q, ONES>::EACH };
#pragma unroll
	for (int j = 0; j < EACH; j++) {
		uint32_t i = from + (uint32_t)j * G + lane_of() % G;
		i = i < r.n ? i : r.n - 1;
		n->feature[j] = r.feature[i];
		n->x[j] = ONES ? 1.0f : entry_x(r.x, r.scale, i);
	}
#pragma unroll
	for (int j = 0; j < EACH; j++) {
		uint32_t f = KNOWN || n->feature[j] < l.n_features ? n->feature[j] : 0;
		n->weight[j] = l.linear[(uint64_t)f * l.linear_stride];
	}
}

/* Takes Q of the entries that were looked up, from number `from` on (a compile-time
 * constant), of which `left` are there. All loads come first, so that they overlap. */
template <int G, int Q, bool KNOWN, bool ONES>
LS_DEVICE void add_row_entries(const struct row_lane &l, const struct ahead<G, Q, ONES> &n, int from, uint32_t left,
			       struct row_sums *sums)
{
	uint32_t mask = group_mask<G>(), f[Q];
	float4 v[Q], v2[Q];
#pragma unroll
	for (int q = 0; q < Q; q++) {
		f[q] = __shfl_sync(mask, n.feature[(from + q) / G], (from + q) % G, G);
		const float *at = l.record + (uint64_t)(KNOWN || f[q] < l.n_features ? f[q] : 0) * l.record_stride;
		v[q] = load4(at);
		v2[q] = G == 32 && l.second ? load4(at + 128) : zero4();
	}
#pragma unroll
	for (int q = 0; q < Q; q++) {
		float x = ONES ? 1.0f : __shfl_sync(mask, n.x[(from + q) / G], (from + q) % G, G);
		float w = __shfl_sync(mask, n.weight[(from + q) / G], (from + q) % G, G);
		if ((uint32_t)q >= left || !(KNOWN || f[q] < l.n_features))
			continue;
		add4(&sums->s, &sums->q, v[q], x);
		if (G == 32 && l.second)
			add4(&sums->s2, &sums->q2, v2[q], x);
		sums->linear += w * x;
	}
}

template <int G, int Q, bool KNOWN, bool ONES>
LS_DEVICE void add_row(const struct row_lane &l, const struct row_view &r, struct row_sums *sums)
{
	/* two copies of the code only where they are faster */
	enum { E = ahead<G, Q, ONES>::E, FAST = KNOWN && ONES && Q == 4 };
	for (uint32_t i = 0; i < r.n; i += E) {
		struct ahead<G, Q, ONES> now;
		uint32_t left = r.n - i;
		look_ahead<G, Q, KNOWN, ONES>(l, r, i, &now);
#pragma unroll
		for (int q = 0; q < E; q += Q) {
			if (FAST && left >= (uint32_t)(q + Q))
				add_row_entries<G, Q, KNOWN, ONES>(l, now, q, Q, sums);
			else if (left > (uint32_t)q)
				add_row_entries<G, Q, KNOWN, ONES>(l, now, q, left - (uint32_t)q, sums);
		}
	}
}

/* One row, one output, by a group: s and s2 are what the lane's chunks of the entries'
 * factors add up to (cell.h: S). */
template <int G, int Q, bool KNOWN>
LS_DEVICE float fm_output(const struct ls_cuda_args &a, const struct row_view &r, uint32_t o, float4 *s, float4 *s2)
{
	uint32_t lane = lane_of() % G, chunks = a.padded / 4;
	bool first = lane < chunks;
	struct row_lane l = {a.record + o * a.padded + 4 * (first ? lane : chunks - 1),
			     a.linear + o,
			     a.width * (1 + a.states),
			     a.outputs * (1 + a.states),
			     a.n_features,
			     G == 32 && lane + 32 < chunks};
	struct row_sums sums = {zero4(), zero4(), zero4(), zero4(), a.bias[o]};
	if (KNOWN && !r.x)
		add_row<G, Q, KNOWN, KNOWN>(l, r, &sums);
	else
		add_row<G, Q, KNOWN, false>(l, r, &sums);
	float4 t = minus4(times4(sums.s, sums.s), sums.q), t2 = minus4(times4(sums.s2, sums.s2), sums.q2);
	*s = first ? sums.s : zero4();
	*s2 = sums.s2;
	return sums.linear + 0.5f * halve_group<G>(first ? t : zero4(), t2, a.padded);
}

/* Scores and back vectors of a row; returns the score of a single output. */
template <int G, int Q>
LS_DEVICE float fm_row(const struct ls_cuda_args &a, const struct batch &t, uint32_t b, struct row_tops *top)
{
	struct row_view r = batch_row(a, t, b);
	uint32_t lane = lane_of() % G, chunks = a.padded / 4, back = 0;
	float one = 0.0f;
	for (uint32_t o = 0; o < a.outputs; o++) {
		float4 s, s2;
		one = fm_output<G, Q, true>(a, r, o, &s, &s2);
		float *to = a.back + (uint64_t)b * a.back_each + o * a.padded + 4 * lane;
		if (lane < chunks)
			store4(to, s);
		if (G == 32 && lane + 32 < chunks)
			store4(to + 128, s2);
		back = top_of4(s2, top_of4(s, back));
		if (a.outputs > 1 && lane == 0)
			a.score[(uint64_t)b * a.outputs + o] = one;
	}
	if (is_infinite(back))
		note_bad(a, t.pick[b]);
	top->back = larger(back, top->back);
	return one;
}

/* A block of T threads takes R rows at a time: scores by groups, then losses, a thread
 * each. */
template <int G, int Q, int T> LS_DEVICE void fm_rows(const struct ls_cuda_args &a)
{
	enum { R = T / G };
	__shared__ uint32_t words[LS_TOPS];
	__shared__ float score[2][R];
	struct row_tops top = {0, 0, 0, 0, 0};
	if (a.state->stopped)
		return;
	struct batch t = batch_of(a);
	uint32_t rows = t.rows, group = threadIdx.x / G, odd = 0;
	for (uint32_t lo = blockIdx.x * R; lo < rows; lo += gridDim.x * R, odd ^= 1) {
		uint32_t mine = lo + threadIdx.x;
		bool ends = threadIdx.x < R && mine < rows;
		struct row_end end = {0, 0.0f, 0.0f};
		if (ends)
			end = begin_row(a, t, mine);
		if (lo + group < rows) {
			float one = fm_row<G, Q>(a, t, lo + group, &top);
			if (lane_of() % G == 0)
				score[odd][group] = one;
		}
		__syncthreads();
		if (ends)
			end_row(a, end, mine, score[odd][threadIdx.x], &top);
	}
	note_values(a, t, &top);
	note_tops(a, top, words);
}

template <int G> LS_DEVICE void fm_predict(const struct ls_cuda_args &a)
{
	uint64_t groups = (uint64_t)gridDim.x * blockDim.x / G;
	for (uint64_t r = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / G; r < a.predict_rows; r += groups) {
		struct row_view view = predict_row(a, r);
		for (uint32_t o = 0; o < a.outputs; o++) {
			float4 s, s2;
			float score = fm_output<G, 4, false>(a, view, o, &s, &s2);
			if (lane_of() % G == 0)
				a.predict_score[r * a.outputs + o] = score;
		}
	}
}

extern "C" __global__ void __launch_bounds__(256, 4) fm_rows_1(const struct ls_cuda_args a)
{
	fm_rows<1, 4, LS_CUDA_THREADS>(a);
}
extern "C" __global__ void __launch_bounds__(256, 4) fm_rows_2(const struct ls_cuda_args a)
{
	fm_rows<2, 4, LS_CUDA_THREADS>(a);
}
extern "C" __global__ void __launch_bounds__(256, 4) fm_rows_4(const struct ls_cuda_args a)
{
	fm_rows<4, 4, LS_CUDA_THREADS>(a);
}
extern "C" __global__ void __launch_bounds__(256, 4) fm_rows_8(const struct ls_cuda_args a)
{
	fm_rows<8, 4, LS_CUDA_THREADS>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fm_rows_32(const struct ls_cuda_args a)
{
	fm_rows<32, 4, LS_CUDA_THREADS>(a);
}
extern "C" __global__ void __launch_bounds__(LS_CUDA_FEW_THREADS, 8) fm_few_rows_1(const struct ls_cuda_args a)
{
	fm_rows<1, 8, LS_CUDA_FEW_THREADS>(a);
}
extern "C" __global__ void __launch_bounds__(LS_CUDA_FEW_THREADS, 8) fm_few_rows_2(const struct ls_cuda_args a)
{
	fm_rows<2, 8, LS_CUDA_FEW_THREADS>(a);
}
extern "C" __global__ void __launch_bounds__(LS_CUDA_FEW_THREADS, 8) fm_few_rows_4(const struct ls_cuda_args a)
{
	fm_rows<4, 8, LS_CUDA_FEW_THREADS>(a);
}
extern "C" __global__ void __launch_bounds__(LS_CUDA_FEW_THREADS, 8) fm_few_rows_8(const struct ls_cuda_args a)
{
	fm_rows<8, 8, LS_CUDA_FEW_THREADS>(a);
}
extern "C" __global__ void __launch_bounds__(LS_CUDA_FEW_THREADS, 8) fm_few_rows_32(const struct ls_cuda_args a)
{
	fm_rows<32, 8, LS_CUDA_FEW_THREADS>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fm_columns_1(const struct ls_cuda_args a)
{
	columns<1, LS_FM, 1, false>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fm_columns_2(const struct ls_cuda_args a)
{
	columns<2, LS_FM, 1, false>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fm_one_columns_2(const struct ls_cuda_args a)
{
	columns<2, LS_FM, 1, true>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fm_columns_4(const struct ls_cuda_args a)
{
	columns<4, LS_FM, 1, false>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fm_one_columns_4(const struct ls_cuda_args a)
{
	columns<4, LS_FM, 1, true>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fm_columns_8(const struct ls_cuda_args a)
{
	columns<8, LS_FM, 1, false>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fm_one_columns_8(const struct ls_cuda_args a)
{
	columns<8, LS_FM, 1, true>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fm_columns_32(const struct ls_cuda_args a)
{
	columns<32, LS_FM, 1, false>(a);
}
extern "C" __global__ void __launch_bounds__(256) fm_predict_1(const struct ls_cuda_args a)
{
	fm_predict<1>(a);
}
extern "C" __global__ void __launch_bounds__(256) fm_predict_2(const struct ls_cuda_args a)
{
	fm_predict<2>(a);
}
extern "C" __global__ void __launch_bounds__(256) fm_predict_4(const struct ls_cuda_args a)
{
	fm_predict<4>(a);
}
extern "C" __global__ void __launch_bounds__(256) fm_predict_8(const struct ls_cuda_args a)
{
	fm_predict<8>(a);
}
extern "C" __global__ void __launch_bounds__(256) fm_predict_32(const struct ls_cuda_args a)
{
	fm_predict<32>(a);
}
