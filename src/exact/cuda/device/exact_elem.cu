/* Element-wise operations. A thread takes groups of neighbouring elements, a whole grid
 * apart: 4 of float32, or 8 where a tensor has 16 bits, are loads of 16 bytes. */
#include "exact/cuda/device/exact_vector.h"
#include "exact/elem.h"
#include "exact/elem_double.h"
#include "exact/elem_float.h"
#include "exact/elem_optim.h"

static __device__ __forceinline__ int64_t locate(const ls_elem &e, int k, int64_t number)
{
	return ls_elem_locate(e.ndim, e.size, e.t[k].stride, number);
}

/* --- formulas: of `V` elements, by kind; kinds with other numbers of inputs and outputs are
 * left out --- */

template <int INPUTS, int OUTPUTS, int V>
static __device__ __forceinline__ void compute_float(const ls_elem &e, const double *n,
						     const float (&x)[INPUTS][V],
						     float (&y)[OUTPUTS][V])
{
	switch (e.kind) {
#define CASE(kind, name, inputs, outputs, tensors, numbers)                                        \
	case LS_ELEM_##kind:                                                                       \
		if (inputs == INPUTS && outputs == OUTPUTS)                                        \
			_Pragma("unroll") for (int i = 0; i < V; i++)                              \
			{                                                                          \
				float in[LS_ELEM_INPUTS] = {}, out[LS_ELEM_OUTPUTS];               \
				for (int k = 0; k < INPUTS; k++)                                   \
					in[k] = x[k][i];                                           \
				ls_elem_do_##kind(in, n, e.flags, out);                            \
				for (int k = 0; k < OUTPUTS; k++)                                  \
					y[k][i] = out[k];                                          \
			}                                                                          \
		break;
		LS_ELEM_FLOAT_KINDS(CASE)
#undef CASE
	}
}

template <int INPUTS, int V>
static __device__ __forceinline__ void
compute_double(const ls_elem &e, const double *n, const float (&x)[INPUTS][V], double (&y)[1][V])
{
	switch (e.kind) {
#define CASE(kind, name, inputs, outputs, tensors, numbers)                                        \
	case LS_ELEM_##kind:                                                                       \
		if (inputs == INPUTS)                                                              \
			_Pragma("unroll") for (int i = 0; i < V; i++) y[0][i] =                    \
				ls_elem_do_##kind((double)x[0][i], (double)x[INPUTS - 1][i], n);   \
		break;
		LS_ELEM_DOUBLE_KINDS(CASE)
#undef CASE
	}
}

template <bool WIDE, int INPUTS, int OUTPUTS, int V> struct formula {
	typedef float value; /* of a result */
	static __device__ __forceinline__ void
	run(const ls_elem &e, const double *n, const float (&x)[INPUTS][V], float (&y)[OUTPUTS][V])
	{
		compute_float<INPUTS, OUTPUTS, V>(e, n, x, y);
	}
};

template <int INPUTS, int OUTPUTS, int V> struct formula<true, INPUTS, OUTPUTS, V> {
	typedef double value;
	static __device__ __forceinline__ void
	run(const ls_elem &e, const double *n, const float (&x)[INPUTS][V], double (&y)[OUTPUTS][V])
	{
		compute_double<INPUTS, V>(e, n, x, y);
	}
};

/* --- loops --- */

template <bool WIDE, int INPUTS, int OUTPUTS, int V>
static __device__ __forceinline__ void group(const ls_elem &e, const double *n, int64_t number)
{
	typedef formula<WIDE, INPUTS, OUTPUTS, V> f;
	float x[INPUTS][V];
	typename f::value y[OUTPUTS][V] = {};
#pragma unroll
	for (int k = 0; k < INPUTS; k++)
		ls_vector_load<V>(e.t[k], locate(e, k, number),
				  e.ndim ? e.t[k].stride[e.ndim - 1] : 0, x[k]);
	f::run(e, n, x, y);
#pragma unroll
	for (int k = 0; k < OUTPUTS; k++)
		ls_vector_store(e.t[INPUTS + k], locate(e, INPUTS + k, number), y[k]);
}

