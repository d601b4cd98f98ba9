/* A step of ffm on a GPU. cuda_args.h has the plan.
 *
 * As on the CPU each unordered pair (i, j) is taken once, in stored order. Any row: a
 * warp a row, with lanes over the other entry of a pair. All lanes make the products of
 * one i, which are then added in the order of j. The P of an entry gets its terms in the
 * order of the other entry's place: first as j, then as i.
 *
 * A row whose fields ascend, as in click logs: its factors are in shared memory, where P
 * is just their transpose. The products are there as well, and one lane a factor adds
 * them up. */
#include "fm/cuda/device/cuda_columns.inl.h"

/* Adds the lane's bx to P of entry i, where two lanes may name the same field: then one
 * lane does it for all, in order. */
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

/* Adds the terms of 32 lanes in order; every lane gets the sum. Lanes without a term have
 * +0, which changes nothing. */
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

/* Chunk c of every pair's product, summed over the pairs; P of the entries into back
 * (entry_stride floats each), which is zero before, or NULL. */
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

/* The score of a row; every lane gets it. */
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
	return linear_score<KNOWN>(a, r, o) + __shfl_sync(0xffffffffu, halve_group<32>(t, t2, a.padded), 0);
}

/* Where the back vectors of a row begin. */
LS_DEVICE float *row_back(const struct ls_cuda_args &a, const struct batch &t, uint32_t b)
{
	return a.back + (uint64_t)(t.first[b] - t.first[0]) * a.back_each;
}

/* Scores and back vectors of a row; returns the score of a single output. */
LS_DEVICE float ffm_row(const struct ls_cuda_args &a, const struct batch &t, uint32_t b, struct row_tops *top)
{
	struct row_view r = batch_row(a, t, b);
	float *back = row_back(a, t, b), one = 0.0f;
	uint64_t size = (uint64_t)r.n * a.back_each;
	for (uint64_t i = 4 * lane_of(); i < size; i += 128)
		store4(back + i, zero4());
	__syncwarp();
	for (uint32_t o = 0; o < a.outputs; o++) {
		one = ffm_output<true>(a, r, o, back);
		if (a.outputs > 1 && lane_of() == 0)
			a.score[(uint64_t)b * a.outputs + o] = one;
	}
	__syncwarp();
	uint32_t most = 0;
	for (uint64_t i = 4 * lane_of(); i < size; i += 128)
		most = top_of4(load4(back + i), most);
	if (is_infinite(most))
		note_bad(a, t.pick[b]);
	top->back = larger(most, top->back);
	return one;
}

/* --- rows in shared memory --- */

/* A row's part of shared memory, for one output: cuda_kernels.c counts the same. */
struct shared_row {
	float *v;       /* entry × field × padded: factors times x */
	/* factor × pair, in the order of pairs, pair_stride floats a factor */
	float *product;
	float *total;   /* by factor: the sum over pairs */
	float *linear;  /* by entry, as are x, feature and field */
	float *x;
	uint32_t *feature, *field;
	uint32_t *of; /* by field: the entry, or ~0 */
};

LS_DEVICE uint32_t pair_stride(uint32_t fields)
{
	return (fields * (fields - 1) / 2 + 3) / 4 * 4;
}

LS_DEVICE struct shared_row shared_row_of(const struct ls_cuda_args &a, float *shared, uint32_t row)
{
	uint32_t square = a.fields * a.fields * a.padded, products = a.padded * pair_stride(a.fields);
	/* rows in different banks */
	uint32_t each = (square + products + a.padded + 5 * a.fields + 31) / 32 * 32 + 4;
	float *v = shared + row * each, *total = v + square + products, *linear = total + a.padded,
	      *x = linear + a.fields;
	uint32_t *feature = (uint32_t *)(x + a.fields);
	struct shared_row at = {v, v + square, total, linear, x, feature, feature + a.fields, feature + 2 * a.fields};
	return at;
}

/* Whether the fields of a row ascend; all lanes of the warp get one answer. */
LS_DEVICE bool fields_ascend(const struct row_view &r)
{
	bool yes = true;
	for (uint32_t i = 1 + lane_of(); i < r.n; i += 32)
		yes = yes && r.field[i - 1] < r.field[i];
	return __all_sync(0xffffffffu, yes) != 0;
}

/* Collects what is known of a row's entries, by one warp. */
LS_DEVICE void share_entries(const struct ls_cuda_args &a, const struct row_view &r, const struct shared_row &at)
{
	for (uint32_t f = lane_of(); f < a.fields; f += 32)
		at.of[f] = ~0u;
	__syncwarp();
	for (uint32_t i = lane_of(); i < r.n; i += 32) {
		at.feature[i] = r.feature[i];
		at.field[i] = r.field[i];
		at.x[i] = entry_x(r.x, r.scale, i);
		at.of[r.field[i]] = i;
	}
}

