/* Operations on rows (exact/rows.h) of elements that lie side by side, aligned to four of
 * them, and are few enough for the registers of a warp, or of a block of 256: each thread
 * reads its elements once and keeps them through all passes. */
#include "exact/cuda/device/exact_team.h"
#include "exact/rows.h"
#include "gpu/device.h"

enum { GROUP = 4, GROUPS = 8 /* that a thread keeps */ };

/* --- memory, four elements at a time --- */

static __device__ __forceinline__ float half_value(int type, uint16_t h)
{
	return type == LS_REDUCE_BF16 ? ls_bf16_value(h) : ls_f16_value(h);
}

static __device__ __forceinline__ void load(const void *at, int type, int64_t i, float v[GROUP])
{
	if (type == LS_REDUCE_F32) {
		LS_ALIGNED((const float *)at + i);
		const float4 all = *(const float4 *)((const float *)at + i);
		v[0] = all.x, v[1] = all.y, v[2] = all.z, v[3] = all.w;
		return;
	}
	const ushort4 all = *(const ushort4 *)((const uint16_t *)at + i);
	v[0] = half_value(type, all.x), v[1] = half_value(type, all.y);
	v[2] = half_value(type, all.z), v[3] = half_value(type, all.w);
}

static __device__ __forceinline__ uint16_t half_from(int type, double t)
{
	return type == LS_REDUCE_BF16 ? ls_bf16_from(t) : ls_f16_from(t);
}

static __device__ __forceinline__ void store(void *at, int type, int64_t i, const double y[GROUP])
{
	if (type == LS_REDUCE_F32)
		*(float4 *)((float *)at + i) = make_float4(ls_f32_from(y[0]), ls_f32_from(y[1]),
							   ls_f32_from(y[2]), ls_f32_from(y[3]));
	else
		*(ushort4 *)((uint16_t *)at + i) =
			make_ushort4(half_from(type, y[0]), half_from(type, y[1]),
				     half_from(type, y[2]), half_from(type, y[3]));
}

/* --- a row --- */

template <int OPERANDS> struct kept {
	float v[OPERANDS][GROUPS][GROUP];
};

/* The first element of group g of this thread. */
template <int TEAM> static __device__ __forceinline__ int first_of(int g)
{
	return (int)(g * ls_team_size<TEAM>() + ls_team_thread<TEAM>()) * GROUP;
}

template <int KIND, int TEAM, int OPERANDS>
static __device__ __forceinline__ void read_row(const ls_rows &r, int64_t i, kept<OPERANDS> &x)
{
#pragma unroll
	for (int k = 0; k < OPERANDS; k++) {
		const int64_t start = ls_row_start(&r, &r.in[k], i);
#pragma unroll
		for (int g = 0; g < GROUPS; g++)
			if (first_of<TEAM>(g) < r.n)
				load(r.in[k].at, r.in[k].type, start + first_of<TEAM>(g),
				     x.v[k][g]);
	}
}

static __device__ __forceinline__ void load_vector(const ls_rows_vector &x, int64_t i,
						   float missing, float v[GROUP])
{
	if (x.at) {
		load(x.at, x.type, i, v);
		return;
	}
#pragma unroll
	for (int e = 0; e < GROUP; e++)
		v[e] = missing;
}

/* --- softmax --- */

template <int KIND, int TEAM, int OPERANDS>
static __device__ __forceinline__ ls_row of_powers(const ls_rows &r, kept<OPERANDS> &x,
						   ls_team_room *team)
{
	ls_row row = {};
	ls_sum_state s = {};
#pragma unroll
	for (int g = 0; g < GROUPS; g++)
		if (first_of<TEAM>(g) < r.n)
#pragma unroll
			for (int e = 0; e < GROUP; e++)
				s.top[0] = ls_team_larger(s.top[0], ls_float_key(x.v[0][g][e]));
	ls_team_bounds<TEAM>(&s, LS_TERM_PAIR, team);
	ls_row_set_largest(&row, s.top[0]);
	const double scale = ls_pow2(ls_row_exp_grid(r.n));
#pragma unroll
	for (int g = 0; g < GROUPS; g++)
		if (first_of<TEAM>(g) < r.n)
#pragma unroll
			for (int e = 0; e < GROUP; e++) {
				const float power = ls_row_exp(&row, x.v[0][g][e]);
				s.sum[0] += ls_term_steps((double)power, scale);
				if (KIND == LS_ROW_SOFTMAX)
					x.v[0][g][e] = power;
			}
	ls_team_sums<TEAM>(&s, 1, team);
	ls_row_set_powers(KIND, &row, s.sum[0], r.n);
	return row;
}

