/* Operations on rows (exact/rows.h). A team of threads has a row: a warp, or a block. It
 * reads the row once into shared memory where that has room, else from global memory in
 * each pass. */
#include "exact/cuda/device/exact_team.h"
#include "exact/rows.h"
#include "gpu/device.h"

/* The elements of a row, as floats. */
struct elements {
	const float *kept; /* shared memory: operand k at k * n; NULL: none */
	int64_t start[2];
};

static __device__ __forceinline__ float element(const ls_rows &r, const elements &e, int k,
						int64_t j)
{
	const ls_rows_tensor &x = r.in[k];
	return e.kept ? e.kept[k * r.n + j] : ls_reduce_get(x.at, x.type, e.start[k] + j * x.step);
}

static __device__ __forceinline__ float part_of(const ls_rows &r, const ls_rows_vector &x,
						int64_t row, int64_t j, float missing)
{
	return x.at ? ls_reduce_get(x.at, x.type, ls_row_channel(&r, row, j)) : missing;
}

enum { BATCH = 8, WRITTEN = 4 /* elements that a thread loads, and writes, at a time */ };

/* All loads of a batch are under way before the first is used. */
template <int TEAM>
static __device__ __forceinline__ void read_operand(const ls_rows_tensor &x, int64_t start,
						    int64_t n, float *room)
{
	const int64_t size = ls_team_size<TEAM>();
	int64_t j = ls_team_thread<TEAM>();
	for (; j + (BATCH - 1) * size < n; j += BATCH * size) {
		float v[BATCH];
		if (x.type == LS_REDUCE_F32) {
#pragma unroll
			for (int u = 0; u < BATCH; u++)
				v[u] = ((const float *)x.at)[start + (j + u * size) * x.step];
		} else {
			uint16_t half[BATCH];
#pragma unroll
			for (int u = 0; u < BATCH; u++)
				half[u] = ((const uint16_t *)x.at)[start + (j + u * size) * x.step];
#pragma unroll
			for (int u = 0; u < BATCH; u++)
				v[u] = x.type == LS_REDUCE_BF16 ? ls_bf16_value(half[u])
								: ls_f16_value(half[u]);
		}
#pragma unroll
		for (int u = 0; u < BATCH; u++)
			room[j + u * size] = v[u];
	}
	for (; j < n; j += size)
		room[j] = ls_reduce_get(x.at, x.type, start + j * x.step);
}

template <int KIND, int TEAM>
static __device__ __forceinline__ elements read_row(const ls_rows &r, int64_t i, float *room)
{
	elements e;
	e.kept = room;
	for (int k = 0; k < ls_row_operands(KIND); k++) {
		const ls_rows_tensor &x = r.in[k];
		e.start[k] = ls_row_start(&r, &x, i);
		if (room)
			read_operand<TEAM>(x, e.start[k], r.n, room + k * r.n);
	}
	return e; /* a thread reads again only what it has read here itself */
}

/* --- softmax --- */

template <int KIND, int TEAM>
static __device__ __forceinline__ ls_row of_powers(const ls_rows &r, const elements &e, float *room,
						   ls_team_room *team)
{
	ls_row row = {};
	ls_sum_state s = {};
	for (int64_t j = ls_team_thread<TEAM>(); j < r.n; j += ls_team_size<TEAM>())
		s.top[0] = ls_team_larger(s.top[0], ls_float_key(element(r, e, 0, j)));
	ls_team_bounds<TEAM>(&s, LS_TERM_PAIR, team);
	ls_row_set_largest(&row, s.top[0]);
	const double scale = ls_pow2(ls_row_exp_grid(r.n));
	for (int64_t j = ls_team_thread<TEAM>(); j < r.n; j += ls_team_size<TEAM>()) {
		float power = ls_row_exp(&row, element(r, e, 0, j));
		s.sum[0] += ls_term_steps((double)power, scale);
		if (KIND == LS_ROW_SOFTMAX && room)
			room[j] = power;
	}
	ls_team_sums<TEAM>(&s, 1, team);
	ls_row_set_powers(KIND, &row, s.sum[0], r.n);
	return row;
}

