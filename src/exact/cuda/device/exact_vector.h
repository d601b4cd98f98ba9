/* Several neighbouring elements of a tensor at a time, as vector loads and stores of at
 * most 16 bytes. V is 4 or 8. The host has seen to it that they lie side by side, aligned
 * (ls_elem.vectors), or are all one (stride 0). Device code; owns nothing. */
#ifndef LS_EXACT_CUDA_VECTOR_H
#define LS_EXACT_CUDA_VECTOR_H

#include "exact/elem.h"
#include "gpu/device.h"

#if defined(__CUDACC__) || defined(LS_SIMT)

/* Two numbers of 16 bits in a word. */
static __device__ __forceinline__ void ls_vector_split(uint32_t word, int type, float *v)
{
	uint16_t low = (uint16_t)word, high = (uint16_t)(word >> 16);
	v[0] = type == LS_ELEM_BF16 ? ls_bf16_value(low) : ls_f16_value(low);
	v[1] = type == LS_ELEM_BF16 ? ls_bf16_value(high) : ls_f16_value(high);
}

static __device__ __forceinline__ uint32_t ls_vector_join(int type, float a, float b)
{
	uint32_t low = type == LS_ELEM_BF16 ? ls_bf16_round(a) : ls_f16_round(a);
	uint32_t high = type == LS_ELEM_BF16 ? ls_bf16_round(b) : ls_f16_round(b);
	return low | high << 16;
}

static __device__ __forceinline__ uint32_t ls_vector_join(int type, double a, double b)
{
	return ls_vector_join(type, ls_grid_odd_float(a), ls_grid_odd_float(b));
}

static __device__ __forceinline__ float ls_vector_f32(float x)
{
	return ls_f32_canonical(x);
}

static __device__ __forceinline__ float ls_vector_f32(double x)
{
	return ls_f32_from(x);
}

template <int V>
static __device__ __forceinline__ void ls_vector_load(const ls_elem_tensor &x, int64_t at,
						      int64_t stride, float (&v)[V])
{
	if (stride == 0) {
		float same = ls_elem_load(x.at, x.type, at);
#pragma unroll
		for (int i = 0; i < V; i++)
			v[i] = same;
	} else if (x.type == LS_ELEM_F32) {
		const float4 *from = (const float4 *)((const float *)x.at + at);
		LS_ALIGNED(from);
#pragma unroll
		for (int i = 0; i < V; i += 4) {
			float4 a = from[i / 4];
			v[i] = a.x, v[i + 1] = a.y, v[i + 2] = a.z, v[i + 3] = a.w;
		}
	} else if (x.type == LS_ELEM_BF16 || x.type == LS_ELEM_F16) {
		const uint16_t *from = (const uint16_t *)x.at + at;
		uint32_t word[V / 2];
		if (V == 8) {
			LS_ALIGNED(from);
			uint4 a = *(const uint4 *)from;
			word[0] = a.x, word[1] = a.y, word[V / 2 - 2] = a.z, word[V / 2 - 1] = a.w;
		} else {
			uint2 a = *(const uint2 *)from;
			word[0] = a.x, word[1] = a.y;
		}
#pragma unroll
		for (int i = 0; i < V / 2; i++)
			ls_vector_split(word[i], x.type, v + 2 * i);
	} else {
#pragma unroll
		for (int i = 0; i < V; i++)
			v[i] = ls_elem_load(x.at, x.type, at + i);
	}
}

/* T: float, whose values are final but for the rounding to 16 bits, or double. */
template <class T, int V>
static __device__ __forceinline__ void ls_vector_store(const ls_elem_tensor &x, int64_t at,
						       const T (&v)[V])
{
	if (x.type == LS_ELEM_F32) {
		float4 *to = (float4 *)((float *)x.at + at);
		LS_ALIGNED(to);
#pragma unroll
		for (int i = 0; i < V; i += 4)
			to[i / 4] = make_float4(ls_vector_f32(v[i]), ls_vector_f32(v[i + 1]),
						ls_vector_f32(v[i + 2]), ls_vector_f32(v[i + 3]));
	} else if (x.type == LS_ELEM_BF16 || x.type == LS_ELEM_F16) {
		uint16_t *to = (uint16_t *)x.at + at;
		uint32_t word[V / 2];
#pragma unroll
		for (int i = 0; i < V / 2; i++)
			word[i] = ls_vector_join(x.type, v[2 * i], v[2 * i + 1]);
		if (V == 8) {
			LS_ALIGNED(to);
			*(uint4 *)to =
				make_uint4(word[0], word[1], word[V / 2 - 2], word[V / 2 - 1]);
		} else {
			*(uint2 *)to = make_uint2(word[0], word[1]);
		}
	} else {
#pragma unroll
		for (int i = 0; i < V; i++)
			ls_elem_store(x.at, x.type, at + i, (double)v[i]);
	}
}

#endif

#endif
