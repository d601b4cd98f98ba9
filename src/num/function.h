/* Elementary functions that neural networks need beyond num/elem.h: tanh, erf, sine,
 * cosine, powers. Binary64 by + - * /, from arguments of binary32 unless a comment says
 * otherwise; the caller rounds once. Owns nothing. Any thread; device code too. The
 * coefficients are fits of our own at Chebyshev points. */
#ifndef LS_NUM_FUNCTION_H
#define LS_NUM_FUNCTION_H

#include "num/elem.h"

#define LS_SIGN_BIT_D 0x8000000000000000u

LS_FN double ls_abs_d(double x)
{
	return ls_d_bits(ls_bits_d(x) & ~LS_SIGN_BIT_D);
}

/* |y| with the sign of x */
LS_FN double ls_with_sign_d(double y, double x)
{
	return ls_d_bits((ls_bits_d(y) & ~LS_SIGN_BIT_D) | (ls_bits_d(x) & LS_SIGN_BIT_D));
}

/* tanh |x| = t / (t + 2) with t = e^(2|x|) - 1; any x */
LS_FN double ls_tanh_d(double x)
{
	double a = ls_abs_d(x);
	double t = ls_expm1_d(2.0 * (a > 22.0 ? 22.0 : a));
	return ls_with_sign_d(t / (t + 2.0), x);
}

/* erf(x) / x as a polynomial of u = 2 x^2 / 25 - 1, and 1 from |x| = 5 on, where
 * 1 - erf is below 2^-39; any x. Even and odd powers of u apart, each by Horner. */
LS_FN double ls_erf_d(double x)
{
	const double c[29] = {
		0x1.21a17a3e2aa55p-2,   -0x1.21a0600b786ffp-3,  0x1.b262c897a18a4p-4,
		-0x1.69c392b11e583p-4,  0x1.3bd7b5afddcdcp-4,   -0x1.1a81986c37ec4p-4,
		0x1.fea0ab81d2295p-5,   -0x1.cd1e2ec7cf381p-5,  0x1.9beda103a8816p-5,
		-0x1.68bfcf7fec40ap-5,  0x1.3359753789c1fp-5,   -0x1.fa6d04e193f78p-6,
		0x1.9194a735698edp-6,   -0x1.3171aba09c9fbp-6,  0x1.bd86c1136e38cp-7,
		-0x1.381ed18e6f854p-7,  0x1.a03aa998379c9p-8,   -0x1.0499c0a76f7a6p-8,
		0x1.41817b7a94bbbp-9,   -0x1.9cfd20084a1c4p-10, 0x1.c55888205af11p-11,
		-0x1.47400dcfd24fdp-12, 0x1.7ceeb4d7e7711p-13,  -0x1.c1f64dbbd0308p-13,
		0x1.858ff69010be4p-14,  0x1.6485d37c469a1p-16,  -0x1.9886ef95bdc4ap-18,
		-0x1.21a7b299249b6p-16, 0x1.c5baa171224d2p-18,
	};
	double a = ls_abs_d(x), u = a * a * 0.08 - 1.0, v = u * u, even = c[28], odd = c[27];
	for (int i = 26; i >= 0; i -= 2)
		even = even * v + c[i];
	for (int i = 25; i >= 1; i -= 2)
		odd = odd * v + c[i];
	double y = x * (even + odd * u);
	return a >= 5.0 ? ls_with_sign_d(1.0, x) : y;
}

/* --- sine and cosine --- */

/* |r| <= pi / 4 */
LS_FN double ls_sin_poly(double r)
{
	double z = r * r, z2 = z * z;
	double a = -0x1.5555555555555p-3 + z * 0x1.1111111110bb2p-7;
	double b = -0x1.a01a019e83816p-13 + z * 0x1.71de379654304p-19;
	double c = -0x1.ae600aca92c64p-26 + z * 0x1.5e0b05bff20f2p-33;
	return r + r * z * (a + z2 * (b + z2 * c));
}

LS_FN double ls_cos_poly(double r)
{
	double z = r * r, z2 = z * z;
	double a = 0x1.5555555555555p-5 + z * -0x1.6c16c16c16967p-10;
	double b = 0x1.a01a019f4e9b4p-16 + z * -0x1.27e4fa17bf139p-22;
	double c = 0x1.1eeb68cd22f56p-29 + z * -0x1.907d8f29fe831p-37;
	return (1.0 - 0.5 * z) + z2 * (a + z2 * (b + z2 * c));
}

/* Sine (quarter 0) or cosine (quarter 1) of an angle of t quarter turns 2^-62. */
LS_FN double ls_sin_turn(uint64_t t, uint64_t quarter)
{
	uint64_t q = (t + ((uint64_t)1 << 61)) >> 62;
	double r = (double)(int64_t)(t - (q << 62)) * (0x1.921fb54442d18p+0 * 0x1p-62);
	double y = (q + quarter) & 1 ? ls_cos_poly(r) : ls_sin_poly(r);
	return (q + quarter) & 2 ? -y : y;
}