/* --- all other kinds --- */

template <int KIND>
static __device__ __forceinline__ void terms_of(const ls_rows &r, const elements &e,
						const ls_row &row, int64_t i, int64_t j,
						double pivot, double *t)
{
	const bool two = ls_row_operands(KIND) == 2;
	const bool weighted = KIND == LS_ROW_NORM_BACK || KIND == LS_ROW_RMS_BACK;
	float w = weighted ? part_of(r, r.weight, i, j, 1.0f) : 1.0f;
	ls_row_terms(KIND, &row, pivot, element(r, e, 0, j), two ? element(r, e, 1, j) : 0.0f, w,
		     t);
}

template <int KIND, int TEAM>
static __device__ __forceinline__ ls_row of_sums(const ls_rows &r, const elements &e, int64_t i,
						 ls_team_room *team)
{
	ls_row row = {};
	ls_sum_state s = {};
	double t[2];
	if (KIND == LS_ROW_NORM_BACK)
		row.mean = (double)ls_reduce_get(r.mean.at, r.mean.type, i);
	if (KIND == LS_ROW_NORM_BACK || KIND == LS_ROW_RMS_BACK)
		row.inverse = (double)ls_reduce_get(r.inverse.at, r.inverse.type, i);
#pragma unroll 4
	for (int64_t j = ls_team_thread<TEAM>(); j < r.n; j += ls_team_size<TEAM>()) {
		if (KIND == LS_ROW_NORM) {
			float x = element(r, e, 0, j);
			uint32_t key = ls_float_key(x);
			s.top[0] = ls_team_larger(s.top[0], key);
			s.top[1] = ls_team_larger(s.top[1], ~key);
			s.flags |= ls_term_flags((double)x);
			continue;
		}
		terms_of<KIND>(r, e, row, i, j, 0.0, t);
		for (int k = 0; k < ls_row_sums(KIND); k++) {
			s.top[k] = ls_team_larger(s.top[k], ls_term_top(t[k]));
			s.flags |= ls_term_flags(t[k]) << (LS_TERM_FLAGS * k);
		}
	}
	ls_team_bounds<TEAM>(&s, LS_TERM_PAIR, team);
	const ls_grids g = ls_grids_of(ls_row_term(KIND), &s, r.n);
#pragma unroll 4
	for (int64_t j = ls_team_thread<TEAM>(); j < r.n; j += ls_team_size<TEAM>()) {
		terms_of<KIND>(r, e, row, i, j, g.pivot, t);
		for (int k = 0; k < ls_row_sums(KIND); k++)
			s.sum[k] += ls_term_steps(t[k], g.scale[k]);
	}
	ls_team_sums<TEAM>(&s, ls_row_sums(KIND), team);
	ls_row_set_sums(&r, &row, &s);
	return row;
}

/* --- results --- */

template <int KIND>
static __device__ __forceinline__ double result_of(const ls_rows &r, const elements &e,
						   const ls_row &row, int64_t i, int64_t j, float a,
						   float b)
{
	const bool forward = KIND == LS_ROW_NORM || KIND == LS_ROW_RMS;
	const bool norm = KIND >= LS_ROW_NORM;
	if (KIND == LS_ROW_SOFTMAX && !e.kept) /* what is kept is the power itself */
		a = ls_row_exp(&row, a);
	return ls_row_result(KIND, &row, a, b,
			     norm ? part_of(r, r.weight, i, j, 1.0f) : 1.0f,
			     forward ? part_of(r, r.bias, i, j, 0.0f) : 0.0f);
}

