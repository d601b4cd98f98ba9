/* The order-free sum: terms rounded once onto a power-of-two grid 2^-p and added as
 * 64-bit integers. Owns nothing. Any thread, device code too: integer addition is
 * associative, so every split gives the same bits.
 *
 * Use: the largest ls_exp_of of each factor over all terms (max is associative) gives
 * bound_exp = the sum over factors of (exponent + 1), so that every |term| < 2^bound_exp.
 * p = ls_sum_grid(bound_exp, terms), scale = ls_pow2(p); acc += ls_sum_term(term * scale)
 * in any order, on any thread; ls_sum_float(acc, p). A factor exponent of LS_EXP_INF says
 * that a value was not finite: report it, there is no sum. */
#ifndef LS_NUM_SUM_H
#define LS_NUM_SUM_H

#include "num/port.h"

#define LS_EXP_MIN  (-127) /* of zero and of subnormals */
#define LS_EXP_INF  128    /* of infinity and NaN */
#define LS_POW2_MIN (-1022)
#define LS_POW2_MAX 1022

/* 1.5 * 2^52: added to |x| <= 2^51 it leaves x rounded to the nearest even integer in the
 * low bits of the double. A vector loop may add raw bits and take off n * LS_MAGIC_BITS
 * at the end. */
#define LS_MAGIC      6755399441055744.0
#define LS_MAGIC_BITS 0x4338000000000000u

/* e with |x| < 2^(e+1), and |x| >= 2^e for normal x. Integer operations only. */
LS_FN int ls_exp_of(float x)
{
	return (int)((ls_bits_f(x) >> 23) & 0xff) - 127;
}

/* The least k with n <= 2^k; 0 for n = 0. */
LS_FN int ls_log2_ceil(uint64_t n)
{
	return n <= 1 ? 0 : 64 - ls_clz64(n - 1);
}

/* p such that |term * 2^p| < 2^51 for every |term| < 2^bound_exp, and `terms` of them
 * stay below 2^62 in sum. Held within [LS_POW2_MIN, LS_POW2_MAX]. The upper end only
 * makes the grid coarser than it might be; the lower is reached at bound_exp > 1073
 * alone, where no finite double is. */
LS_FN int ls_sum_grid(int bound_exp, uint64_t terms)
{
	int bits = 62 - ls_log2_ceil(terms);
	int p = (bits < 51 ? bits : 51) - bound_exp;
	p = p < LS_POW2_MIN ? LS_POW2_MIN : p;
	return p > LS_POW2_MAX ? LS_POW2_MAX : p;
}

/* 2^e, exact; e is held within [LS_POW2_MIN, LS_POW2_MAX], so that both 2^e and 2^-e are
 * normal. */
LS_FN double ls_pow2(int e)
{
	e = e < LS_POW2_MIN ? LS_POW2_MIN : e;
	e = e > LS_POW2_MAX ? LS_POW2_MAX : e;
	return ls_d_bits((uint64_t)(uint32_t)(e + 1023) << 52);
}

/* scaled = term * 2^p, rounded to the nearest integer, ties to even. |scaled| <= 2^51. */
LS_FN int64_t ls_sum_term(double scaled)
{
	return (int64_t)(ls_bits_d(scaled + LS_MAGIC) - LS_MAGIC_BITS);
}

LS_FN double ls_sum_value(int64_t acc, int p)
{
	return (double)acc * ls_pow2(-p);
}

LS_FN float ls_sum_float(int64_t acc, int p)
{
	return (float)ls_sum_value(acc, p);
}

#endif