/* --- all other kinds --- */

/* The terms of a group: f(element, terms). */
template <int KIND, int TEAM, int OPERANDS, typename F>
static __device__ __forceinline__ void each_term(const ls_rows &r, const kept<OPERANDS> &x,
						 const ls_row &row, double pivot, F f)
{
	const bool weighted = KIND == LS_ROW_NORM_BACK || KIND == LS_ROW_RMS_BACK;
#pragma unroll
	for (int g = 0; g < GROUPS; g++)
		if (first_of<TEAM>(g) < r.n) {
			float w[GROUP] = {1.0f, 1.0f, 1.0f, 1.0f};
			if (weighted)
				load_vector(r.weight, first_of<TEAM>(g), 1.0f, w);
#pragma unroll
			for (int e = 0; e < GROUP; e++) {
				double t[2];
				ls_row_terms(KIND, &row, pivot, x.v[0][g][e],
					     x.v[OPERANDS - 1][g][e], w[e], t);
				f(x.v[0][g][e], t);
			}
		}
}

template <int KIND, int TEAM, int OPERANDS>
static __device__ __forceinline__ ls_row of_sums(const ls_rows &r, const kept<OPERANDS> &x,
						 int64_t i, ls_team_room *team)
{
	ls_row row = {};
	ls_sum_state s = {};
	if (KIND == LS_ROW_NORM_BACK)
		row.mean = (double)ls_reduce_get(r.mean.at, r.mean.type, i);
	if (KIND == LS_ROW_NORM_BACK || KIND == LS_ROW_RMS_BACK)
		row.inverse = (double)ls_reduce_get(r.inverse.at, r.inverse.type, i);
	each_term<KIND, TEAM>(r, x, row, 0.0, [&](float first, const double *t) {
		if (KIND == LS_ROW_NORM) {
			const uint32_t key = ls_float_key(first);
			s.top[0] = ls_team_larger(s.top[0], key);
			s.top[1] = ls_team_larger(s.top[1], ~key);
			s.flags |= ls_term_flags((double)first);
		}
#pragma unroll
		for (int k = 0; k < (KIND == LS_ROW_NORM ? 0 : ls_row_sums(KIND)); k++) {
			s.top[k] = ls_team_larger(s.top[k], ls_term_top(t[k]));
			s.flags |= ls_term_flags(t[k]) << (LS_TERM_FLAGS * k);
		}
	});
	ls_team_bounds<TEAM>(&s, LS_TERM_PAIR, team);
	const ls_grids grids = ls_grids_of(ls_row_term(KIND), &s, r.n);
	each_term<KIND, TEAM>(r, x, row, grids.pivot, [&](float, const double *t) {
#pragma unroll
		for (int k = 0; k < ls_row_sums(KIND); k++)
			s.sum[k] += ls_term_steps(t[k], grids.scale[k]);
	});
	ls_team_sums<TEAM>(&s, ls_row_sums(KIND), team);
	ls_row_set_sums(&r, &row, &s);
	return row;
}

/* --- results --- */

