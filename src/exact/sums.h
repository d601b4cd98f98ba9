/* The order-free sum of binary64 terms, as sums and statistics of neural networks take it
 * (docs/NUMERICS.md, "Sums and statistics"): num/sum.h with the grid from the terms
 * themselves, infinities and NaN counted beside, and a result that is rounded once. Owns
 * nothing. Any thread; device code too.
 *
 * In two halves, so that other threads, devices or ranks can add their part in between:
 * first the largest exponent and the flags of all terms, then their sum as integers. */
#ifndef LS_EXACT_SUMS_H
#define LS_EXACT_SUMS_H

#include "exact/grid.h"
#include "num/sum.h"

enum { LS_TERM_PLUS = 1, LS_TERM_MINUS = 2, LS_TERM_NAN = 4, LS_TERM_FLAGS = 3 /* bits */ };

/* What two sums over the same elements have so far. All zeros is the sum of nothing; top
 * is combined by max, flags by or, sum by addition. */
struct ls_sum_state {
	uint64_t sum[2];
	uint32_t top[2];
	uint32_t flags; /* of the second sum, LS_TERM_FLAGS bits higher */
	uint32_t unused;
};

/* The biased exponent of a term: |t| < 2^(it - 1022). 2047 is not finite. */
LS_FN uint32_t ls_term_top(double t)
{
	return (uint32_t)(ls_bits_d(t) >> 52) & 0x7ff;
}

LS_FN uint32_t ls_term_flags(double t)
{
	if (ls_term_top(t) != 0x7ff)
		return 0;
	if (t != t)
		return LS_TERM_NAN;
	return t > 0 ? LS_TERM_PLUS : LS_TERM_MINUS;
}

/* p of num/sum.h for n terms, of which the largest has this exponent. */
LS_FN int ls_term_grid(uint32_t top, int64_t n)
{
	return ls_sum_grid((int)top - 1022, (uint64_t)n);
}

/* t in steps of the grid; scale is ls_pow2(p). Unsigned, so that what is not finite wraps
 * around and does no harm. */
LS_FN uint64_t ls_term_steps(double t, double scale)
{
	return ls_bits_d(t * scale + LS_MAGIC) - LS_MAGIC_BITS;
}

/* What IEEE says of a sum with such terms, in any order; flags is not 0. */
LS_FN double ls_flags_value(uint32_t flags)
{
	if (flags == LS_TERM_PLUS)
		return ls_d_bits(0x7ff0000000000000u);
	if (flags == LS_TERM_MINUS)
		return ls_d_bits(0xfff0000000000000u);
	return ls_d_bits(0x7ff8000000000000u);
}

/* --- order of floats as unsigned integers: max and min without a comparison of floats --- */

/* -inf below all, then by value, -0 below +0, inf, and every NaN above it. Never 0. */
LS_FN uint32_t ls_float_key(float x)
{
	uint32_t u = ls_bits_f(x), sign = 0u - (u >> 31); /* all bits, or none */
	uint32_t key = u ^ (sign | 0x80000000u);
	return (u & 0x7fffffffu) > 0x7f800000u ? 0xffffffffu : key;
}

LS_FN float ls_key_float(uint32_t key)
{
	if (key == 0xffffffffu)
		return ls_f_bits(LS_NAN_BITS);
	return ls_f_bits(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

/* --- mean and variance: sums about a pivot --- */

/* The middle between least and largest. It depends on no order, and no |x - pivot| is
 * much above the spread of x, so that the squares cancel little. */
LS_FN double ls_pivot(float least, float largest)
{
	return ((double)least + (double)largest) * 0.5;
}

/* The largest |x - pivot|: the difference is monotone, so it is that of an end. */
LS_FN double ls_spread(float least, float largest, double pivot)
{
	double up = (double)largest - pivot, down = pivot - (double)least;
	return up > down ? up : down;
}

/* From the sums of d = x - pivot and of d² over n elements. */
LS_FN double ls_mean_of(double pivot, double sum, int64_t n)
{
	return pivot + sum / (double)n;
}

/* The sum of squares about the mean; never below 0. */
LS_FN double ls_squares_of(double sum, double squares, int64_t n)
{
	double t = squares - sum * sum / (double)n;
	return t < 0.0 ? 0.0 : t;
}

#endif
