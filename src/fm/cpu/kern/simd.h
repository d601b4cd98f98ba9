/* SIMD vectors for kern.c: LS_SIMD doubles, the width that this instruction set has. The
 * width does not reach the bytes, because lanes are never added to each other here. Owns
 * nothing; any thread. */
#ifndef LS_FM_CPU_KERN_SIMD_H
#define LS_FM_CPU_KERN_SIMD_H

#include <stdint.h>

#include "base/inline.h"
#include "fm/model/cell.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#define LS_SIMD 2
#elif defined(__x86_64__)
#include <immintrin.h>
#if defined(__AVX2__)
#define LS_SIMD 4
#else
#define LS_SIMD 2
#endif
#else
#define LS_SIMD 2
#endif

/* aligned(4): loads and stores may be at any float */
typedef float ls_simd_f32 __attribute__((vector_size(16), aligned(4)));
typedef uint32_t ls_simd_u32 __attribute__((vector_size(16)));
typedef double ls_simd_f64 __attribute__((vector_size(8 * LS_SIMD), aligned(8)));
typedef uint64_t ls_simd_u64 __attribute__((vector_size(8 * LS_SIMD), aligned(8)));

/* slope × factor + magic as bits (LS_CELL_TERM). The product is exact, so fma gives the
 * same. */
INLINE ls_simd_u64 ls_simd_term(double slope, ls_simd_f64 factor)
{
#if defined(__aarch64__)
	return (ls_simd_u64)vfmaq_n_f64(vdupq_n_f64(LS_MAGIC), (float64x2_t)factor, slope);
#elif defined(__AVX2__) && defined(__FMA__)
	return (ls_simd_u64)_mm256_fmadd_pd(_mm256_set1_pd(slope), (__m256d)factor,
					    _mm256_set1_pd(LS_MAGIC));
#else
	return (ls_simd_u64)LS_CELL_TERM(slope, factor);
#endif
}

/* Twice |bits|: ordered as the absolute values are. */
INLINE ls_simd_u32 ls_simd_abs2(ls_simd_f32 v)
{
	return (ls_simd_u32)v + (ls_simd_u32)v;
}

INLINE ls_simd_u32 ls_simd_max(ls_simd_u32 a, ls_simd_u32 b)
{
#if defined(__aarch64__)
	return (ls_simd_u32)vmaxq_u32((uint32x4_t)a, (uint32x4_t)b);
#elif defined(__SSE4_1__)
	return (ls_simd_u32)_mm_max_epu32((__m128i)a, (__m128i)b);
#else
	ls_simd_u32 mask = (ls_simd_u32)(a > b);
	return (a & mask) | (b & ~mask);
#endif
}

/* Signed integers as doubles, rounded to nearest. */
INLINE ls_simd_f64 ls_simd_from_i64(ls_simd_u64 sum)
{
#if defined(__aarch64__)
	return (ls_simd_f64)vcvtq_f64_s64((int64x2_t)sum);
#elif defined(__AVX512DQ__) && defined(__AVX512VL__)
	return (ls_simd_f64)_mm256_cvtepi64_pd((__m256i)sum);
#else
	/* both halves become doubles without rounding; their sum is rounded once */
	ls_simd_u64 low = (sum & 0xffffffffu) | 0x4330000000000000u; /* 2^52 + low */
	/* 2^84 + 2^63 + high 2^32 */
	ls_simd_u64 high = (sum >> 32) ^ 0x4530000080000000u;
	return ((ls_simd_f64)high - 0x1.00000801p84) +
	       (ls_simd_f64)low; /* less 2^84 + 2^63 + 2^52 */
#endif
}

/* 4 doubles, in 4 / LS_SIMD vectors, as floats. */
INLINE ls_simd_f32 ls_simd_to_f32(const ls_simd_f64 *in)
{
#if defined(__aarch64__)
	return (ls_simd_f32)vcvt_high_f32_f64(vcvt_f32_f64((float64x2_t)in[0]), (float64x2_t)in[1]);
#elif defined(__AVX2__)
	return (ls_simd_f32)_mm256_cvtpd_ps((__m256d)in[0]);
#elif defined(__x86_64__)
	return (ls_simd_f32)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)in[0]),
					  _mm_cvtpd_ps((__m128d)in[1]));
#else
	return (ls_simd_f32){(float)in[0][0], (float)in[0][1], (float)in[1][0], (float)in[1][1]};
#endif
}

/* 4 floats from p as doubles, in 4 / LS_SIMD vectors. */
INLINE void ls_simd_to_f64(const float *p, ls_simd_f64 *out)
{
#if defined(__aarch64__)
	float32x4_t x = vld1q_f32(p);
	out[0] = (ls_simd_f64)vcvt_f64_f32(vget_low_f32(x));
	out[1] = (ls_simd_f64)vcvt_high_f64_f32(x);
#elif defined(__AVX2__)
	out[0] = (ls_simd_f64)_mm256_cvtps_pd(_mm_loadu_ps(p));
#elif defined(__x86_64__)
	__m128 x = _mm_loadu_ps(p);
	out[0] = (ls_simd_f64)_mm_cvtps_pd(x);
	out[1] = (ls_simd_f64)_mm_cvtps_pd(_mm_movehl_ps(x, x));
#else
	out[0] = (ls_simd_f64){p[0], p[1]};
	out[1] = (ls_simd_f64){p[2], p[3]};
#endif
}

/* ls_fmaf_by_sum of four lanes. Not inlined, because the kernels would compile twice as
 * long. */
