/* A step of fwfm on a GPU: a warp a row, lanes over cells (a field and a chunk of four factors). cuda_args.h has the
 * plan, cell.h the letters: U and Q are sums over a field's entries, D = sum over fields of r U. */
#include "fm/cuda_lane.h"

LS_DEVICE float field_weight(const struct ls_cuda_args &a, uint32_t o, uint32_t f, uint32_t g)
{
	uint32_t low = f < g ? f : g, high = f < g ? g : f;
	return a.pair[(uint64_t)o * a.n_pairs + (uint64_t)low * a.fields - (uint64_t)low * (low + 1) / 2 + high];
}

/* Where a row's intermediate results are: fields × padded floats each, for one output. */
struct cells {
	float *u, *q, *d;
};

/* U and Q: each cell looks through the row's entries in stored order. */
template <bool KNOWN>
LS_DEVICE void field_sums(const struct ls_cuda_args &a, const struct row_view &r, uint32_t o, struct cells at)
{
	uint64_t stride = (uint64_t)a.width * (1 + a.states);
	uint32_t chunks = a.padded / 4;
	const float *record = a.record + (uint64_t)o * a.padded;
	for (uint32_t cell = lane_of(); cell < a.fields * chunks; cell += 32) {
		uint32_t f = cell / chunks, c = cell % chunks;
		float4 u = zero4(), q = zero4();
		for (uint32_t i = 0; i < r.n; i++)
			if (r.field[i] == f && is_known<KNOWN>(a, r, i))
				add4(&u, &q, load4(record + r.feature[i] * stride + 4 * c), entry_x(r.x, r.scale, i));
		store4(at.u + 4 * cell, u);
		store4(at.q + 4 * cell, q);
	}
	__syncwarp();
}

LS_DEVICE void field_back(const struct ls_cuda_args &a, uint32_t o, struct cells at)
{
	uint32_t chunks = a.padded / 4;
	for (uint32_t cell = lane_of(); cell < a.fields * chunks; cell += 32) {
		uint32_t f = cell / chunks, c = cell % chunks;
		float4 d = zero4();
		for (uint32_t g = 0; g < a.fields; g++)
			d = plus4(d, scale4(load4(at.u + (g * chunks + c) * 4), field_weight(a, o, f, g)));
		store4(at.d + 4 * cell, d);
	}
	__syncwarp();
}

/* A chunk's sum over fields, ascending, of U D - r(f,f) Q. */
LS_DEVICE float4 field_total(const struct ls_cuda_args &a, uint32_t o, struct cells at, uint32_t c)
{
	uint32_t chunks = a.padded / 4;
	float4 total = zero4();
	for (uint32_t f = 0; f < a.fields && c < chunks; f++) {
		uint32_t at4 = (f * chunks + c) * 4;
		float4 u = load4(at.u + at4), d = load4(at.d + at4), q = load4(at.q + at4);
		total = plus4(total, minus4(times4(u, d), scale4(q, field_weight(a, o, f, f))));
	}
	return total;
}

template <bool KNOWN>
LS_DEVICE float fwfm_output(const struct ls_cuda_args &a, const struct row_view &r, uint32_t o, struct cells at)
{
	field_sums<KNOWN>(a, r, o, at);
	field_back(a, o, at);
	float4 t = field_total(a, o, at, lane_of()), t2 = field_total(a, o, at, lane_of() + 32);
	return linear_score<KNOWN>(a, r, o) + 0.5f * halve_group<32>(t, t2, a.padded);
}

LS_DEVICE uint32_t top_of_many(const float *p, uint64_t n)
{
	uint32_t most = 0;
	for (uint64_t i = 4 * lane_of(); i < n; i += 128)
		most = top_of4(load4(p + i), most);
	return most;
}

LS_DEVICE void fwfm_row(const struct ls_cuda_args &a, uint32_t b, struct row_tops *top)
{
	struct row_view r = batch_row(a, b);
	float *sums = a.sums + (uint64_t)2 * b * a.back_each, *back = a.back + (uint64_t)b * a.back_each, one = 0.0f;
	for (uint32_t i = lane_of(); r.x && i < r.n; i += 32)
		top->value = top_of(r.x[i], top->value);
	for (uint32_t o = 0; o < a.outputs; o++) {
		uint64_t from = (uint64_t)o * a.fields * a.padded;
		struct cells at = {sums + from, sums + a.back_each + from, back + from};
		one = fwfm_output<true>(a, r, o, at);
		if (a.outputs > 1 && lane_of() == 0)
			a.score[(uint64_t)b * a.outputs + o] = one;
	}
	uint32_t most = top_of_many(back, a.back_each), most_sums = top_of_many(sums, 2 * (uint64_t)a.back_each);
	if (lane_of() == 0)
		end_row(a, b, one, top);
	if (is_infinite(most) || is_infinite(most_sums))
		note_bad(a, a.sort.pick[b]);
	top->back = most > top->back ? most : top->back;
	top->sums = most_sums > top->sums ? most_sums : top->sums;
}

extern "C" __global__ void __launch_bounds__(256, 4) fwfm_rows(const struct ls_cuda_args a)
{
	__shared__ uint32_t word;
	struct row_tops top = {0, 0, 0, 0, 0};
	if (a.state->stopped)
		return;
	uint32_t rows = a.sort.counts[LS_SORT_ROWS], warps = gridDim.x * blockDim.x / 32;
	for (uint32_t b = (blockIdx.x * blockDim.x + threadIdx.x) / 32; b < rows; b += warps)
		fwfm_row(a, b, &top);
	note_tops(a, top, &word);
}

