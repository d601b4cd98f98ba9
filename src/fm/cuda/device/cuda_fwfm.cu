/* A step of fwfm on a GPU. cuda_args.h has the plan, cell.h the letters: U and W belong
 * to a field's entries, E and D are sums over fields of r U.
 *
 * Any row: a warp a row, with lanes over cells (a field and a chunk of four factors) and
 * results in memory. A row whose fields ascend, as in click logs: a few lanes a row, with
 * results in shared memory. */
#include "fm/cuda/device/cuda_columns.inl.h"

LS_DEVICE float field_weight(const struct ls_cuda_args &a, uint32_t o, uint32_t f, uint32_t g)
{
	uint32_t low = f < g ? f : g, high = f < g ? g : f;
	return a.pair[(uint64_t)o * a.n_pairs + (uint64_t)low * a.fields - (uint64_t)low * (low + 1) / 2 + high];
}

/* Where a row's intermediate results are: fields × padded floats each, for one output. */
struct cells {
	float *u, *w, *d;
};

LS_DEVICE void join4(float4 *u, float4 *w, float4 v, float x)
{
	LS_CELL_JOIN(u->x, w->x, v.x, x, ls_cell_join);
	LS_CELL_JOIN(u->y, w->y, v.y, x, ls_cell_join);
	LS_CELL_JOIN(u->z, w->z, v.z, x, ls_cell_join);
	LS_CELL_JOIN(u->w, w->w, v.w, x, ls_cell_join);
}

/* total + w r, by ls_cell_join. */
LS_DEVICE float4 own4(float4 w, float r, float4 total)
{
	return make_float4(ls_cell_join(w.x, r, total.x), ls_cell_join(w.y, r, total.y), ls_cell_join(w.z, r, total.z),
			   ls_cell_join(w.w, r, total.w));
}

/* U and W: each cell looks through the row's entries in stored order. */
template <bool KNOWN>
LS_DEVICE void field_sums(const struct ls_cuda_args &a, const struct row_view &r, uint32_t o, struct cells at)
{
	uint64_t stride = (uint64_t)a.width * (1 + a.states);
	uint32_t chunks = a.padded / 4;
	const float *record = a.record + (uint64_t)o * a.padded;
	for (uint32_t cell = lane_of(); cell < a.fields * chunks; cell += 32) {
		uint32_t f = cell / chunks, c = cell % chunks;
		float4 u = zero4(), w = zero4();
		for (uint32_t i = 0; i < r.n; i++)
			if (r.field[i] == f && is_known<KNOWN>(a, r, i))
				join4(&u, &w, load4(record + r.feature[i] * stride + 4 * c), entry_x(r.x, r.scale, i));
		store4(at.u + 4 * cell, u);
		store4(at.w + 4 * cell, w);
	}
	__syncwarp();
}

/* E, over the fields before a cell's own; then, if `rest`, D from it. */
LS_DEVICE void field_back(const struct ls_cuda_args &a, uint32_t o, struct cells at, bool rest)
{
	uint32_t chunks = a.padded / 4;
	for (uint32_t cell = lane_of(); cell < a.fields * chunks; cell += 32) {
		uint32_t f = cell / chunks, c = cell % chunks, end = rest ? a.fields : f;
		float4 d = rest ? load4(at.d + 4 * cell) : zero4();
		for (uint32_t g = rest ? f : 0; g < end; g++)
			d = fma4(load4(at.u + (g * chunks + c) * 4), all4(field_weight(a, o, f, g)), d);
		store4(at.d + 4 * cell, d);
	}
	__syncwarp();
}

/* A chunk's sums over fields, ascending, of U E and of r(f,f) W. */
LS_DEVICE float4 field_total(const struct ls_cuda_args &a, uint32_t o, struct cells at, uint32_t c)
{
	uint32_t chunks = a.padded / 4;
	float4 total = zero4(), own = zero4();
	for (uint32_t f = 0; f < a.fields && c < chunks; f++) {
		uint32_t at4 = (f * chunks + c) * 4;
		total = fma4(load4(at.u + at4), load4(at.d + at4), total);
		own = own4(load4(at.w + at4), field_weight(a, o, f, f), own);
	}
	return plus4(total, own);
}