template <int KIND>
static __device__ __forceinline__ void write_statistics(const ls_rows &r, const ls_row &row,
							int64_t i)
{
	if (KIND == LS_ROW_LOGSUMEXP)
		ls_reduce_put(r.out.at, r.out.type, ls_row_start(&r, &r.out, i),
			      ls_row_logsumexp(&row));
	if (KIND == LS_ROW_NORM && r.mean.at)
		ls_reduce_put(r.mean.at, r.mean.type, i, row.mean);
	if ((KIND == LS_ROW_NORM || KIND == LS_ROW_RMS) && r.inverse.at)
		ls_reduce_put(r.inverse.at, r.inverse.type, i, row.inverse);
}

template <int KIND, int TEAM>
static __device__ __forceinline__ void one_row(const ls_rows &r, int64_t i, float *room,
					       ls_team_room *team)
{
	const elements e = read_row<KIND, TEAM>(r, i, room);
	ls_row row;
	if (KIND <= LS_ROW_LOGSUMEXP)
		row = of_powers<KIND, TEAM>(r, e, room, team);
	else
		row = of_sums<KIND, TEAM>(r, e, i, team);
	if (ls_team_thread<TEAM>() == 0)
		write_statistics<KIND>(r, row, i);
	const int64_t start = ls_row_start(&r, &r.out, i);
	const int64_t n = KIND == LS_ROW_LOGSUMEXP ? 0 : r.n; /* it has one result a row */
	const int64_t size = ls_team_size<TEAM>();
	for (int64_t j = ls_team_thread<TEAM>(); j < n; j += WRITTEN * size) {
		float v[2][WRITTEN];
#pragma unroll
		for (int k = 0; k < ls_row_operands(KIND); k++)
#pragma unroll
			for (int u = 0; u < WRITTEN; u++)
				v[k][u] = j + u * size < n ? element(r, e, k, j + u * size) : 0.0f;
#pragma unroll
		for (int u = 0; u < WRITTEN; u++)
			if (j + u * size < n)
				ls_reduce_put(r.out.at, r.out.type, start + (j + u * size) * r.out.step,
					      result_of<KIND>(r, e, row, i, j + u * size, v[0][u],
							      v[ls_row_operands(KIND) - 1][u]));
	}
}

/* Rows first, first + teams … of a team. FIRST and the kinds after it share a kernel. */
template <int FIRST, int KINDS, int TEAM>
static __device__ __forceinline__ void rows(const ls_rows &given, int keep)
{
	__shared__ ls_rows r;
	__shared__ ls_team_room team;
	LS_DYNAMIC_SHARED(float, memory);
	if (threadIdx.x == 0)
		r = given;
	__syncthreads();
	const unsigned size = ls_team_size<TEAM>(), a_block = blockDim.x / size;
	const int64_t number = threadIdx.x / size, teams = (int64_t)gridDim.x * a_block;
	float *room = keep ? memory + number * ls_row_operands(FIRST) * r.n : nullptr;
	for (int64_t i = blockIdx.x * (int64_t)a_block + number; i < r.rows; i += teams) {
		if (r.kind == FIRST)
			one_row<FIRST, TEAM>(r, i, room, &team);
		else if (KINDS == 2 || r.kind == FIRST + 1)
			one_row<FIRST + 1, TEAM>(r, i, room, &team);
		else
			one_row<FIRST + KINDS - 1, TEAM>(r, i, room, &team);
	}
}

extern "C" __global__ void __launch_bounds__(256) exact_rows_warp_softmax(ls_rows r, int keep)
{
	rows<LS_ROW_SOFTMAX, 3, 32>(r, keep);
}

extern "C" __global__ void __launch_bounds__(1024) exact_rows_block_softmax(ls_rows r, int keep)
{
	rows<LS_ROW_SOFTMAX, 3, LS_TEAM_BLOCK>(r, keep);
}

