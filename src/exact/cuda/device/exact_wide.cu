/* Random numbers, dropout and casts; and whether a tensor has an element that is not
 * finite. A thread takes groups of four elements, which share their random words. */
#include "exact/cuda/device/exact_vector.h"
#include "exact/wide.h"

enum { GROUP = 4 };

template <int KIND, int INPUTS, int OUTPUTS>
static __device__ __forceinline__ void group(const ls_wide &w, const struct ls_perm &perm,
					     int64_t from, int n)
{
	uint64_t number = w.first + (uint64_t)from;
	ls_u32x4 words = {{0, 0, 0, 0}};
	double y[2][GROUP] = {};
	const double numbers[2] = {w.number[0], w.number[1]};
	for (int i = 0; i < n; i++, number++) {
		double x = 0, out[2] = {0, 0};
		if (ls_wide_is_random(KIND) && (i == 0 || number % GROUP == 0))
			words = ls_wide_words(w.key, number, 0);
		if (INPUTS)
			x = ls_wide_load(w.t[0].at, w.t[0].type,
					 ls_elem_locate(w.ndim, w.size, w.t[0].stride, from + i));
		ls_wide_formula(KIND, w.key, &perm, numbers, number, words.v, x, w.t[INPUTS].type,
				out);
		y[0][i] = out[0];
		y[1][i] = out[1];
	}
	for (int k = 0; k < OUTPUTS; k++)
		for (int i = 0; i < n; i++) {
			int64_t at =
				ls_elem_locate(w.ndim, w.size, w.t[INPUTS + k].stride, from + i);
			ls_wide_store(w.t[INPUTS + k].at, w.t[INPUTS + k].type, at, y[k][i]);
		}
}

/* The same for contiguous tensors, and `from` + w.first a multiple of GROUP. */
template <int KIND, int INPUTS, int OUTPUTS>
static __device__ __forceinline__ void vector(const ls_wide &w, const struct ls_perm &perm,
					      int64_t from)
{
	const double numbers[2] = {w.number[0], w.number[1]};
	const uint64_t number = w.first + (uint64_t)from;
	ls_u32x4 words = {{0, 0, 0, 0}};
	float x[GROUP] = {};
	double y[2][GROUP] = {};
	if (ls_wide_is_random(KIND))
		words = ls_wide_words(w.key, number, 0);
	if (INPUTS)
		ls_vector_load<GROUP>(w.t[0], from, 1, x);
#pragma unroll
	for (int i = 0; i < GROUP; i++) {
		double out[2] = {0, 0};
		ls_wide_formula(KIND, w.key, &perm, numbers, number + i, words.v, (double)x[i],
				w.t[INPUTS].type, out);
		y[0][i] = out[0];
		y[1][i] = out[1];
	}
#pragma unroll
	for (int k = 0; k < OUTPUTS; k++)
		ls_vector_store(w.t[INPUTS + k], from, y[k]);
}

template <int KIND, int INPUTS, int OUTPUTS> static __device__ void all(const ls_wide &w)
{
	const int64_t threads = (int64_t)gridDim.x * blockDim.x;
	struct ls_perm perm; /* a copy: old PTX has no addresses of parameters */
	if (KIND == LS_WIDE_RANDPERM) {
		perm.n = w.perm.n;
		perm.lo_bits = w.perm.lo_bits;
		perm.hi_bits = w.perm.hi_bits;
#pragma unroll
		for (int k = 0; k < LS_PERM_ROUNDS; k++)
			perm.key[k] = w.perm.key[k];
	}
	int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * GROUP;
	for (; i < w.count; i += threads * GROUP)
		if (w.vectors && w.count - i >= GROUP)
			vector<KIND, INPUTS, OUTPUTS>(w, perm, i);
		else if (w.count - i >= GROUP)
			group<KIND, INPUTS, OUTPUTS>(w, perm, i, GROUP);
		else
			group<KIND, INPUTS, OUTPUTS>(w, perm, i, (int)(w.count - i));
}

extern "C" __global__ void __launch_bounds__(256) exact_wide(ls_wide w)
{
	switch (w.kind) {
	case LS_WIDE_CAST:
		return all<LS_WIDE_CAST, 1, 1>(w);
	case LS_WIDE_RAND:
		return all<LS_WIDE_RAND, 0, 1>(w);
	case LS_WIDE_RANDN:
		return all<LS_WIDE_RANDN, 0, 1>(w);
	case LS_WIDE_RANDINT:
		return all<LS_WIDE_RANDINT, 0, 1>(w);
	case LS_WIDE_BERNOULLI:
		return all<LS_WIDE_BERNOULLI, 0, 1>(w);
	case LS_WIDE_BERNOULLI_TENSOR:
		return all<LS_WIDE_BERNOULLI_TENSOR, 1, 1>(w);
	case LS_WIDE_DROPOUT:
		return all<LS_WIDE_DROPOUT, 1, 2>(w);
	case LS_WIDE_RANDPERM:
		return all<LS_WIDE_RANDPERM, 0, 1>(w);
	}
}

/* w.t[0] is looked at, and w.t[1], one float, becomes 1 where an element is infinite or
 * NaN. All threads that write it write the same. */
extern "C" __global__ void __launch_bounds__(256) exact_not_finite(ls_wide w)
{
	const int64_t threads = (int64_t)gridDim.x * blockDim.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < w.count;
	     i += threads) {
		float x = ls_elem_load(w.t[0].at, w.t[0].type,
				       ls_elem_locate(w.ndim, w.size, w.t[0].stride, i));
		if ((ls_bits_f(x) & 0x7f800000u) == 0x7f800000u)
			*(float *)w.t[1].at = 1.0f;
	}
}