/* KNOWN: in training, which needs D. */
template <bool KNOWN>
LS_DEVICE float fwfm_output(const struct ls_cuda_args &a, const struct row_view &r, uint32_t o, struct cells at)
{
	field_sums<KNOWN>(a, r, o, at);
	field_back(a, o, at, false);
	float4 t = field_total(a, o, at, lane_of()), t2 = field_total(a, o, at, lane_of() + 32);
	__syncwarp();
	if (KNOWN)
		field_back(a, o, at, true);
	return linear_score<KNOWN>(a, r, o) + halve_group<32>(t, t2, a.padded);
}

LS_DEVICE uint32_t top_of_many(const float *p, uint64_t n)
{
	uint32_t most = 0;
	for (uint64_t i = 4 * lane_of(); i < n; i += 128)
		most = top_of4(load4(p + i), most);
	return most;
}

/* The largest |bits| of W, as those of the largest U that products of two of are no
 * less. */
LS_DEVICE uint32_t top_of_own(uint32_t top)
{
	int e = ls_exps_of_products(ls_exp_of(ls_f_bits(top)));
	return is_infinite(top) ? top : (uint32_t)(e + 127) << 23;
}

/* back, sums, own: the largest |bits| of D, U and W. */
LS_DEVICE void note_row(const struct ls_cuda_args &a, uint32_t row, uint32_t back, uint32_t sums, uint32_t own,
			struct row_tops *top)
{
	sums = larger(sums, top_of_own(own));
	if (is_infinite(larger(back, sums)))
		note_bad(a, row);
	top->back = larger(back, top->back);
	top->sums = larger(sums, top->sums);
}

/* Scores and back vectors of a row; returns the score of a single output. */
LS_DEVICE float fwfm_row(const struct ls_cuda_args &a, const struct batch &t, uint32_t b, struct row_tops *top)
{
	struct row_view r = batch_row(a, t, b);
	float *sums = a.sums + (uint64_t)2 * b * a.back_each, *back = a.back + (uint64_t)b * a.back_each, one = 0.0f;
	for (uint32_t o = 0; o < a.outputs; o++) {
		uint64_t from = (uint64_t)o * a.fields * a.padded;
		struct cells at = {sums + from, sums + a.back_each + from, back + from};
		one = fwfm_output<true>(a, r, o, at);
		if (a.outputs > 1 && lane_of() == 0)
			a.score[(uint64_t)b * a.outputs + o] = one;
	}
	note_row(a, t.pick[b], top_of_many(back, a.back_each), top_of_many(sums, a.back_each),
		 top_of_many(sums + a.back_each, a.back_each), top);
	return one;
}

/* --- rows in shared memory --- */

/* K factors, CHUNKS lanes a vector, and SETS of them a row, each with the D of EACH
 * fields out of BLOCK. */
template <int K> struct row_shape {
	enum {
		CHUNKS = K / 4,
		LANES = K == 16 ? 16 : 8,
		SETS = LANES / CHUNKS,
		BLOCK = 40,
		EACH = BLOCK / SETS,
		ROWS = 32 / LANES,                /* a warp */
		ALL = LS_CUDA_THREADS / 32 * ROWS /* a block */
	};
};

/* A row's part of shared memory: cuda_kernels.c counts the same. */
struct shared_row {
	float *u, *linear; /* W is 0, for no field has two entries */
};

template <int K> LS_DEVICE struct shared_row shared_row_of(float *shared, uint32_t fields, uint32_t row)
{
	float *u = shared + row * (fields * (K + 4));
	struct shared_row at = {u, u + fields * K};
	return at;
}

LS_DEVICE uint32_t weight_stride(uint32_t fields)
{
	return (fields + row_shape<8>::BLOCK - 1) / row_shape<8>::BLOCK * row_shape<8>::BLOCK;
}

/* r of one output, as a matrix; all threads of the block call. */
LS_DEVICE void share_weights(const struct ls_cuda_args &a, uint32_t o, float *weights)
{
	uint32_t stride = weight_stride(a.fields);
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < a.fields * stride; i += blockDim.x) {
		uint32_t f = i / stride, g = i % stride;
		weights[i] = g < a.fields ? field_weight(a, o, f, g) : 0.0f;
	}
	__syncthreads();
}

