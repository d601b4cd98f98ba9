/* Element-wise operations. A thread takes groups of LS_ELEM_VECTOR elements, a whole grid
 * apart. */
#include "exact/elem.h"
#include "gpu/device.h"

/* Where the element lies in tensor k. */
static __device__ __forceinline__ int64_t locate(const ls_elem &e, int k, int64_t number)
{
	int64_t at = 0;
	for (int d = e.ndim - 1; d > 0; d--) {
		int64_t size = e.size[d], rest;
		if ((uint64_t)(number | size) >> 32) {
			rest = number % size;
			number /= size;
		} else { /* a division of 32 bits is several times as fast */
			rest = (uint32_t)number % (uint32_t)size;
			number = (uint32_t)number / (uint32_t)size;
		}
		at += rest * e.t[k].stride[d];
	}
	return e.ndim ? at + number * e.t[k].stride[0] : 0;
}

static __device__ __forceinline__ void load_group(const ls_elem_tensor &x, int64_t at,
						  int64_t stride, float *v)
{
	if (stride == 0) {
		float same = ls_elem_load(x.at, x.type, at);
		for (int i = 0; i < LS_ELEM_VECTOR; i++)
			v[i] = same;
	} else if (x.type == LS_ELEM_F32) {
		const float4 *from = (const float4 *)((const float *)x.at + at);
		LS_ALIGNED(from);
		float4 a = from[0], b = from[1];
		v[0] = a.x, v[1] = a.y, v[2] = a.z, v[3] = a.w;
		v[4] = b.x, v[5] = b.y, v[6] = b.z, v[7] = b.w;
	} else if (x.type == LS_ELEM_BF16 || x.type == LS_ELEM_F16) {
		const uint4 *from = (const uint4 *)((const uint16_t *)x.at + at);
		LS_ALIGNED(from);
		uint4 a = *from;
		const uint32_t word[4] = {a.x, a.y, a.z, a.w};
		for (int i = 0; i < LS_ELEM_VECTOR; i++) {
			uint16_t h = (uint16_t)(word[i / 2] >> (i % 2 * 16));
			v[i] = x.type == LS_ELEM_BF16 ? ls_bf16_value(h) : ls_f16_value(h);
		}
	} else {
		for (int i = 0; i < LS_ELEM_VECTOR; i++)
			v[i] = ls_elem_load(x.at, x.type, at + i);
	}
}

static __device__ __forceinline__ void store_group(const ls_elem_tensor &x, int64_t at,
						   const double *v)
{
	if (x.type == LS_ELEM_F32) {
		float4 *to = (float4 *)((float *)x.at + at);
		LS_ALIGNED(to);
		to[0] = make_float4(ls_f32_from(v[0]), ls_f32_from(v[1]), ls_f32_from(v[2]),
				    ls_f32_from(v[3]));
		to[1] = make_float4(ls_f32_from(v[4]), ls_f32_from(v[5]), ls_f32_from(v[6]),
				    ls_f32_from(v[7]));
	} else if (x.type == LS_ELEM_BF16 || x.type == LS_ELEM_F16) {
		uint32_t word[4];
		for (int i = 0; i < 4; i++) {
			uint16_t low, high;
			if (x.type == LS_ELEM_BF16)
				low = ls_bf16_from(v[2 * i]), high = ls_bf16_from(v[2 * i + 1]);
			else
				low = ls_f16_from(v[2 * i]), high = ls_f16_from(v[2 * i + 1]);
			word[i] = low | (uint32_t)high << 16;
		}
		uint4 *to = (uint4 *)((uint16_t *)x.at + at);
		LS_ALIGNED(to);
		*to = make_uint4(word[0], word[1], word[2], word[3]);
	} else {
		for (int i = 0; i < LS_ELEM_VECTOR; i++)
			ls_elem_store(x.at, x.type, at + i, v[i]);
	}
}

template <int KIND, int INPUTS, int OUTPUTS>
static __device__ __forceinline__ void group(const ls_elem &e, int64_t number)
{
	float x[INPUTS][LS_ELEM_VECTOR];
	double y[OUTPUTS][LS_ELEM_VECTOR];
#pragma unroll
	for (int k = 0; k < INPUTS; k++)
		load_group(e.t[k], locate(e, k, number), e.ndim ? e.t[k].stride[e.ndim - 1] : 0,
			   x[k]);
#pragma unroll
	for (int i = 0; i < LS_ELEM_VECTOR; i++) {
		float in[LS_ELEM_INPUTS];
		double out[LS_ELEM_OUTPUTS];
#pragma unroll
		for (int k = 0; k < INPUTS; k++)
			in[k] = x[k][i];
		ls_elem_formula(KIND, in, e.number, out);
#pragma unroll
		for (int k = 0; k < OUTPUTS; k++)
			y[k][i] = out[k];
	}
#pragma unroll
	for (int k = 0; k < OUTPUTS; k++)
		store_group(e.t[INPUTS + k], locate(e, INPUTS + k, number), y[k]);
}

template <int KIND, int INPUTS, int OUTPUTS>
static __device__ __forceinline__ void one(const ls_elem &e, int64_t number)
{
	float in[LS_ELEM_INPUTS];
	double out[LS_ELEM_OUTPUTS];
#pragma unroll
	for (int k = 0; k < INPUTS; k++)
		in[k] = ls_elem_load(e.t[k].at, e.t[k].type, locate(e, k, number));
	ls_elem_formula(KIND, in, e.number, out);
#pragma unroll
	for (int k = 0; k < OUTPUTS; k++)
		ls_elem_store(e.t[INPUTS + k].at, e.t[INPUTS + k].type,
			      locate(e, INPUTS + k, number), out[k]);
}

/* Groups where the tensors allow it, then what is left, an element at a time. */
template <int KIND, int INPUTS, int OUTPUTS> static __device__ void all(const ls_elem &e)
{
	const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	const int64_t threads = (int64_t)gridDim.x * blockDim.x;
	const int64_t groups = e.vectors ? e.count / LS_ELEM_VECTOR : 0;
	for (int64_t i = thread; i < groups; i += threads)
		group<KIND, INPUTS, OUTPUTS>(e, i * LS_ELEM_VECTOR);
	for (int64_t i = groups * LS_ELEM_VECTOR + thread; i < e.count; i += threads)
		one<KIND, INPUTS, OUTPUTS>(e, i);
}

/* FIRST and LAST: the kinds that this kernel has. */
template <int FIRST, int LAST> static __device__ __forceinline__ void choose(const ls_elem &e)
{
	switch (e.kind) {
#define CASE(kind, name, inputs, outputs, tensors, numbers)                                        \
	case LS_ELEM_##kind:                                                                       \
		if (LS_ELEM_##kind >= FIRST && LS_ELEM_##kind <= LAST)                             \
			all<LS_ELEM_##kind, inputs, outputs>(e);                                   \
		break;
		LS_ELEM_KINDS(CASE)
#undef CASE
	}
}

extern "C" __global__ void __launch_bounds__(256) exact_elem_float(ls_elem e)
{
	choose<0, LS_ELEM_LAST_FLOAT>(e);
}

extern "C" __global__ void __launch_bounds__(256) exact_elem_double(ls_elem e)
{
	choose<LS_ELEM_LAST_FLOAT + 1, LS_ELEM_COUNT - 1>(e);
}