template <bool WIDE, int INPUTS, int OUTPUTS>
static __device__ __forceinline__ void one(const ls_elem &e, const double *n, int64_t number)
{
	typedef formula<WIDE, INPUTS, OUTPUTS, 1> f;
	float x[INPUTS][1];
	typename f::value y[OUTPUTS][1] = {};
#pragma unroll
	for (int k = 0; k < INPUTS; k++)
		x[k][0] = ls_elem_load(e.t[k].at, e.t[k].type, locate(e, k, number));
	f::run(e, n, x, y);
#pragma unroll
	for (int k = 0; k < OUTPUTS; k++)
		ls_elem_store(e.t[INPUTS + k].at, e.t[INPUTS + k].type,
			      locate(e, INPUTS + k, number), (double)y[k][0]);
}

/* A copy: old PTX has no addresses of parameters. */
static __device__ __forceinline__ void take_numbers(const ls_elem &e, double *n)
{
#pragma unroll
	for (int i = 0; i < LS_ELEM_NUMBERS; i++)
		n[i] = e.numbers ? e.numbers[i] : e.number[i];
}

/* Groups of V where the tensors allow it, then what is left, an element at a time. */
template <bool WIDE, int INPUTS, int OUTPUTS, int V>
static __device__ __forceinline__ void all(const ls_elem &e)
{
	const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	const int64_t threads = (int64_t)gridDim.x * blockDim.x;
	double n[LS_ELEM_NUMBERS];
	take_numbers(e, n);
	const int64_t groups = e.vectors ? e.count / V : 0;
	for (int64_t i = thread; i < groups; i += threads)
		group<WIDE, INPUTS, OUTPUTS, V>(e, n, i * V);
	for (int64_t i = groups * V + thread; i < e.count; i += threads)
		one<WIDE, INPUTS, OUTPUTS>(e, n, i);
}

/* A kernel for each number of inputs and outputs: exact/op/elem.c makes their names. */
extern "C" __global__ void __launch_bounds__(256) exact_elem_float_1_1(ls_elem e)
{
	if (e.vectors == 4)
		all<false, 1, 1, 4>(e);
	else
		all<false, 1, 1, 8>(e);
}

extern "C" __global__ void __launch_bounds__(256) exact_elem_float_2_1(ls_elem e)
{
	if (e.vectors == 4)
		all<false, 2, 1, 4>(e);
	else
		all<false, 2, 1, 8>(e);
}

extern "C" __global__ void __launch_bounds__(256) exact_elem_float_3_1(ls_elem e)
{
	if (e.vectors == 4)
		all<false, 3, 1, 4>(e);
	else
		all<false, 3, 1, 8>(e);
}

extern "C" __global__ void __launch_bounds__(256) exact_elem_float_3_2(ls_elem e)
{
	all<false, 3, 2, 4>(e);
}

extern "C" __global__ void __launch_bounds__(256) exact_elem_float_4_3(ls_elem e)
{
	all<false, 4, 3, 4>(e);
}

extern "C" __global__ void __launch_bounds__(256) exact_elem_float_5_4(ls_elem e)
{
	all<false, 5, 4, 4>(e);
}

/* Arithmetic takes longer than memory here. */
extern "C" __global__ void __launch_bounds__(256) exact_elem_double_1_1(ls_elem e)
{
	all<true, 1, 1, 4>(e);
}

extern "C" __global__ void __launch_bounds__(256) exact_elem_double_2_1(ls_elem e)
{
	all<true, 2, 1, 4>(e);
}

/* One thread. e has the numbers of the operation. */
extern "C" __global__ void exact_elem_adam_numbers(ls_elem e, const float *step, double *to)
{
	double given[LS_ELEM_NUMBERS], n[LS_ELEM_NUMBERS];
	e.numbers = 0;
	take_numbers(e, given);
	ls_elem_adam_numbers(given, (double)*step, n);
	for (int i = 0; i < LS_ELEM_NUMBERS; i++)
		to[i] = n[i];
}
