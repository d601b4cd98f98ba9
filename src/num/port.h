/* What lets one source be C17 and CUDA C++: the function qualifier, fixed-width integers, bit casts, the root.
 * Owns nothing. Any thread; device code too.
 * Every header of src/num but num.h compiles with gcc, clang, nvcc and NVRTC and includes nothing beyond this file. */
#ifndef LS_NUM_PORT_H
#define LS_NUM_PORT_H

#if defined(__FAST_MATH__) || (defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && !defined(__CUDACC__))
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
#define LS_FN static inline __attribute__((always_inline, unused)) /* a loop around a call must vectorise */
#endif

/* The NaN that a function of ours returns: one pattern on every machine (x86 would make ffc00000, CUDA 7fffffff). */
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
#endif

#endif
