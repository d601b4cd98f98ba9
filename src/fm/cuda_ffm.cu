/* A step of ffm on a GPU: a warp a row, lanes over the other entry of a pair. cuda_args.h has the plan.
 *
 * The CPU takes each unordered pair (i, j) once, in stored order. So do we: the pairs of one i are made by all lanes at
 * once, and their products are then added in the order of j. The P of an entry gets its terms in the order of the other
 * entry's place: first as j, then as i. */
#include "fm/cuda_lane.h"

/* Adds the lane's bx to P of entry i, where two lanes may name the same field: then one lane does it for all, in order.
 */
LS_DEVICE void add_to_own(float *own, uint32_t padded, bool here, uint32_t field, float4 bx)
{
	uint32_t key = here ? field : 0x10000u + lane_of();
	uint32_t same = __match_any_sync(0xffffffffu, key);
	if (!__any_sync(0xffffffffu, (same & (same - 1)) != 0)) {
		if (here)
			store4(own + field * padded, plus4(load4(own + field * padded), bx));
		return;
	}
	for (int q = 0; q < 32; q++) {
		uint32_t to = __shfl_sync(0xffffffffu, key, q);
		float4 v = make_float4(__shfl_sync(0xffffffffu, bx.x, q), __shfl_sync(0xffffffffu, bx.y, q),
				       __shfl_sync(0xffffffffu, bx.z, q), __shfl_sync(0xffffffffu, bx.w, q));
		if (lane_of() == 0 && to < 0x10000u)
			store4(own + to * padded, plus4(load4(own + to * padded), v));
	}
}

/* The terms of 32 lanes in order; every lane gets the sum. Lanes without a term have +0, which changes nothing. */
LS_DEVICE float4 add_in_order(float4 total, float4 term, uint32_t n)
{
	for (uint32_t q = 0; q < n; q++) {
		total.x += __shfl_sync(0xffffffffu, term.x, (int)q);
		total.y += __shfl_sync(0xffffffffu, term.y, (int)q);
		total.z += __shfl_sync(0xffffffffu, term.z, (int)q);
		total.w += __shfl_sync(0xffffffffu, term.w, (int)q);
	}
	return total;
}

/* Chunk c of every pair's product, summed over the pairs; P of the entries into back (entry_stride floats each), which
 * is zero before, or NULL. */
template <bool KNOWN>
LS_DEVICE float4 ffm_chunk(const struct ls_cuda_args &a, const struct row_view &r, uint32_t o, uint32_t c, float *back)
{
	uint64_t stride = (uint64_t)a.width * (1 + a.states), block = (uint64_t)a.fields * a.padded;
	const float *record = a.record + o * block + 4 * c;
	float4 total = zero4();
	for (uint32_t i = 0; i < r.n; i++) {
		if (!is_known<KNOWN>(a, r, i))
			continue;
		uint32_t field_i = r.field[i];
		const float *vi = record + r.feature[i] * stride;
		float xi = entry_x(r.x, r.scale, i);
		for (uint32_t lo = i + 1; lo < r.n; lo += 32) {
			uint32_t j = lo + lane_of(), field_j = 0;
			bool here = j < r.n && is_known<KNOWN>(a, r, j);
			float4 ax = zero4(), bx = zero4(), product = zero4();
			if (here) {
				field_j = r.field[j];
				ax = scale4(load4(vi + field_j * a.padded), xi);
				bx = scale4(load4(record + r.feature[j] * stride + field_i * a.padded),
					    entry_x(r.x, r.scale, j));
				product = times4(ax, bx);
			}
			total = add_in_order(total, product, r.n - lo < 32 ? r.n - lo : 32);
			if (!back)
				continue;
			if (here) {
				float *other = back + (uint64_t)j * a.back_each + field_i * a.padded + 4 * c;
				store4(other, plus4(load4(other), ax));
			}
			add_to_own(back + (uint64_t)i * a.back_each + 4 * c, a.padded, here, field_j, bx);
		}
		__syncwarp();
	}
	return total;
}

template <bool KNOWN>
LS_DEVICE float ffm_output(const struct ls_cuda_args &a, const struct row_view &r, uint32_t o, float *back)
{
	uint32_t chunks = a.padded / 4;
	float4 t = zero4(), t2 = zero4();
	for (uint32_t c = 0; c < chunks; c++) {
		float4 total = ffm_chunk<KNOWN>(a, r, o, c, back ? back + (uint64_t)o * a.fields * a.padded : back);
		if (lane_of() == c % 32 && c < 32)
			t = total;
		else if (lane_of() == c % 32)
			t2 = total;
	}
	return linear_score<KNOWN>(a, r, o) + halve_group<32>(t, t2, a.padded);
}

LS_DEVICE void ffm_row(const struct ls_cuda_args &a, uint32_t b, struct row_tops *top)
{
	struct row_view r = batch_row(a, b);
	float *back = a.back + (uint64_t)a.sort.first[b] * a.back_each, one = 0.0f;
	uint64_t size = (uint64_t)r.n * a.back_each;
	for (uint64_t i = 4 * lane_of(); i < size; i += 128)
		store4(back + i, zero4());
	__syncwarp();
	for (uint32_t i = lane_of(); r.x && i < r.n; i += 32)
		top->value = top_of(r.x[i], top->value);
	for (uint32_t o = 0; o < a.outputs; o++) {
		one = ffm_output<true>(a, r, o, back);
		if (a.outputs > 1 && lane_of() == 0)
			a.score[(uint64_t)b * a.outputs + o] = one;
	}
	__syncwarp();
	uint32_t most = 0;
	for (uint64_t i = 4 * lane_of(); i < size; i += 128)
		most = top_of4(load4(back + i), most);
	if (lane_of() == 0)
		end_row(a, b, one, top);
	if (is_infinite(most))
		note_bad(a, a.sort.pick[b]);
	top->back = most > top->back ? most : top->back;
}

extern "C" __global__ void __launch_bounds__(256, 4) ffm_rows(const struct ls_cuda_args a)
{
	__shared__ uint32_t word;
	struct row_tops top = {0, 0, 0, 0, 0};
	if (a.state->stopped)
		return;
	uint32_t rows = a.sort.counts[LS_SORT_ROWS], warps = gridDim.x * blockDim.x / 32;
	for (uint32_t b = (blockIdx.x * blockDim.x + threadIdx.x) / 32; b < rows; b += warps)
		ffm_row(a, b, &top);
	note_tops(a, top, &word);
}

extern "C" __global__ void __launch_bounds__(256, 3) ffm_columns(const struct ls_cuda_args a)
{
	columns<32, LS_FFM>(a);
}

extern "C" __global__ void __launch_bounds__(256) ffm_predict(const struct ls_cuda_args a)
{
	uint64_t warps = (uint64_t)gridDim.x * blockDim.x / 32;
	for (uint64_t r = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32; r < a.predict_rows; r += warps) {
		struct row_view view = predict_row(a, r);
		for (uint32_t o = 0; o < a.outputs; o++) {
			float score = ffm_output<false>(a, view, o, (float *)0);
			if (lane_of() == 0)
				a.predict_score[r * a.outputs + o] = score;
		}
	}
}