/* U and the weights' terms of a row, whose fields differ. */
template <int K>
LS_DEVICE void share_sums(const struct ls_cuda_args &a, const struct row_view &r, uint32_t o,
			  const struct shared_row &at, uint32_t mask)
{
	enum { CHUNKS = row_shape<K>::CHUNKS, LANES = row_shape<K>::LANES, SETS = row_shape<K>::SETS, AT_ONCE = 5 };
	uint32_t c = lane_of() % CHUNKS, set = lane_of() % LANES / CHUNKS;
	for (uint32_t i = lane_of() % LANES; i < a.fields * CHUNKS && r.n < a.fields; i += LANES)
		store4(at.u + 4 * i, zero4());
	__syncwarp(mask);
	for (uint32_t lo = set; lo < r.n; lo += AT_ONCE * SETS) {
		float4 v[AT_ONCE];
		float x[AT_ONCE], w[AT_ONCE];
		uint32_t field[AT_ONCE];
#pragma unroll
		/* all loads first, so that they overlap */
		for (uint32_t j = 0; j < AT_ONCE; j++) {
			uint32_t i = lo + j * SETS < r.n ? lo + j * SETS : lo, f = r.feature[i];
			field[j] = r.field[i];
			x[j] = entry_x(r.x, r.scale, i);
			v[j] = load4(a.record + (uint64_t)f * (a.width * (1 + a.states)) + o * K + 4 * c);
			w[j] = a.linear[(uint64_t)f * (a.outputs * (1 + a.states)) + o];
		}
#pragma unroll
		for (uint32_t j = 0; j < AT_ONCE; j++) {
			if (lo + j * SETS >= r.n)
				continue;
			store4(at.u + field[j] * K + 4 * c, plus4(zero4(), scale4(v[j], x[j])));
			at.linear[lo + j * SETS] = w[j] * x[j];
		}
	}
	__syncwarp(mask);
}

/* E and then D of the lane's fields, EACH from lo on: so many of U from g on are added.
 * Where g is lo, E of each field is known when its turn comes, and U E goes to *total. */
template <int K>
LS_DEVICE void add_fields(uint32_t fields, const float *weights, const float *u, uint32_t lo, uint32_t g, float4 *d,
			  float4 *total)
{
	enum { EACH = row_shape<K>::EACH };
	uint32_t stride = weight_stride(fields), c4 = 4 * (lane_of() % row_shape<K>::CHUNKS);
#pragma unroll
	for (int j = 0; j < EACH; j++) {
		if (g + j >= fields)
			continue;
		float4 v = load4(u + (g + j) * K + c4);
		*total = g == lo ? fma4(v, d[j], *total) : *total;
#pragma unroll
		for (int k = 0; k < EACH; k++)
			d[k] = fma4(v, all4(weights[(g + j) * stride + lo + k]), d[k]);
	}
}

/* D of a row to `back`; *total gets the chunk's sum over fields, ascending, of U E, which
 * goes from set to set. Returns the largest |bits| of D that the lane has seen. */
template <int K>
LS_DEVICE uint32_t share_back(uint32_t fields, const float *weights, const struct shared_row &at, float *back,
			      float4 *total)
{
	enum { CHUNKS = row_shape<K>::CHUNKS, EACH = row_shape<K>::EACH, LANES = row_shape<K>::LANES };
	uint32_t c = lane_of() % CHUNKS, set = lane_of() % LANES / CHUNKS, most = 0, mask = group_mask<LANES>();
	*total = zero4();
	for (uint32_t block = 0; block < fields; block += row_shape<K>::BLOCK) {
		uint32_t lo = block + set * EACH;
		float4 d[EACH];
#pragma unroll
		for (int k = 0; k < EACH; k++)
			d[k] = zero4();
		for (uint32_t g = 0; g < fields; g += EACH) {
			add_fields<K>(fields, weights, at.u, lo, g, d, total);
			if (g >= block && g < block + row_shape<K>::BLOCK)
				*total = shuffle4(mask, *total, (int)((g - block) / EACH * CHUNKS + c), LANES);
		}
#pragma unroll
		for (int k = 0; k < EACH; k++) {
			if (lo + k >= fields)
				continue;
			store4(back + (lo + k) * K + 4 * c, d[k]);
			most = top_of4(d[k], most);
		}
	}
	return most;
}

