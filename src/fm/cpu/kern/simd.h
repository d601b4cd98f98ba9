/* Vectors of lanes for kern.c: LS_PACK doubles at a time, the width that the instruction set of
 * this compilation likes. Which width changes nothing in the bytes: no two lanes are ever added,
 * but by ls_pack_halve. Owns nothing; any thread. */
#ifndef LS_FM_CPU_KERN_SIMD_H
#define LS_FM_CPU_KERN_SIMD_H

#include <stdint.h>

#include "base/inline.h"
#include "fm/model/cell.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#define LS_PACK 2
#elif defined(__x86_64__)
#include <immintrin.h>
#if defined(__AVX2__)
#define LS_PACK 4
#else
#define LS_PACK 2
#endif
#else
#define LS_PACK 2
#endif

/* aligned(4): loads and stores may be at any float */
typedef float ls_pack_f __attribute__((vector_size(16), aligned(4)));
typedef uint32_t ls_pack_s __attribute__((vector_size(16)));
typedef double ls_pack_d __attribute__((vector_size(8 * LS_PACK), aligned(8)));
typedef uint64_t ls_pack_u __attribute__((vector_size(8 * LS_PACK), aligned(8)));

/* slope × factor + magic as bits (LS_CELL_TERM). The product is exact, so one rounding or two come
 * to the same. */
INLINE ls_pack_u ls_pack_term(double slope, ls_pack_d factor)
{
#if defined(__aarch64__)
	return (ls_pack_u)vfmaq_n_f64(vdupq_n_f64(LS_MAGIC), (float64x2_t)factor, slope);
#elif defined(__AVX2__) && defined(__FMA__)
	return (ls_pack_u)_mm256_fmadd_pd(_mm256_set1_pd(slope), (__m256d)factor,
					  _mm256_set1_pd(LS_MAGIC));
#else
	return (ls_pack_u)LS_CELL_TERM(slope, factor);
#endif
}

/* Twice |bits|: the larger, the larger the number. */
INLINE ls_pack_s ls_pack_size(ls_pack_f v)
{
	return (ls_pack_s)v + (ls_pack_s)v;
}

INLINE ls_pack_s ls_pack_larger(ls_pack_s a, ls_pack_s b)
{
#if defined(__aarch64__)
	return (ls_pack_s)vmaxq_u32((uint32x4_t)a, (uint32x4_t)b);
#elif defined(__SSE4_1__)
	return (ls_pack_s)_mm_max_epu32((__m128i)a, (__m128i)b);
#else
	ls_pack_s mask = (ls_pack_s)(a > b);
	return (a & mask) | (b & ~mask);
#endif
}

/* Signed integers as doubles, rounded to nearest. */
INLINE ls_pack_d ls_pack_value(ls_pack_u sum)
{
#if defined(__aarch64__)
	return (ls_pack_d)vcvtq_f64_s64((int64x2_t)sum);
#elif defined(__AVX512DQ__) && defined(__AVX512VL__)
	return (ls_pack_d)_mm256_cvtepi64_pd((__m256i)sum);
#else
	/* both halves become doubles without rounding; their sum is rounded once */
	ls_pack_u low = (sum & 0xffffffffu) | 0x4330000000000000u;   /* 2^52 + low */
	ls_pack_u high = (sum >> 32) ^ 0x4530000080000000u;          /* 2^84 + 2^63 + high 2^32 */
	return ((ls_pack_d)high - 0x1.00000801p84) + (ls_pack_d)low; /* less 2^84 + 2^63 + 2^52 */
#endif
}

/* 4 doubles, in 4 / LS_PACK packs, as floats. */
INLINE ls_pack_f ls_pack_narrow(const ls_pack_d *in)
{
#if defined(__aarch64__)
	return (ls_pack_f)vcvt_high_f32_f64(vcvt_f32_f64((float64x2_t)in[0]), (float64x2_t)in[1]);
#elif defined(__AVX2__)
	return (ls_pack_f)_mm256_cvtpd_ps((__m256d)in[0]);
#elif defined(__x86_64__)
	return (ls_pack_f)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)in[0]), _mm_cvtpd_ps((__m128d)in[1]));
#else
	return (ls_pack_f){(float)in[0][0], (float)in[0][1], (float)in[1][0], (float)in[1][1]};
#endif
}

/* 4 floats from p as doubles, in 4 / LS_PACK packs. */
INLINE void ls_pack_widen(const float *p, ls_pack_d *out)
{
#if defined(__aarch64__)
	float32x4_t x = vld1q_f32(p);
	out[0] = (ls_pack_d)vcvt_f64_f32(vget_low_f32(x));
	out[1] = (ls_pack_d)vcvt_high_f64_f32(x);
#elif defined(__AVX2__)
	out[0] = (ls_pack_d)_mm256_cvtps_pd(_mm_loadu_ps(p));
#elif defined(__x86_64__)
	__m128 x = _mm_loadu_ps(p);
	out[0] = (ls_pack_d)_mm_cvtps_pd(x);
	out[1] = (ls_pack_d)_mm_cvtps_pd(_mm_movehl_ps(x, x));
#else
	out[0] = (ls_pack_d){p[0], p[1]};
	out[1] = (ls_pack_d){p[2], p[3]};
#endif
}

/* ls_fmaf_by_sum. Not inline: the kernels have so many of them that they took a compiler twice as
 * long. */
