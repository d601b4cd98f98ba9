/* 1 / sqrt(x) from an integer seed and two Newton-like steps in mul, add and sub: cheaper than sqrt and division,
 * vectorises with any instruction set, and is as definite as they are. Owns nothing. Any thread; device code too.
 * Largest error over all positive normal floats: see docs/NUMERICS.md (test num_exhaustive). */
#ifndef LS_NUM_RSQRT_H
#define LS_NUM_RSQRT_H

#include "num/port.h"

/* x positive and normal; anything else gives some definite, useless number. No intermediate is subnormal or overflows,
 * hence ls_rsqrt(4 x) == ls_rsqrt(x) / 2 exactly. */
LS_FN float ls_rsqrt(float x)
{
	float y = ls_f_bits(0x5f375a86u - (ls_bits_f(x) >> 1)); /* x y y within [0.932, 1.070] */
	float h = x * y * y;
	y = y * (1.8765984f - h * (1.2521004f - h * 0.37550222f)); /* minimax quadratic of h^-1/2 there: 2.5e-5 */
	h = x * y * y;
	return y + (0.5f * y) * (1.0f - h); /* the difference is exact */
}

#endif