template <int K>
LS_DEVICE float shared_output(const struct ls_cuda_args &a, const struct batch &t, const struct row_view &r, uint32_t b,
			      uint32_t o, const float *weights, const struct shared_row &at, struct row_tops *top)
{
	enum { CHUNKS = row_shape<K>::CHUNKS, LANES = row_shape<K>::LANES };
	uint32_t mask = group_mask<LANES>(), cells = a.fields * CHUNKS, most = 0;
	float *sums = a.sums + (uint64_t)2 * b * a.back_each + o * a.fields * K;
	float *back = a.back + (uint64_t)b * a.back_each + o * a.fields * K;
	share_sums<K>(a, r, o, at, mask);
#pragma unroll 5
	for (uint32_t i = lane_of() % LANES; i < cells; i += LANES) {
		float4 u = load4(at.u + 4 * i);
		store4(sums + 4 * i, u);
		store4(sums + a.back_each + 4 * i, zero4());
		most = top_of4(u, most);
	}
	float4 total;
	note_row(a, t.pick[b], share_back<K>(a.fields, weights, at, back, &total), most, 0, top);
	float score = a.bias[o];
#pragma unroll 8
	for (uint32_t i = 0; i < r.n; i++)
		score += at.linear[i];
	score += halve_group<CHUNKS>(plus4(total, zero4()), zero4(), K);
	__syncwarp(mask);
	return score;
}

/* Whether the fields of a row ascend; the lanes of a group get one answer. */
template <int LANES> LS_DEVICE bool fields_ascend(const struct row_view &r)
{
	bool yes = true;
	for (uint32_t i = 1 + lane_of() % LANES; i < r.n; i += LANES)
		yes = yes && r.field[i - 1] < r.field[i];
	return __all_sync(group_mask<LANES>(), yes) != 0;
}

/* The rows of a warp that are not for shared memory, one after another. */
template <int ROWS>
LS_DEVICE void other_rows(const struct ls_cuda_args &a, const struct batch &t, uint32_t first, bool other, float *score,
			  struct row_tops *top)
{
	uint32_t which = __ballot_sync(0xffffffffu, other);
	for (uint32_t i = 0; i < ROWS && which; i++) {
		if (!(which >> i * (32 / ROWS) & 1))
			continue;
		float one = fwfm_row(a, t, first + i, top);
		if (lane_of() == 0)
			score[i] = one;
		__syncwarp();
	}
}

/* Rows lo .. of a block, K factors in shared memory. */
template <int K>
LS_DEVICE void share_rows(const struct ls_cuda_args &a, const struct batch &t, uint32_t lo, bool fresh, float *shared,
			  float *score, struct row_tops *top)
{
	enum { LANES = row_shape<K>::LANES, ROWS = row_shape<K>::ROWS };
	float *weights = shared;
	uint32_t first = threadIdx.x / 32 * ROWS, mine = threadIdx.x / LANES, b = lo + mine;
	struct shared_row at = shared_row_of<K>(shared + a.fields * weight_stride(a.fields), a.fields, mine);
	struct row_view r = batch_row(a, t, b < t.rows ? b : lo);
	bool ascends = fields_ascend<LANES>(r);
	for (uint32_t o = 0; o < a.outputs; o++) {
		if (fresh || a.outputs > 1)
			share_weights(a, o, weights);
		if (!ascends || b >= t.rows)
			continue;
		float one = shared_output<K>(a, t, r, b, o, weights, at, top);
		if (lane_of() % LANES == 0)
			score[mine] = one;
		if (a.outputs > 1 && lane_of() % LANES == 0)
			a.score[(uint64_t)b * a.outputs + o] = one;
	}
	other_rows<ROWS>(a, t, lo + first, !ascends && b < t.rows, score + first, top);
}

/* Rows lo .. of a block, a warp each. */
LS_DEVICE void plain_rows(const struct ls_cuda_args &a, const struct batch &t, uint32_t lo, float *score,
			  struct row_tops *top)
{
	uint32_t warp = threadIdx.x / 32;
	if (lo + warp >= t.rows)
		return;
	float one = fwfm_row(a, t, lo + warp, top);
	if (lane_of() == 0)
		score[warp] = one;
}