/* A walk over the cells (entry, chunk of its vector) of a row: from the thread's own on,
 * a block's threads at a time. */
struct walk {
	uint32_t i, cell, cells, step_i, step_cell;
};

LS_DEVICE struct walk walk_from(uint32_t thread, uint32_t threads, uint32_t cells)
{
	struct walk w = {thread / cells, thread % cells, cells, threads / cells, threads % cells};
	return w;
}

LS_DEVICE void walk_on(struct walk *w)
{
	w->i += w->step_i;
	w->cell += w->step_cell;
	if (w->cell >= w->cells) {
		w->cell -= w->cells;
		w->i++;
	}
}

/* Factors of a row, and its terms of linear weights, by the block. */
LS_DEVICE void share_row(const struct ls_cuda_args &a, uint32_t n, uint32_t o, struct walk w,
			 const struct shared_row &at)
{
	enum { AT_ONCE = 6 };
	uint32_t size = a.fields * a.padded, stride = a.width * (1 + a.states);
	for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
		at.linear[i] = a.linear[(uint64_t)at.feature[i] * (a.outputs * (1 + a.states)) + o] * at.x[i];
	while (w.i < n) {
		float4 v[AT_ONCE];
		uint32_t to[AT_ONCE];
#pragma unroll
		/* all loads first, so that they overlap */
		for (int j = 0; j < AT_ONCE; j++) {
			uint32_t i = w.i < n ? w.i : 0;
			v[j] = load4(a.record + (uint64_t)at.feature[i] * stride + o * size + 4 * w.cell);
			v[j] = scale4(v[j], at.x[i]);
			to[j] = w.i < n ? i * size + 4 * w.cell : ~0u;
			walk_on(&w);
		}
#pragma unroll
		for (int j = 0; j < AT_ONCE; j++)
			if (to[j] != ~0u)
				store4(at.v + to[j], v[j]);
	}
}

LS_DEVICE void put_product(float *to, uint32_t stride, float4 p)
{
	to[0] = p.x;
	to[stride] = p.y;
	to[2 * stride] = p.z;
	to[3 * stride] = p.w;
}

/* P of a row's entries, and the products of pairs, by the block; returns the largest
 * |bits| of P. */
LS_DEVICE uint32_t write_back(const struct ls_cuda_args &a, uint32_t n, const struct shared_row &at, struct walk w,
			      float *back)
{
	uint32_t chunks = a.padded / 4, stride = pair_stride(a.fields), most = 0;
#pragma unroll 2
	for (; w.i < n; walk_on(&w)) {
		uint32_t h = chunks == 1 ? w.cell : w.cell / chunks, c = chunks == 1 ? 0 : w.cell % chunks,
			 j = at.of[h];
		float4 p = zero4();
		if (j != ~0u && j != w.i)
			p = load4(at.v + (j * a.fields + at.field[w.i]) * a.padded + 4 * c);
		store4(back + (uint64_t)w.i * a.back_each + 4 * w.cell, p);
		most = top_of4(p, most);
		if (j != ~0u && j > w.i) {
			uint32_t pair = w.i * (2 * n - w.i - 1) / 2 + j - w.i - 1;
			put_product(at.product + 4 * c * stride + pair, stride,
				    times4(load4(at.v + (w.i * a.fields + h) * a.padded + 4 * c), p));
		}
	}
	return most;
}

/* A factor's products, added up in the order of pairs. */
LS_DEVICE float sum_products(const float *product, uint32_t pairs)
{
	float total = 0.0f;
	uint32_t i = 0;
#pragma unroll 4
	for (; i + 4 <= pairs; i += 4) {
		float4 p = load4(product + i);
		total = total + p.x;
		total = total + p.y;
		total = total + p.z;
		total = total + p.w;
	}
	for (; i < pairs; i++)
		total += product[i];
	return total;
}

/* Rows of a block that are in shared memory, and the scores of all. */
struct shared_rows {
	uint32_t length[LS_CUDA_THREADS / 32]; /* ~0: not in shared memory */
	float score[LS_CUDA_THREADS / 32];
};

/* Scores of those rows, by one warp: a lane a row and factor. */
LS_DEVICE void share_scores(const struct ls_cuda_args &a, uint32_t o, float *shared, struct shared_rows *all)
{
	for (uint32_t w = lane_of(); w < a.row_fit * a.padded; w += 32) {
		uint32_t n = all->length[w / a.padded], k = w % a.padded;
		struct shared_row at = shared_row_of(a, shared, w / a.padded);
		if (n != ~0u)
			at.total[k] = sum_products(at.product + k * pair_stride(a.fields), n ? n * (n - 1) / 2 : 0);
	}
	__syncwarp();
	for (uint32_t row = lane_of(); row < a.row_fit; row += 32) {
		struct shared_row at = shared_row_of(a, shared, row);
		float sum = a.bias[o];
		if (all->length[row] == ~0u)
			continue;
		for (uint32_t i = 0; i < all->length[row]; i++)
			sum += at.linear[i];
		all->score[row] = sum + ls_halve_sum(at.total, (int)a.padded);
	}
}