static __attribute__((noinline, unused)) ls_pack_f ls_pack_fma_by_sum(ls_pack_f a, ls_pack_f b,
								      ls_pack_f c)
{
	enum { PACKS = 4 / LS_PACK };
	ls_pack_d wide_a[PACKS], wide_b[PACKS], to[PACKS];
	ls_pack_widen((const float *)&a, wide_a);
	ls_pack_widen((const float *)&b, wide_b);
	ls_pack_widen((const float *)&c, to);
	for (int i = 0; i < PACKS; i++) {
		ls_pack_d p = wide_a[i] * wide_b[i], s = p + to[i], part = s - p;
		ls_pack_d lost = (p - (s - part)) + (to[i] - part);
		ls_pack_u bits = (ls_pack_u)s, up = (ls_pack_u)(lost > 0.0),
			  down = (ls_pack_u)(lost < 0.0);
		ls_pack_u even = ~bits & 1u & (up | down),
			  less = up ^ (ls_pack_u)(s > 0.0); /* -1: take it off */
		to[i] = (ls_pack_d)(bits + ((even ^ less) - less));
	}
	return ls_pack_narrow(to);
}

INLINE ls_pack_f ls_pack_sqrt(ls_pack_f x)
{
#if defined(__aarch64__)
	return (ls_pack_f)vsqrtq_f32((float32x4_t)x);
#elif defined(__x86_64__)
	return (ls_pack_f)_mm_sqrt_ps((__m128)x);
#else
	return (ls_pack_f){__builtin_sqrtf(x[0]), __builtin_sqrtf(x[1]), __builtin_sqrtf(x[2]),
			   __builtin_sqrtf(x[3])};
#endif
}

/* LS_MID floats at a time, for runs that LS_WIDE may be too many for: 8 with AVX2, else 4. */
#if defined(__AVX2__)
#define LS_MID 8
#else
#define LS_MID 4
#endif
typedef float ls_mid_f __attribute__((vector_size(4 * LS_MID), aligned(4)));

INLINE ls_mid_f ls_mid_sqrt(ls_mid_f x)
{
#if defined(__AVX2__)
	return (ls_mid_f)_mm256_sqrt_ps((__m256)x);
#else
	return ls_pack_sqrt(x);
#endif
}

INLINE ls_pack_f ls_pack_all(float x)
{
	return (ls_pack_f){x, x, x, x};
}

INLINE ls_mid_f ls_mid_all(float x)
{
#if defined(__AVX2__)
	return (ls_mid_f)_mm256_set1_ps(x);
#else
	return ls_pack_all(x);
#endif
}

INLINE ls_pack_f ls_pack_fma(ls_pack_f a, ls_pack_f b, ls_pack_f c)
{
#if defined(__aarch64__)
	return (ls_pack_f)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#elif defined(__FMA__)
	return (ls_pack_f)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c);
#else
	return ls_pack_fma_by_sum(a, b, c);
#endif
}

/* ls_cell_join. */
INLINE ls_pack_f ls_pack_join(ls_pack_f u, ls_pack_f t, ls_pack_f w)
{
	ls_pack_s first = (ls_pack_s)(u == 0.0f);
	return (ls_pack_f)(((ls_pack_s)w & first) | ((ls_pack_s)ls_pack_fma(u, t, w) & ~first));
}

INLINE ls_mid_f ls_mid_fma(ls_mid_f a, ls_mid_f b, ls_mid_f c)
{
#if defined(__AVX2__)
	return (ls_mid_f)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
	return ls_pack_fma(a, b, c);
#endif
}

/* --- LS_WIDE floats at a time: the widest vectors that have fma. (A test sets another width, which
 * every processor can do somehow.) --- */

#if defined(LS_WIDE)
#elif defined(__AVX512F__)
#define LS_WIDE 16
#elif defined(__AVX2__) && defined(__FMA__)
#define LS_WIDE 8
#else
#define LS_WIDE 4
#endif
typedef float ls_wide_f __attribute__((vector_size(4 * LS_WIDE), aligned(4)));

INLINE ls_wide_f ls_wide_all(float x)
{
#if defined(__AVX512F__) && LS_WIDE == 16
	return (ls_wide_f)_mm512_set1_ps(x);
#elif defined(__AVX2__) && LS_WIDE == 8
	return (ls_wide_f)_mm256_set1_ps(x);
#else
	ls_wide_f ret;
	for (int i = 0; i < LS_WIDE / 4; i++)
		((ls_pack_f *)&ret)[i] = ls_pack_all(x);
	return ret;
#endif
}

INLINE ls_wide_f ls_wide_fma(ls_wide_f a, ls_wide_f b, ls_wide_f c)
{
#if defined(__AVX512F__) && LS_WIDE == 16
	return (ls_wide_f)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX2__) && defined(__FMA__) && LS_WIDE == 8
	return (ls_wide_f)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
	ls_wide_f ret;
	for (int i = 0; i < LS_WIDE / 4; i++)
		((ls_pack_f *)&ret)[i] = ls_pack_fma(((ls_pack_f *)&a)[i], ((ls_pack_f *)&b)[i],
						     ((ls_pack_f *)&c)[i]);
	return ret;
#endif
}

/* 4 sums, in 4 / LS_PACK packs, as floats. */
INLINE ls_pack_f ls_pack_total(const ls_pack_u *sum)
{
	ls_pack_d value[4 / LS_PACK];
	for (int h = 0; h < 4 / LS_PACK; h++)
		value[h] = ls_pack_value(sum[h]);
	return ls_pack_narrow(value);
}

#endif