/* All rows: scores, then losses, a thread each. K 0: nothing in shared memory. */
template <int K> LS_DEVICE void fwfm_rows(const struct ls_cuda_args &a, float *shared)
{
	enum { R = K ? row_shape < K ? K : 8 > ::ALL : LS_CUDA_THREADS / 32 };
	__shared__ uint32_t words[LS_TOPS];
	__shared__ float score[R];
	struct row_tops top = {0, 0, 0, 0, 0};
	if (a.state->stopped)
		return;
	struct batch t = batch_of(a);
	uint32_t rows = t.rows;
	for (uint32_t lo = blockIdx.x * R; lo < rows; lo += gridDim.x * R) {
		uint32_t mine = lo + threadIdx.x;
		bool ends = threadIdx.x < R && mine < rows;
		struct row_end end = {0, 0.0f, 0.0f};
		if (ends)
			end = begin_row(a, t, mine);
		if (K)
			share_rows<K ? K : 8>(a, t, lo, lo == blockIdx.x * R, shared, score, &top);
		else
			plain_rows(a, t, lo, score, &top);
		__syncthreads();
		if (ends)
			end_row(a, end, mine, score[threadIdx.x], &top);
		__syncthreads();
	}
	note_values(a, t, &top);
	note_tops(a, top, words);
}

extern "C" __global__ void __launch_bounds__(256, 4) fwfm_rows_0(const struct ls_cuda_args a)
{
	fwfm_rows<0>(a, (float *)0);
}
extern "C" __global__ void __launch_bounds__(256, 3) fwfm_rows_4(const struct ls_cuda_args a)
{
	LS_DYNAMIC_SHARED(float, shared);
	fwfm_rows<4>(a, shared);
}
extern "C" __global__ void __launch_bounds__(256, 3) fwfm_rows_8(const struct ls_cuda_args a)
{
	LS_DYNAMIC_SHARED(float, shared);
	fwfm_rows<8>(a, shared);
}
extern "C" __global__ void __launch_bounds__(256, 3) fwfm_rows_16(const struct ls_cuda_args a)
{
	LS_DYNAMIC_SHARED(float, shared);
	fwfm_rows<16>(a, shared);
}