static __attribute__((noinline, unused)) ls_simd_f32
ls_simd_fma_by_sum(ls_simd_f32 a, ls_simd_f32 b, ls_simd_f32 c)
{
	enum { PACKS = 4 / LS_SIMD };
	ls_simd_f64 wide_a[PACKS], wide_b[PACKS], to[PACKS];
	ls_simd_to_f64((const float *)&a, wide_a);
	ls_simd_to_f64((const float *)&b, wide_b);
	ls_simd_to_f64((const float *)&c, to);
	for (int i = 0; i < PACKS; i++) {
		ls_simd_f64 p = wide_a[i] * wide_b[i], s = p + to[i], part = s - p;
		ls_simd_f64 lost = (p - (s - part)) + (to[i] - part);
		ls_simd_u64 bits = (ls_simd_u64)s, up = (ls_simd_u64)(lost > 0.0),
			    down = (ls_simd_u64)(lost < 0.0);
		ls_simd_u64 even = ~bits & 1u & (up | down),
			    less = up ^ (ls_simd_u64)(s > 0.0); /* -1: take it off */
		to[i] = (ls_simd_f64)(bits + ((even ^ less) - less));
	}
	return ls_simd_to_f32(to);
}

INLINE ls_simd_f32 ls_simd_sqrt(ls_simd_f32 x)
{
#if defined(__aarch64__)
	return (ls_simd_f32)vsqrtq_f32((float32x4_t)x);
#elif defined(__x86_64__)
	return (ls_simd_f32)_mm_sqrt_ps((__m128)x);
#else
	return (ls_simd_f32){__builtin_sqrtf(x[0]), __builtin_sqrtf(x[1]), __builtin_sqrtf(x[2]),
			     __builtin_sqrtf(x[3])};
#endif
}

/* Vectors of LS_MID floats, for runs that are too short for LS_WIDE: 8 with AVX2,
 * otherwise 4. */
#if defined(__AVX2__)
#define LS_MID 8
#else
#define LS_MID 4
#endif
typedef float ls_mid_f32 __attribute__((vector_size(4 * LS_MID), aligned(4)));

INLINE ls_mid_f32 ls_mid_sqrt(ls_mid_f32 x)
{
#if defined(__AVX2__)
	return (ls_mid_f32)_mm256_sqrt_ps((__m256)x);
#else
	return ls_simd_sqrt(x);
#endif
}

INLINE ls_simd_f32 ls_simd_set1(float x)
{
	return (ls_simd_f32){x, x, x, x};
}

INLINE ls_mid_f32 ls_mid_set1(float x)
{
#if defined(__AVX2__)
	return (ls_mid_f32)_mm256_set1_ps(x);
#else
	return ls_simd_set1(x);
#endif
}

INLINE ls_simd_f32 ls_simd_fma(ls_simd_f32 a, ls_simd_f32 b, ls_simd_f32 c)
{
#if defined(__aarch64__)
	return (ls_simd_f32)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#elif defined(__FMA__)
	return (ls_simd_f32)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c);
#else
	return ls_simd_fma_by_sum(a, b, c);
#endif
}

/* ls_cell_join. */
INLINE ls_simd_f32 ls_simd_join(ls_simd_f32 u, ls_simd_f32 t, ls_simd_f32 w)
{
	ls_simd_u32 first = (ls_simd_u32)(u == 0.0f);
	return (ls_simd_f32)(((ls_simd_u32)w & first) |
			     ((ls_simd_u32)ls_simd_fma(u, t, w) & ~first));
}

INLINE ls_mid_f32 ls_mid_fma(ls_mid_f32 a, ls_mid_f32 b, ls_mid_f32 c)
{
#if defined(__AVX2__)
	return (ls_mid_f32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
	return ls_simd_fma(a, b, c);
#endif
}

/* --- LS_WIDE floats: the widest vectors that have fma; a test sets another width --- */

#if defined(LS_WIDE)
#elif defined(__AVX512F__)
#define LS_WIDE 16
#elif defined(__AVX2__) && defined(__FMA__)
#define LS_WIDE 8
#else
#define LS_WIDE 4
#endif
typedef float ls_wide_f32 __attribute__((vector_size(4 * LS_WIDE), aligned(4)));

INLINE ls_wide_f32 ls_wide_set1(float x)
{
#if defined(__AVX512F__) && LS_WIDE == 16
	return (ls_wide_f32)_mm512_set1_ps(x);
#elif defined(__AVX2__) && LS_WIDE == 8
	return (ls_wide_f32)_mm256_set1_ps(x);
#else
	ls_wide_f32 ret;
	for (int i = 0; i < LS_WIDE / 4; i++)
		((ls_simd_f32 *)&ret)[i] = ls_simd_set1(x);
	return ret;
#endif
}

INLINE ls_wide_f32 ls_wide_fma(ls_wide_f32 a, ls_wide_f32 b, ls_wide_f32 c)
{
#if defined(__AVX512F__) && LS_WIDE == 16
	return (ls_wide_f32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX2__) && defined(__FMA__) && LS_WIDE == 8
	return (ls_wide_f32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
	ls_wide_f32 ret;
	for (int i = 0; i < LS_WIDE / 4; i++)
		((ls_simd_f32 *)&ret)[i] = ls_simd_fma(
			((ls_simd_f32 *)&a)[i], ((ls_simd_f32 *)&b)[i], ((ls_simd_f32 *)&c)[i]);
	return ret;
#endif
}

/* 4 sums, in 4 / LS_SIMD vectors, as floats. */
INLINE ls_simd_f32 ls_simd_sums_to_f32(const ls_simd_u64 *sum)
{
	ls_simd_f64 value[4 / LS_SIMD];
	for (int h = 0; h < 4 / LS_SIMD; h++)
		value[h] = ls_simd_from_i64(sum[h]);
	return ls_simd_to_f32(value);
}

#endif
