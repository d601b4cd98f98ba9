/* Loops over a few hundred elements, for the files that are compiled once an instruction
 * set: reading them as floats, and the two halves of their sums. Owns nothing; any
 * thread. */
#ifndef LS_EXACT_CPU_CHUNK_H
#define LS_EXACT_CPU_CHUNK_H

#include <string.h>

#include "base/inline.h"
#include "exact/reduce.h"

enum { LS_CHUNK = 256 };

/* n elements, `stride` apart, as floats */
INLINE void chunk_fetch(const void *at, int type, int64_t stride, int64_t n, float *ret)
{
	const float *f32 = at;
	const uint16_t *u16 = at;
	if (type == LS_REDUCE_F32 && stride == 1)
		memcpy(ret, f32, sizeof(float) * (size_t)n);
	else if (stride == 0) {
		float same = ls_reduce_get(at, type, 0);
		for (int64_t i = 0; i < n; i++)
			ret[i] = same;
	} else if (type == LS_REDUCE_F32)
		for (int64_t i = 0; i < n; i++)
			ret[i] = f32[i * stride];
	else if (type == LS_REDUCE_BF16)
		for (int64_t i = 0; i < n; i++)
			ret[i] = ls_bf16_value(u16[i * stride]);
	else
		for (int64_t i = 0; i < n; i++)
			ret[i] = ls_f16_value(u16[i * stride]);
}

/* The largest exponent, with that of earlier chunks. */
INLINE uint32_t chunk_top(const double *t, int n, uint32_t top)
{
	uint64_t most = (uint64_t)top << 52;
	for (int i = 0; i < n; i++) {
		uint64_t u = ls_bits_d(t[i]) & 0x7fffffffffffffffu;
		most = u > most ? u : most;
	}
	return (uint32_t)(most >> 52);
}

INLINE uint32_t chunk_flags(const double *t, int n)
{
	uint32_t flags = 0;
	for (int i = 0; i < n; i++)
		flags |= ls_term_flags(t[i]);
	return flags;
}

/* The keys of the largest, and of the least inverted; returns the flags. */
INLINE uint32_t chunk_range(const float *x, int n, uint32_t *up, uint32_t *down)
{
	const uint32_t inf = ls_float_key(ls_f_bits(0x7f800000)),
		       minus = ~ls_float_key(ls_f_bits(0xff800000));
	uint32_t most = *up, least = *down, flags = 0;
	for (int i = 0; i < n; i++) {
		uint32_t key = ls_float_key(x[i]);
		most = key > most ? key : most;
		least = ~key > least ? ~key : least;
	}
	*up = most;
	*down = least;
	for (int i = 0; (most >= inf || least >= minus) && i < n; i++)
		flags |= ls_term_flags((double)x[i]);
	return flags;
}

INLINE uint64_t chunk_sum(const double *t, int n, double scale)
{
	uint64_t sum = 0;
	for (int i = 0; i < n; i++)
		sum += ls_bits_d(t[i] * scale + LS_MAGIC);
	return sum - (uint64_t)n * LS_MAGIC_BITS;
}

#endif
