/* Lets one source be C17 and CUDA C++: function qualifier, fixed-width integers, bit
 * casts, square root, fma. Owns nothing. Any thread; device code too. All headers of
 * src/num but num.h compile with gcc, clang, nvcc and NVRTC and include nothing else. */
#ifndef LS_NUM_PORT_H
#define LS_NUM_PORT_H

#if defined(__FAST_MATH__) ||                                                                      \
	(defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && !defined(__CUDACC__))
#error "these options let the compiler change results: no -ffast-math, no x87 arithmetic"
#endif

#if defined(__CUDACC_RTC__) /* NVRTC has no standard headers */
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
#else
#include <stdint.h>
#endif

#if defined(__CUDACC__)
#define LS_FN static __device__ __forceinline__
#else
/* Always inlined, so that loops around a call can be vectorised. */
#define LS_FN static inline __attribute__((always_inline, unused))
#endif

/* The NaN that our functions return: one pattern on every machine. */
#define LS_NAN_BITS 0x7fc00000u

#if defined(__CUDACC__)
LS_FN uint32_t ls_bits_f(float x)
{
	return __float_as_uint(x);
}
LS_FN float ls_f_bits(uint32_t u)
{
	return __uint_as_float(u);
}
LS_FN uint64_t ls_bits_d(double x)
{
	return (uint64_t)__double_as_longlong(x);
}
LS_FN double ls_d_bits(uint64_t u)
{
	return __longlong_as_double((long long)u);
}
LS_FN int ls_clz64(uint64_t u) /* u is not 0 */
{
	return __clzll((long long)u);
}
LS_FN float ls_sqrtf(float x)
{
	return __fsqrt_rn(x);
}
LS_FN double ls_sqrt_d(double x)
{
	return __dsqrt_rn(x);
}
LS_FN float ls_fmaf(float a, float b, float c)
{
	return __fmaf_rn(a, b, c);
}
#else
LS_FN uint32_t ls_bits_f(float x)
{
	uint32_t u;
	__builtin_memcpy(&u, &x, sizeof u);
	return u;
}
LS_FN float ls_f_bits(uint32_t u)
{
	float x;
	__builtin_memcpy(&x, &u, sizeof x);
	return x;
}
LS_FN uint64_t ls_bits_d(double x)
{
	uint64_t u;
	__builtin_memcpy(&u, &x, sizeof u);
	return u;
}
LS_FN double ls_d_bits(uint64_t u)
{
	double x;
	__builtin_memcpy(&x, &u, sizeof x);
	return x;
}
LS_FN int ls_clz64(uint64_t u) /* u is not 0 */
{
	return __builtin_clzll(u);
}
LS_FN float ls_sqrtf(float x)
{
	return __builtin_sqrtf(x);
}
LS_FN double ls_sqrt_d(double x)
{
	return __builtin_sqrt(x);
}
/* fma without the instruction. The product is exact in binary64. The sum is rounded to
 * odd: if something is lost and the last bit is 0, the neighbour on that side has a 1.
 * With 29 bits more than a float it is then on the same side of every float, and of every
 * midpoint, as the exact sum. */
LS_FN float ls_fmaf_by_sum(float a, float b, float c)
{
	double p = (double)a * (double)b, s = p + (double)c, part = s - p;
	double lost = (p - (s - part)) + ((double)c - part);
	uint64_t bits = ls_bits_d(s), even = ~bits & 1u;
	even = lost > 0.0 || lost < 0.0 ? even
					: 0; /* neither holds for NaN, as when s is not finite */
	return (float)ls_d_bits((lost > 0.0) == (s > 0.0) ? bits + even : bits - even);
}
LS_FN float ls_fmaf(float a, float b, float c)
{
#if defined(__aarch64__) || defined(__FMA__)
	return __builtin_fmaf(a, b, c);
#else
	return ls_fmaf_by_sum(a, b, c);
#endif
}
#endif

#endif