/* Rows lo .. of a block, one output, in shared memory where they can be. All threads
 * call. */
LS_DEVICE void share_output(const struct ls_cuda_args &a, const struct batch &t, uint32_t lo, uint32_t o, float *shared,
			    struct shared_rows *all, struct row_tops *top)
{
	uint32_t cells = a.fields * a.padded / 4;
	struct walk mine = walk_from(threadIdx.x, blockDim.x, cells);
	for (uint32_t r = 0; r < a.row_fit; r++)
		if (all->length[r] != ~0u)
			share_row(a, all->length[r], o, mine, shared_row_of(a, shared, r));
	__syncthreads();
	for (uint32_t r = 0; r < a.row_fit; r++) {
		if (all->length[r] == ~0u)
			continue;
		float *back = row_back(a, t, lo + r) + o * a.fields * a.padded;
		uint32_t most = write_back(a, all->length[r], shared_row_of(a, shared, r), mine, back);
		if (is_infinite(most))
			note_bad(a, t.pick[lo + r]);
		top->back = larger(most, top->back);
	}
	__syncthreads();
	if (threadIdx.x < 32)
		share_scores(a, o, shared, all);
	__syncthreads();
	if (a.outputs > 1 && threadIdx.x < a.row_fit && all->length[threadIdx.x] != ~0u)
		a.score[(uint64_t)(lo + threadIdx.x) * a.outputs + o] = all->score[threadIdx.x];
}

/* Rows lo .. of a block: scores and back vectors. All threads call. */
LS_DEVICE void share_rows(const struct ls_cuda_args &a, const struct batch &t, uint32_t lo, float *shared,
			  struct shared_rows *all, struct row_tops *top)
{
	uint32_t row = lo + threadIdx.x / 32;
	bool there = threadIdx.x / 32 < a.row_fit && row < t.rows;
	struct row_view r = batch_row(a, t, there ? row : lo);
	bool ascends = there && fields_ascend(r);
	if (lane_of() == 0)
		all->length[threadIdx.x / 32] = ascends ? r.n : ~0u;
	if (ascends)
		share_entries(a, r, shared_row_of(a, shared, threadIdx.x / 32));
	__syncthreads();
	for (uint32_t o = 0; o < a.outputs; o++)
		share_output(a, t, lo, o, shared, all, top);
	if (!there || ascends)
		return;
	float one = ffm_row(a, t, row, top);
	if (lane_of() == 0)
		all->score[threadIdx.x / 32] = one;
}

/* A block takes as many rows at a time as fit into its shared memory, or a row a warp
 * where none does. */
extern "C" __global__ void __launch_bounds__(256, 2) ffm_rows(const struct ls_cuda_args a)
{
	LS_DYNAMIC_SHARED(float, shared);
	__shared__ uint32_t words[LS_TOPS];
	__shared__ struct shared_rows all;
	struct row_tops top = {0, 0, 0, 0, 0};
	if (a.state->stopped)
		return;
	struct batch t = batch_of(a);
	uint32_t rows = t.rows, warps = blockDim.x / 32, each = a.row_fit ? a.row_fit : warps;
	for (uint32_t lo = blockIdx.x * each; lo < rows; lo += gridDim.x * each) {
		uint32_t mine = lo + threadIdx.x;
		bool ends = threadIdx.x < each && mine < rows;
		struct row_end end = {0, 0.0f, 0.0f};
		if (ends)
			end = begin_row(a, t, mine);
		if (a.row_fit)
			share_rows(a, t, lo, shared, &all, &top);
		else if (lo + threadIdx.x / 32 < rows)
			all.score[threadIdx.x / 32] = ffm_row(a, t, lo + threadIdx.x / 32, &top);
		__syncthreads();
		if (ends)
			end_row(a, end, mine, all.score[threadIdx.x], &top);
		__syncthreads();
	}
	note_values(a, t, &top);
	note_tops(a, top, words);
}

extern "C" __global__ void __launch_bounds__(256, 2) ffm_columns(const struct ls_cuda_args a)
{
	columns<8, LS_FFM, 5, false>(a);
}
extern "C" __global__ void __launch_bounds__(256, 2) ffm_one_columns(const struct ls_cuda_args a)
{
	columns<8, LS_FFM, 5, true>(a);
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
