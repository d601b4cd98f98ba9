/* A step of fm on a GPU: cuda_args.h has the plan, cell.h the formulas. */
#include "fm/cuda_lane.h"

/* One row, one output, by a group: s and s2 are what the lane's chunks of the entries' factors add up to (cell.h: S).
 */
template <int G, bool KNOWN>
LS_DEVICE float fm_output(const struct ls_cuda_args &a, const struct row_view &r, uint32_t o, float4 *s, float4 *s2)
{
	uint64_t stride = (uint64_t)a.width * (1 + a.states), linear_stride = (uint64_t)a.outputs * (1 + a.states);
	uint32_t lane = lane_of() % G, chunks = a.padded / 4;
	bool first = lane < chunks, second = G == 32 && lane + 32 < chunks;
	const float *record = a.record + (uint64_t)o * a.padded + 4 * lane, *linear = a.linear + o;
	float4 q = zero4(), q2 = zero4();
	float sum = a.bias[o];
	*s = *s2 = zero4();
#pragma unroll 4
	for (uint32_t i = 0; i < r.n; i++) {
		uint32_t f = r.feature[i];
		float x = entry_x(r.x, r.scale, i);
		if (!KNOWN && f >= a.n_features)
			continue;
		if (first)
			add4(s, &q, load4(record + f * stride), x);
		if (second)
			add4(s2, &q2, load4(record + f * stride + 128), x);
		sum += linear[f * linear_stride] * x;
	}
	float4 t = minus4(times4(*s, *s), q), t2 = minus4(times4(*s2, *s2), q2);
	return sum + 0.5f * halve_group<G>(t, t2, a.padded);
}

template <int G> LS_DEVICE void fm_row(const struct ls_cuda_args &a, uint32_t b, struct row_tops *top)
{
	struct row_view r = batch_row(a, b);
	uint32_t lane = lane_of() % G, chunks = a.padded / 4, back = 0;
	float one = 0.0f;
	for (uint32_t i = lane; r.x && i < r.n; i += G)
		top->value = top_of(r.x[i], top->value);
	for (uint32_t o = 0; o < a.outputs; o++) {
		float4 s, s2;
		one = fm_output<G, true>(a, r, o, &s, &s2);
		float *to = a.back + (uint64_t)b * a.back_each + (uint64_t)o * a.padded + 4 * lane;
		if (lane < chunks)
			store4(to, s);
		if (G == 32 && lane + 32 < chunks)
			store4(to + 128, s2);
		back = top_of4(s2, top_of4(s, back));
		if (a.outputs > 1 && lane == 0)
			a.score[(uint64_t)b * a.outputs + o] = one;
	}
	if (lane == 0)
		end_row(a, b, one, top);
	if (is_infinite(back))
		note_bad(a, a.sort.pick[b]);
	top->back = back > top->back ? back : top->back;
}

template <int G> LS_DEVICE void fm_rows(const struct ls_cuda_args &a)
{
	__shared__ uint32_t word;
	struct row_tops top = {0, 0, 0, 0, 0};
	if (a.state->stopped)
		return;
	uint32_t rows = a.sort.counts[LS_SORT_ROWS], groups = gridDim.x * blockDim.x / G;
	for (uint32_t b = (blockIdx.x * blockDim.x + threadIdx.x) / G; b < rows; b += groups)
		fm_row<G>(a, b, &top);
	note_tops(a, top, &word);
}

template <int G> LS_DEVICE void fm_predict(const struct ls_cuda_args &a)
{
	uint64_t groups = (uint64_t)gridDim.x * blockDim.x / G;
	for (uint64_t r = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / G; r < a.predict_rows; r += groups) {
		struct row_view view = predict_row(a, r);
		for (uint32_t o = 0; o < a.outputs; o++) {
			float4 s, s2;
			float score = fm_output<G, false>(a, view, o, &s, &s2);
			if (lane_of() % G == 0)
				a.predict_score[r * a.outputs + o] = score;
		}
	}
}

extern "C" __global__ void __launch_bounds__(256, 4) fm_rows_1(const struct ls_cuda_args a)
{
	fm_rows<1>(a);
}
extern "C" __global__ void __launch_bounds__(256, 4) fm_rows_2(const struct ls_cuda_args a)
{
	fm_rows<2>(a);
}
extern "C" __global__ void __launch_bounds__(256, 4) fm_rows_4(const struct ls_cuda_args a)
{
	fm_rows<4>(a);
}
extern "C" __global__ void __launch_bounds__(256, 4) fm_rows_8(const struct ls_cuda_args a)
{
	fm_rows<8>(a);
}
extern "C" __global__ void __launch_bounds__(256, 4) fm_rows_32(const struct ls_cuda_args a)
{
	fm_rows<32>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fm_columns_1(const struct ls_cuda_args a)
{
	columns<1, LS_FM>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fm_columns_2(const struct ls_cuda_args a)
{
	columns<2, LS_FM>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fm_columns_4(const struct ls_cuda_args a)
{
	columns<4, LS_FM>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fm_columns_8(const struct ls_cuda_args a)
{
	columns<8, LS_FM>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fm_columns_32(const struct ls_cuda_args a)
{
	columns<32, LS_FM>(a);
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
