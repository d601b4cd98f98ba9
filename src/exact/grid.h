/* The grid of an exact product: how an element becomes an integer, and how a sum of
 * products of such integers becomes a number again (docs/NUMERICS.md, "Products"). Owns
 * nothing. Any thread; device code too.
 *
 * The elements of a row (of a column, on the right side) are rounded once to multiples of
 * 2^(e - bits), where 2^e is the power of two above the largest magnitude among them. */
#ifndef LS_EXACT_GRID_H
#define LS_EXACT_GRID_H

#include "num/port.h"

#define LS_GRID_FINE   22 /* bits of float32's class: three base-256 digits */
#define LS_GRID_COARSE 15 /* bits for bf16 and fp16: two digits */
#define LS_GRID_SPLIT  20 /* bits of the low word of a sum in two words */

/* A sum of products without overflow: at most this many fit an int64 on the fine grid. */
#define LS_GRID_MOST_TERMS (1 << 18)

/* e for the bits of the largest magnitude, which is finite. Subnormals have 2^-126 above
 * them. */
LS_FN int ls_grid_exp(uint32_t largest_bits)
{
	return (int)(largest_bits >> 23) - 126;
}

LS_FN float ls_grid_pow2(int e) /* -126 <= e <= 127 */
{
	return ls_f_bits((uint32_t)(e + 127) << 23);
}

/* The two factors of 2^(bits - e), each of which is a normal float. A product that is
 * subnormal in between is below half a step, and ends as 0 either way. */
LS_FN void ls_grid_scale(int bits, int e, float *ret_first, float *ret_second)
{
	int half = (bits - e) / 2;
	*ret_first = ls_grid_pow2(half);
	*ret_second = ls_grid_pow2(bits - e - half);
}

/* x in steps of the grid, to nearest even. 1.5 * 2^23 leaves the integer in the low bits
 * of the float. Only the coarse grid's 2^15 does not fit two digits: it becomes 2^15 -
 * 1. */
LS_FN int32_t ls_grid_round(float x, float first, float second, int bits)
{
	int32_t q = (int32_t)(ls_bits_f(x * first * second + 12582912.0f) - 0x4b400000u);
	if (bits == LS_GRID_FINE)
		return q;
	q = q > 32767 ? 32767 : q;
	return q < -32767 ? -32767 : q;
}

/* sum * 2^e in binary64, rounded to odd: what is lost sets the last bit, so that one
 * later rounding to 32 bits or fewer is as if it had been the only one. */
LS_FN double ls_grid_value(int64_t sum, int e)
{
	if (sum >= (int64_t)1 << 53 || sum <= -((int64_t)1 << 53)) {
		sum = (sum >> 10) | ((sum & 1023) != 0);
		e += 10;
	}
	return (double)sum * ls_d_bits((uint64_t)(uint32_t)(e + 1023) << 52);
}

/* The same for high * 2^LS_GRID_SPLIT + low; low may be beyond its bits, and negative. */
LS_FN double ls_grid_value_wide(int64_t high, int64_t low, int e)
{
	const int64_t most = (int64_t)1 << 40;
	high += low >> LS_GRID_SPLIT;
	low &= ((int64_t)1 << LS_GRID_SPLIT) - 1;
	if (high < most && high > -most)
		return ls_grid_value((int64_t)((uint64_t)high << LS_GRID_SPLIT) + low, e);
	return ls_grid_value(high | (low != 0), e + LS_GRID_SPLIT);
}

/* --- numbers of 16 bits --- */

/* t as a float, rounded to odd. NaN stays NaN. */
LS_FN float ls_grid_odd_float(double t)
{
	float f = (float)t;
	uint32_t u = ls_bits_f(f);
	double back = (double)f;
	if (back == t || (u & 1) || t != t)
		return f;
	return ls_f_bits((back > t) == (t > 0) ? u - 1 : u + 1);
}

/* The nearest bfloat16, ties to even. */
LS_FN uint16_t ls_bf16_round(float f)
{
	uint32_t u = ls_bits_f(f);
	if (f != f)
		return 0x7fc0;
	return (uint16_t)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

LS_FN uint16_t ls_bf16_from(double t)
{
	return ls_bf16_round(ls_grid_odd_float(t));
}

LS_FN float ls_bf16_value(uint16_t h)
{
	return ls_f_bits((uint32_t)h << 16);
}

LS_FN float ls_f16_value(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;
	if (rest >= 0x7c00)
		return ls_f_bits(sign | 0x7f800000 | (rest & 0x3ff) << 13);
	if (rest >= 0x400)
		return ls_f_bits(sign | ((rest << 13) + (112u << 23)));
	return ls_f_bits(sign | ls_bits_f((float)rest * 0x1p-24f));
}

LS_FN uint16_t ls_f16_round(float f)
{
	uint32_t u = ls_bits_f(f) & 0x7fffffff, sign = (ls_bits_f(f) >> 16) & 0x8000;
	if (f != f)
		return 0x7e00;
	if (u >= 0x477ff000) /* 65520 and above round to infinity */
		return (uint16_t)(sign | 0x7c00);
	if (u < 0x38800000) { /* below 2^-14: steps of 2^-24, by the same trick as above */
		float steps = ls_f_bits(u) * 0x1p24f;
		return (uint16_t)(sign | (ls_bits_f(steps + 8388608.0f) - 0x4b000000u));
	}
	return (uint16_t)(sign | ((u - (112u << 23) + 0xfff + ((u >> 13) & 1)) >> 13));
}

LS_FN uint16_t ls_f16_from(double t)
{
	return ls_f16_round(ls_grid_odd_float(t));
}

/* One pattern for every NaN. */
LS_FN float ls_f32_canonical(float x)
{
	return x != x ? ls_f_bits(LS_NAN_BITS) : x;
}

LS_FN float ls_f32_from(double t)
{
	return t != t ? ls_f_bits(LS_NAN_BITS) : (float)t;
}

#endif
