/* Vectors of lanes for kern.c: LS_PACK doubles at a time, the width that the instruction set of this compilation likes.
 * Which width changes nothing in the bytes: lanes never meet. Owns nothing; any thread. */
#ifndef LS_FM_PACK_H
#define LS_FM_PACK_H

#include <stdint.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#if defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS == 256
#include <arm_sve.h>
#define LS_PACK 4
#else
#define LS_PACK 2
#endif
#elif defined(__AVX2__)
#include <immintrin.h>
#define LS_PACK 4
#elif defined(__x86_64__)
#include <emmintrin.h>
#define LS_PACK 2
#else
#define LS_PACK 2
#endif

/* aligned(4): loads and stores may be at any float */
typedef float ls_pack_f __attribute__((vector_size(16), aligned(4)));
typedef double ls_pack_d __attribute__((vector_size(8 * LS_PACK), aligned(8)));
typedef uint64_t ls_pack_u __attribute__((vector_size(8 * LS_PACK), aligned(8)));

/* 4 floats from p as doubles, in 4 / LS_PACK packs. */
static inline __attribute__((always_inline)) void ls_pack_widen(const float *p, ls_pack_d *out)
{
#if defined(__aarch64__) && LS_PACK == 2
	float32x4_t x = vld1q_f32(p);
	out[0] = (ls_pack_d)vcvt_f64_f32(vget_low_f32(x));
	out[1] = (ls_pack_d)vcvt_high_f64_f32(x);
#elif defined(__aarch64__)
	svbool_t all = svptrue_b64();
	out[0] = (ls_pack_d)svcvt_f64_f32_x(all, svreinterpret_f32_u64(svld1uw_u64(all, (const uint32_t *)p)));
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

#endif