/* |x| in quarter turns 2^-62, modulo a full turn: the 24 bits of x times those 96 bits of
 * 2 / pi that matter. x finite, |x| >= 1/2. */
LS_FN uint64_t ls_quarter_turns(float x)
{
	const uint32_t two_over_pi[9] = {0,           0xa2f9836eu, 0x4e441529u,
					 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u,
					 0x3c439041u, 0xfe5163abu, 0};
	uint32_t bits = ls_bits_f(x), e = bits >> 23 & 0xff, m = (bits & 0x7fffff) | 0x800000;
	uint32_t at = e - 120, word = at / 32, shift = at % 32;
	uint64_t w[3];
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t two = (uint64_t)two_over_pi[word + i] << 32 | two_over_pi[word + i + 1];
		w[i] = two >> (32 - shift) & 0xffffffffu;
	}
	uint64_t low = m * w[2], middle = m * w[1] + (low >> 32), high = m * w[0] + (middle >> 32);
	return high << 32 | (middle & 0xffffffffu);
}

LS_FN double ls_sin_d(float x)
{
	float a = ls_f_bits(ls_bits_f(x) & 0x7fffffff);
	if (!(a < ls_f_bits(0x7f800000u)))
		return ls_d_bits(LS_INF_BITS_D) - ls_d_bits(LS_INF_BITS_D);
	if (a < 0.75f)
		return ls_sin_poly((double)x);
	return ls_sin_turn(ls_quarter_turns(a), x < 0.0f ? 2 : 0);
}

LS_FN double ls_cos_d(float x)
{
	float a = ls_f_bits(ls_bits_f(x) & 0x7fffffff);
	if (!(a < ls_f_bits(0x7f800000u)))
		return ls_d_bits(LS_INF_BITS_D) - ls_d_bits(LS_INF_BITS_D);
	if (a < 0.75f)
		return ls_cos_poly((double)x);
	return ls_sin_turn(ls_quarter_turns(a), 1);
}

/* --- powers --- */

/* 0: y is no integer; 1: an odd one; 2: an even one. Infinity is even. */
LS_FN int ls_parity(double y)
{
	double a = ls_abs_d(y);
	if (a >= 0x1p53)
		return 2;
	if (!(a < 0x1p53) || (double)(int64_t)a != a)
		return 0;
	return (int64_t)a & 1 ? 1 : 2;
}

/* x^y for x of binary32's range, as IEEE 754 has its special cases: e^(y log |x|). The
 * error grows with |y log x| / 2^52. */
LS_FN double ls_pow_d(double x, double y)
{
	double inf = ls_d_bits(LS_INF_BITS_D), a = ls_abs_d(x);
	if (y == 0.0 || x == 1.0)
		return 1.0;
	if (x != x || y != y)
		return x + y;
	int parity = ls_parity(y);
	if (x < 0.0 && parity == 0 && a < inf)
		return inf - inf;
	double power;
	if (a == 1.0)
		power = 1.0;
	else if (a == 0.0 || a == inf)
		power = (a == 0.0) == (y < 0.0) ? inf : 0.0;
	else
		power = ls_exp_d(y * ls_log_d(a));
	return parity == 1 && (ls_bits_d(x) & LS_SIGN_BIT_D) ? -power : power;
}

/* A number in two parts, the second below half a unit in the last place of the first. */
struct ls_two {
	double high, low;
};

/* The product, to some 100 bits. 2^27 + 1 splits a number in two halves of 26 bits, whose
 * products are exact. */
LS_FN struct ls_two ls_two_mul(struct ls_two a, struct ls_two b)
{
	const double split = 134217729.0;
	double p = a.high * b.high, s = split * a.high, t = split * b.high;
	double a1 = s - (s - a.high), a2 = a.high - a1;
	double b1 = t - (t - b.high), b2 = b.high - b1;
	double lost = ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2;
	lost = lost + (a.high * b.low + a.low * b.high);
	struct ls_two r;
	r.high = p + lost;
	r.low = lost - (r.high - p);
	return r;
}

/* x^n, 0 <= x <= 1, correctly rounded but for the rarest cases; 0 where it is far below
 * 2^-200. */
LS_FN double ls_whole_power(double x, uint64_t n)
{
	struct ls_two r, square;
	r.high = 1.0;
	r.low = 0.0;
	square.high = x;
	square.low = 0.0;
	for (; n; n >>= 1) {
		if (n & 1)
			r = ls_two_mul(r, square);
		square = ls_two_mul(square, square);
		if (n > 1 && square.high < 0x1p-200)
			return 0.0;
	}
	return r.high;
}

#endif