template <int KIND, int TEAM, int OPERANDS>
static __device__ __forceinline__ void write_row(const ls_rows &r, const kept<OPERANDS> &x,
						 const ls_row &row, int64_t i)
{
	const bool forward = KIND == LS_ROW_NORM || KIND == LS_ROW_RMS;
	const int64_t start = ls_row_start(&r, &r.out, i);
	if (ls_team_thread<TEAM>() == 0) {
		if (KIND == LS_ROW_NORM && r.mean.at)
			ls_reduce_put(r.mean.at, r.mean.type, i, row.mean);
		if (forward && r.inverse.at)
			ls_reduce_put(r.inverse.at, r.inverse.type, i, row.inverse);
	}
#pragma unroll
	for (int g = 0; g < GROUPS; g++)
		if (first_of<TEAM>(g) < r.n) {
			float w[GROUP] = {1.0f, 1.0f, 1.0f, 1.0f}, bias[GROUP] = {};
			double y[GROUP];
			if (KIND >= LS_ROW_NORM)
				load_vector(r.weight, first_of<TEAM>(g), 1.0f, w);
			if (forward)
				load_vector(r.bias, first_of<TEAM>(g), 0.0f, bias);
#pragma unroll
			for (int e = 0; e < GROUP; e++)
				y[e] = ls_row_result(KIND, &row, x.v[0][g][e],
						     x.v[OPERANDS - 1][g][e], w[e], bias[e]);
			store(r.out.at, r.out.type, start + first_of<TEAM>(g), y);
		}
}

template <int KIND, int TEAM>
static __device__ __forceinline__ void rows(const ls_rows &given)
{
	enum { OPERANDS = KIND == LS_ROW_SOFTMAX || KIND == LS_ROW_LOG_SOFTMAX ||
					  KIND == LS_ROW_NORM || KIND == LS_ROW_RMS
				  ? 1
				  : 2 };
	__shared__ ls_rows r;
	__shared__ ls_team_room team;
	if (threadIdx.x == 0)
		r = given;
	__syncthreads();
	const unsigned size = ls_team_size<TEAM>(), a_block = blockDim.x / size;
	const int64_t number = threadIdx.x / size, teams = (int64_t)gridDim.x * a_block;
	for (int64_t i = blockIdx.x * (int64_t)a_block + number; i < r.rows; i += teams) {
		kept<OPERANDS> x;
		ls_row row;
		read_row<KIND, TEAM>(r, i, x);
		if (KIND <= LS_ROW_LOG_SOFTMAX)
			row = of_powers<KIND, TEAM>(r, x, &team);
		else
			row = of_sums<KIND, TEAM>(r, x, i, &team);
		write_row<KIND, TEAM>(r, x, row, i);
	}
}

extern "C" __global__ void __launch_bounds__(256) exact_kept_warp_softmax(ls_rows r)
{
	rows<LS_ROW_SOFTMAX, 32>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_kept_block_softmax(ls_rows r)
{
	rows<LS_ROW_SOFTMAX, LS_TEAM_BLOCK>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_kept_warp_log_softmax(ls_rows r)
{
	rows<LS_ROW_LOG_SOFTMAX, 32>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_kept_block_log_softmax(ls_rows r)
{
	rows<LS_ROW_LOG_SOFTMAX, LS_TEAM_BLOCK>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_kept_warp_softmax_back(ls_rows r)
{
	rows<LS_ROW_SOFTMAX_BACK, 32>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_kept_block_softmax_back(ls_rows r)
{
	rows<LS_ROW_SOFTMAX_BACK, LS_TEAM_BLOCK>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_kept_warp_log_softmax_back(ls_rows r)
{
	rows<LS_ROW_LOG_SOFTMAX_BACK, 32>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_kept_block_log_softmax_back(ls_rows r)
{
	rows<LS_ROW_LOG_SOFTMAX_BACK, LS_TEAM_BLOCK>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_kept_warp_norm(ls_rows r)
{
	rows<LS_ROW_NORM, 32>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_kept_block_norm(ls_rows r)
{
	rows<LS_ROW_NORM, LS_TEAM_BLOCK>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_kept_warp_rms(ls_rows r)
{
	rows<LS_ROW_RMS, 32>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_kept_block_rms(ls_rows r)
{
	rows<LS_ROW_RMS, LS_TEAM_BLOCK>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_kept_warp_norm_back(ls_rows r)
{
	rows<LS_ROW_NORM_BACK, 32>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_kept_block_norm_back(ls_rows r)
{
	rows<LS_ROW_NORM_BACK, LS_TEAM_BLOCK>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_kept_warp_rms_back(ls_rows r)
{
	rows<LS_ROW_RMS_BACK, 32>(r);
}

extern "C" __global__ void __launch_bounds__(256) exact_kept_block_rms_back(ls_rows r)
{
	rows<LS_ROW_RMS_BACK, LS_TEAM_BLOCK>(r);
}