extern "C" __global__ void __launch_bounds__(256) exact_rows_warp_softmax_back(ls_rows r, int keep)
{
	rows<LS_ROW_SOFTMAX_BACK, 2, 32>(r, keep);
}

extern "C" __global__ void __launch_bounds__(1024)
	exact_rows_block_softmax_back(ls_rows r, int keep)
{
	rows<LS_ROW_SOFTMAX_BACK, 2, LS_TEAM_BLOCK>(r, keep);
}

extern "C" __global__ void __launch_bounds__(256) exact_rows_warp_norm(ls_rows r, int keep)
{
	rows<LS_ROW_NORM, 2, 32>(r, keep);
}

extern "C" __global__ void __launch_bounds__(1024) exact_rows_block_norm(ls_rows r, int keep)
{
	rows<LS_ROW_NORM, 2, LS_TEAM_BLOCK>(r, keep);
}

extern "C" __global__ void __launch_bounds__(256) exact_rows_warp_norm_back(ls_rows r, int keep)
{
	rows<LS_ROW_NORM_BACK, 2, 32>(r, keep);
}

extern "C" __global__ void __launch_bounds__(1024) exact_rows_block_norm_back(ls_rows r, int keep)
{
	rows<LS_ROW_NORM_BACK, 2, LS_TEAM_BLOCK>(r, keep);
}

/* Inclusive sums of sum and flags over the lanes of a warp. */
static __device__ __forceinline__ void scan(uint64_t *sum, uint32_t *flags)
{
	const unsigned lane = threadIdx.x % 32;
	for (unsigned by = 1; by < 32; by *= 2) {
		uint64_t s = __shfl_up_sync(0xffffffffu, (unsigned long long)*sum, by);
		uint32_t f = __shfl_up_sync(0xffffffffu, *flags, by);
		*sum += lane >= by ? s : 0;
		*flags |= lane >= by ? f : 0;
	}
}

static __device__ __forceinline__ void beginnings(const ls_rows &r, int64_t i)
{
	const int64_t from = ls_row_start(&r, &r.in[0], i), to = ls_row_start(&r, &r.out, i);
	const unsigned lane = threadIdx.x % 32;
	const ls_rows_tensor &x = r.in[0];
	ls_sum_state s = {};
	for (int64_t j = lane; j < r.n; j += 32) {
		float v = ls_reduce_get(x.at, x.type, from + j * x.step);
		s.top[0] = ls_team_larger(s.top[0], ls_row_finite_top(v));
	}
	ls_warp_bounds(&s, LS_TERM_PAIR);
	const int p = ls_term_grid(s.top[0], r.n);
	const double scale = ls_pow2(p);
	uint64_t before = 0;
	uint32_t before_flags = 0;
	for (int64_t first = 0; first < r.n; first += 32) {
		const int64_t j = first + lane;
		float v = j < r.n ? ls_reduce_get(x.at, x.type, from + j * x.step) : 0.0f;
		uint64_t sum = ls_term_steps((double)v, scale);
		uint32_t flags = ls_term_flags((double)v);
		scan(&sum, &flags);
		sum += before;
		flags |= before_flags;
		before = __shfl_sync(0xffffffffu, (unsigned long long)sum, 31);
		before_flags = __shfl_sync(0xffffffffu, flags, 31);
		if (j < r.n)
			ls_reduce_put(r.out.at, r.out.type, to + j * r.out.step,
				      ls_row_beginning(sum, flags, p));
	}
}

/* A warp a row. */
extern "C" __global__ void __launch_bounds__(256) exact_rows_cumsum(ls_rows given)
{
	__shared__ ls_rows r;
	if (threadIdx.x == 0)
		r = given;
	__syncthreads();
	const int64_t warps = (int64_t)gridDim.x * (blockDim.x / 32);
	for (int64_t i = blockIdx.x * (int64_t)(blockDim.x / 32) + threadIdx.x / 32; i < r.rows;
	     i += warps)
		beginnings(r, i);
}