extern "C" __global__ void __launch_bounds__(256, 3) fwfm_columns_1(const struct ls_cuda_args a)
{
	columns<1, LS_FWFM, 1, false>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fwfm_columns_2(const struct ls_cuda_args a)
{
	columns<2, LS_FWFM, 1, false>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fwfm_one_columns_2(const struct ls_cuda_args a)
{
	columns<2, LS_FWFM, 1, true>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fwfm_columns_4(const struct ls_cuda_args a)
{
	columns<4, LS_FWFM, 1, false>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fwfm_one_columns_4(const struct ls_cuda_args a)
{
	columns<4, LS_FWFM, 1, true>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fwfm_columns_8(const struct ls_cuda_args a)
{
	columns<8, LS_FWFM, 1, false>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fwfm_one_columns_8(const struct ls_cuda_args a)
{
	columns<8, LS_FWFM, 1, true>(a);
}
extern "C" __global__ void __launch_bounds__(256, 3) fwfm_columns_32(const struct ls_cuda_args a)
{
	columns<32, LS_FWFM, 1, false>(a);
}

/* --- gradient of the field weights --- */

/* dscore/dr(f,g) of a row: halve(U_f U_g), and halve(W_f) for f = g. */
LS_DEVICE float pair_slope(const float *u, const float *w, uint32_t f, uint32_t g, uint32_t padded)
{
	float t[LS_HALVE_MAX];
	const float *uf = u + f * padded, *ug = u + g * padded, *wf = w + f * padded;
	for (uint32_t i = 0; i < padded; i++)
		t[i] = f == g ? wf[i] : uf[i] * ug[i];
	return ls_halve_sum(t, (int)padded);
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
			float t = pair_slope(u, u + a.back_each, f, g, a.padded);
			double slope = (double)a.slope[(uint64_t)b * a.outputs + o] * c->grids.pair_scale;
			sum += ls_sum_term(slope * (double)t);
		}
		add_heavy(a.pair_sum + i, (uint64_t)sum);
	}
}

/* --- the same with 4 or 8 factors and U in shared memory --- */

/* Fields fall into `sets`, f % sets; a thread has two of them, SIDE fields each, and
 * takes all pairs between the two. ROWS rows at a time are shared, a vector STRIDE floats
 * from the next: neighbouring sets are in different banks. */
template <int K> struct pair_shape {
	enum { SIDE = 4, ROWS = 16, STRIDE = K + 4 };
};

/* Shared memory of a block: cuda_kernels.c counts the same. */
struct pair_shared {
	uint64_t *sum; /* by pair */
	double *slope; /* by row */
	float *u;
};

/* Rows lo .. lo + n of output o; and their own pairs. All threads call. */
template <int K>
LS_DEVICE void share_pairs(const struct ls_cuda_args &a, const struct column_step *c, uint32_t o, uint32_t lo,
			   uint32_t n, const struct pair_shared &at)
{
	enum { STRIDE = pair_shape<K>::STRIDE };
	for (uint32_t i = threadIdx.x; i < n * a.fields; i += blockDim.x) {
		uint32_t b = lo + i / a.fields, f = i % a.fields;
		const float *u = a.sums + (uint64_t)2 * b * a.back_each + (o * a.fields + f) * K, *w = u + a.back_each;
		double slope = (double)a.slope[(uint64_t)b * a.outputs + o] * c->grids.pair_scale;
		float t[K];
#pragma unroll
		for (int k = 0; k < K; k += 4) {
			float4 v = load4(u + k), own = load4(w + k);
			store4(at.u + i * STRIDE + k, v);
			t[k] = own.x;
			t[k + 1] = own.y;
			t[k + 2] = own.z;
			t[k + 3] = own.w;
		}
		if (f == 0)
			at.slope[i / a.fields] = slope;
		uint32_t own = f * a.fields - f * (f + 1) / 2 + f;
		uint64_t term = (uint64_t)ls_sum_term(
			slope * (double)(K == 4 ? ls_halve_4(t[0], t[1], t[2], t[3]) : ls_halve_8(t)));
		if (term)
			atomicAdd((unsigned long long *)&at.sum[own], (unsigned long long)term);
	}
}

template <int K> LS_DEVICE float pair_product(const float4 *u, const float4 *v)
{
	float4 p = times4(u[0], v[0]);
	if (K == 8)
		p = plus4(p, times4(u[1], v[1]));
	return ls_halve_4(p.x, p.y, p.z, p.w);
}

/* One row's pairs between sets s and t into the thread's sums. */
template <int K>
LS_DEVICE void add_pairs(const float *u, double slope, uint32_t fields, uint32_t sets, uint32_t s, uint32_t t,
			 uint64_t *sum)
{
	enum { SIDE = pair_shape<K>::SIDE, STRIDE = pair_shape<K>::STRIDE };
	float4 left[SIDE][2];
#pragma unroll
	for (uint32_t i = 0; i < SIDE; i++) {
		uint32_t f = s + i * sets < fields ? s + i * sets : s;
		left[i][0] = load4(u + f * STRIDE);
		left[i][1] = K == 8 ? load4(u + f * STRIDE + 4) : zero4();
	}
#pragma unroll
	for (uint32_t j = 0; j < SIDE; j++) {
		uint32_t g = t + j * sets < fields ? t + j * sets : t;
		float4 right[2] = {load4(u + g * STRIDE), K == 8 ? load4(u + g * STRIDE + 4) : zero4()};
#pragma unroll
		for (uint32_t i = 0; i < SIDE; i++)
			sum[i * SIDE + j] += ls_bits_d(LS_CELL_TERM(slope, (double)pair_product<K>(left[i], right)));
	}
}

/* The thread's sums of so many rows to those of the block. */
template <int K>
LS_DEVICE void end_pairs(const struct ls_cuda_args &a, uint32_t sets, uint32_t s, uint32_t t, uint32_t rows,
			 const uint64_t *sum, uint64_t *to)
{
	enum { SIDE = pair_shape<K>::SIDE };
#pragma unroll
	for (uint32_t i = 0; i < SIDE; i++)
#pragma unroll
		for (uint32_t j = 0; j < SIDE; j++) {
			uint32_t f = s + i * sets, g = t + j * sets, low = f < g ? f : g, high = f < g ? g : f;
			if (high >= a.fields || low == high || (s == t && i > j))
				continue;
			atomicAdd((unsigned long long *)&to[low * a.fields - low * (low + 1) / 2 + high],
				  (unsigned long long)(sum[i * SIDE + j] - rows * LS_MAGIC_BITS));
		}
}

/* A block takes every so many rows; its threads take the pairs of sets, and the rows
 * among them in turn. */
template <int K>
LS_DEVICE void shared_pair_sums(const struct ls_cuda_args &a, const struct column_step *c, uint32_t o, uint64_t *shared)
{
	enum { SIDE = pair_shape<K>::SIDE, ROWS = pair_shape<K>::ROWS };
	uint32_t sets = (a.fields + SIDE - 1) / SIDE, tiles = sets * (sets + 1) / 2, turns = blockDim.x / tiles;
	uint32_t t, s = first_field(sets, threadIdx.x % tiles, &t), turn = threadIdx.x / tiles, rows = 0;
	/* vectors follow: 16 bytes */
	uint64_t *behind = shared + (a.n_pairs + 1) / 2 * 2;
	struct pair_shared at = {shared, (double *)behind, (float *)(behind + ROWS)};
	uint64_t sum[SIDE * SIDE];
	for (uint32_t i = threadIdx.x; i < a.n_pairs; i += blockDim.x)
		at.sum[i] = 0;
	for (int i = 0; i < SIDE * SIDE; i++)
		sum[i] = 0;
	for (uint32_t lo = blockIdx.x * ROWS; lo < c->n_rows; lo += gridDim.x * ROWS) {
		uint32_t n = c->n_rows - lo < ROWS ? c->n_rows - lo : (uint32_t)ROWS;
		__syncthreads();
		share_pairs<K>(a, c, o, lo, n, at);
		__syncthreads();
		for (uint32_t r = turn; r < n && turn < turns; r += turns, rows++)
			add_pairs<K>(at.u + r * a.fields * pair_shape<K>::STRIDE, at.slope[r], a.fields, sets, s, t,
				     sum);
	}
	if (rows)
		end_pairs<K>(a, sets, s, t, rows, sum, at.sum);
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < a.n_pairs; i += blockDim.x)
		if (at.sum[i])
			add_heavy(a.pair_sum + (uint64_t)o * a.n_pairs + i, at.sum[i]);
}

template <int K> LS_DEVICE void fwfm_pairs(const struct ls_cuda_args &a, uint64_t *shared)
{
	__shared__ struct column_step c;
	__shared__ uint32_t word;
	begin_columns(a, &c, &word);
	if (c.go && !K)
		pair_sums(a, &c);
	for (uint32_t o = 0; c.go && K && o < a.outputs; o++)
		shared_pair_sums<K ? K : 8>(a, &c, o, shared);
	if (!is_last_block(a, &word))
		return;
	uint32_t n = a.outputs * a.n_pairs;
	for (uint32_t i = threadIdx.x; i < n && c.go; i += blockDim.x)
		update_one(a, &c.update, LS_ON_FIELDS, load_one(a, a.pair + i, n), a.pair + i, n,
			   ls_sum_float(take_heavy(a.pair_sum + i), c.grids.pair));
	end_step(a, &c);
}

extern "C" __global__ void __launch_bounds__(256) fwfm_pairs_0(const struct ls_cuda_args a)
{
	fwfm_pairs<0>(a, (uint64_t *)0);
}
extern "C" __global__ void __launch_bounds__(256, 2) fwfm_pairs_4(const struct ls_cuda_args a)
{
	LS_DYNAMIC_SHARED(uint64_t, shared);
	fwfm_pairs<4>(a, shared);
}
extern "C" __global__ void __launch_bounds__(256, 2) fwfm_pairs_8(const struct ls_cuda_args a)
{
	LS_DYNAMIC_SHARED(uint64_t, shared);
	fwfm_pairs<8>(a, shared);
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