extern "C" __global__ void __launch_bounds__(256, 3) fwfm_columns_1(const struct ls_cuda_args a)
{
	columns<1, LS_FWFM>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fwfm_columns_2(const struct ls_cuda_args a)
{
	columns<2, LS_FWFM>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fwfm_columns_4(const struct ls_cuda_args a)
{
	columns<4, LS_FWFM>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fwfm_columns_8(const struct ls_cuda_args a)
{
	columns<8, LS_FWFM>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fwfm_columns_32(const struct ls_cuda_args a)
{
	columns<32, LS_FWFM>(a);
}

/* --- gradient of the field weights --- */

/* dscore/dr(f,g) of a row: halve(U_f U_g), and halve(0.5 (U_f U_f - Q_f)) for f = g. */
LS_DEVICE float pair_slope(const float *u, const float *q, uint32_t f, uint32_t g, uint32_t padded)
{
	float t[LS_HALVE_MAX];
	const float *uf = u + f * padded, *ug = u + g * padded, *qf = q + f * padded;
	for (uint32_t i = 0; i < padded; i++)
		t[i] = f == g ? LS_CELL_OWN_PAIR(uf[i], qf[i]) : uf[i] * ug[i];
	return ls_halve_sum(t, (int)padded);
}

/* The same with 4 or 8 factors, in registers. */
template <int K> LS_DEVICE float pair_slope_of(const float *u, const float *q, uint32_t f, uint32_t g)
{
	float t[K];
	for (int c = 0; c < K; c += 4) {
		float4 a = load4(u + f * K + c), b = load4(u + g * K + c), s = load4(q + f * K + c);
		t[c] = f == g ? LS_CELL_OWN_PAIR(a.x, s.x) : a.x * b.x;
		t[c + 1] = f == g ? LS_CELL_OWN_PAIR(a.y, s.y) : a.y * b.y;
		t[c + 2] = f == g ? LS_CELL_OWN_PAIR(a.z, s.z) : a.z * b.z;
		t[c + 3] = f == g ? LS_CELL_OWN_PAIR(a.w, s.w) : a.w * b.w;
	}
	return K == 4 ? ls_halve_4(t[0], t[1], t[2], t[3]) : ls_halve_8(t);
}

/* The first field of pair number p: counted from the front, rows of fields - f pairs. */
LS_DEVICE uint32_t first_field(uint32_t fields, uint32_t p, uint32_t *ret_second)
{
	uint32_t f = 0, left = p;
	for (; left >= fields - f; f++)
		left -= fields - f;
	*ret_second = f + left;
	return f;
}

/* A block takes a stripe of rows; a thread one pair of one output at a time. */
LS_DEVICE void pair_sums(const struct ls_cuda_args &a, const struct column_step *c)
{
	uint32_t each = (c->n_rows + gridDim.x - 1) / gridDim.x, lo = blockIdx.x * each, hi = lo + each;
	hi = hi < c->n_rows ? hi : c->n_rows;
	for (uint64_t i = threadIdx.x; i < (uint64_t)a.outputs * a.n_pairs && lo < hi; i += blockDim.x) {
		uint32_t o = (uint32_t)(i / a.n_pairs), g, f = first_field(a.fields, (uint32_t)(i % a.n_pairs), &g);
		int64_t sum = 0;
		for (uint32_t b = lo; b < hi; b++) {
			const float *u = a.sums + (uint64_t)2 * b * a.back_each + (uint64_t)o * a.fields * a.padded;
			float t = a.padded == 4   ? pair_slope_of<4>(u, u + a.back_each, f, g)
				  : a.padded == 8 ? pair_slope_of<8>(u, u + a.back_each, f, g)
						  : pair_slope(u, u + a.back_each, f, g, a.padded);
			double slope = (double)a.slope[(uint64_t)b * a.outputs + o] * c->grids.pair_scale;
			sum += ls_sum_term(slope * (double)t);
		}
		add_heavy(a.pair_sum + i, (uint64_t)sum);
	}
}

extern "C" __global__ void __launch_bounds__(256) fwfm_pairs(const struct ls_cuda_args a)
{
	__shared__ struct column_step c;
	__shared__ uint32_t word;
	begin_columns(a, &c, &word);
	if (c.go)
		pair_sums(a, &c);
	if (!is_last_block(a, &word))
		return;
	uint64_t n = (uint64_t)a.outputs * a.n_pairs;
	for (uint64_t i = threadIdx.x; i < n && c.go; i += blockDim.x)
		update_one(a, &c.update, a.pair + i, n, ls_sum_float(take_heavy(a.pair_sum + i), c.grids.pair));
	end_step(a, &c);
}

extern "C" __global__ void __launch_bounds__(256) fwfm_predict(const struct ls_cuda_args a)
{
	uint64_t warp = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32,
		 warps = (uint64_t)gridDim.x * blockDim.x / 32;
	float *u = a.scratch + 3 * warp * a.fields * a.padded;
	struct cells at = {u, u + a.fields * a.padded, u + 2 * a.fields * a.padded};
	for (uint64_t r = warp; r < a.predict_rows; r += warps) {
		struct row_view view = predict_row(a, r);
		for (uint32_t o = 0; o < a.outputs; o++) {
			float score = fwfm_output<false>(a, view, o, at);
			if (lane_of() == 0)
				a.predict_score[r * a.outputs + o] = score;
			__syncwarp();
		}
	}
}
