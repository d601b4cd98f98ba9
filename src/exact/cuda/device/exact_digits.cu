/* The sides of an exact product: the grid of each line, and its whole numbers as
 * bytes. */
#include "exact/cuda/device/exact_args.h"

static __device__ __forceinline__ float element(const ls_exact_place &x, int64_t batch,
						int64_t line, int64_t depth)
{
	int64_t at = batch * x.batch + line * x.row + depth * x.column;
	if (x.type == LS_EXACT_IS_F32)
		return ((const float *)x.at)[at];
	uint16_t h = ((const uint16_t *)x.at)[at];
	return x.type == LS_EXACT_IS_BF16 ? ls_bf16_value(h) : ls_f16_value(h);
}

static __device__ __forceinline__ uint32_t magnitude(float x)
{
	return ls_bits_f(x) & 0x7fffffffu;
}

static __device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* A warp a line, of lines whose elements follow each other. Grid: lines, 8 a block; parts
 * of the depth; batches. */
extern "C" __global__ void exact_tops_along(ls_exact_lines s, int64_t part)
{
	int64_t line = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
	int64_t from = blockIdx.y * part, to = from + part < s.depth ? from + part : s.depth;
	uint32_t top = 0;
	for (int64_t d = from + threadIdx.x % 32; line < s.lines && d < to; d += 32)
		top = larger(top, magnitude(element(s.x, blockIdx.z, line, d)));
	for (int by = 16; by; by /= 2)
		top = larger(top, __shfl_xor_sync(0xffffffffu, top, by));
	if (line < s.lines && threadIdx.x % 32 == 0)
		atomicMax(s.top + blockIdx.z * s.lines + line, top);
}

/* A lane a line, of lines that lie side by side. Grid: lines, 32 a block; parts;
 * batches. */
extern "C" __global__ void exact_tops_across(ls_exact_lines s, int64_t part)
{
	int64_t line = (int64_t)blockIdx.x * 32 + threadIdx.x % 32;
	int64_t from = blockIdx.y * part, to = from + part < s.depth ? from + part : s.depth;
	uint32_t top = 0;
	for (int64_t d = from + threadIdx.x / 32; line < s.lines && d < to; d += blockDim.x / 32)
		top = larger(top, magnitude(element(s.x, blockIdx.z, line, d)));
	if (line < s.lines && top)
		atomicMax(s.top + blockIdx.z * s.lines + line, top);
}

/* The whole number of an element, 0 beyond the matrix and in lines that are not
 * finite. */
static __device__ __forceinline__ int32_t whole(const ls_exact_lines &s, int64_t batch,
						int64_t line, int64_t depth)
{
	if (line >= s.lines || depth >= s.depth)
		return 0;
	uint32_t top = s.top[batch * s.lines + line];
	if (top >= 0x7f800000u)
		return 0;
	float first, second;
	ls_grid_scale(s.bits, ls_grid_exp(top), &first, &second);
	return ls_grid_round(element(s.x, batch, line, depth), first, second, s.bits);
}

/* 32 lines of 128 depths, read the way they lie and written line by line. Grid: blocks of
 * lines; of depth; batches. 256 threads. */
extern "C" __global__ void exact_cut(ls_exact_lines s)
{
	__shared__ int32_t q[LS_EXACT_CUT_LINES][LS_EXACT_CUT_DEPTH + 1];
	const int64_t line = (int64_t)blockIdx.x * LS_EXACT_CUT_LINES;
	const int64_t depth = (int64_t)blockIdx.y * LS_EXACT_CUT_DEPTH;
	const bool across = s.x.row == 1;
	for (unsigned i = threadIdx.x; i < LS_EXACT_CUT_LINES * LS_EXACT_CUT_DEPTH;
	     i += blockDim.x) {
		unsigned l = across ? i % LS_EXACT_CUT_LINES : i / LS_EXACT_CUT_DEPTH;
		unsigned d = across ? i / LS_EXACT_CUT_LINES : i % LS_EXACT_CUT_DEPTH;
		q[l][d] = whole(s, blockIdx.z, line + l, depth + d);
	}
	__syncthreads();
	const int planes = s.bits == LS_GRID_FINE ? 3 : 2;
	for (unsigned i = threadIdx.x; i < LS_EXACT_CUT_LINES * LS_EXACT_CUT_DEPTH / 4;
	     i += blockDim.x) {
		unsigned l = i / (LS_EXACT_CUT_DEPTH / 4), d = i % (LS_EXACT_CUT_DEPTH / 4) * 4;
		if (line + l >= s.pad_lines || depth + d >= s.pad_depth)
			continue;
		const int32_t *v = &q[l][d];
		for (int p = 0; p < planes; p++) {
			uint32_t word = 0;
			for (int j = 0; j < 4; j++)
				word |= ((uint32_t)v[j] >> (8 * p) & 0xff) << (8 * j);
			int64_t at = ((p * s.batches + blockIdx.z) * s.pad_lines + line + l) *
					     s.pad_depth +
				     depth + d;
			*(uint32_t *)(s.digits + at) = word;
		}
	}
}
