/* exp, log, log1p, sigmoid, softplus, softmax, log-sum-exp: range reduction and a
 * polynomial in binary64 by + - * /, then one rounding to binary32. Owns nothing. Any
 * thread; device code too. Accuracy over all 2^32 inputs and golden digests:
 * docs/NUMERICS.md. The coefficients are minimax fits of our own. */
#ifndef LS_NUM_ELEM_H
#define LS_NUM_ELEM_H

#include "num/port.h"
#include "num/sum.h"

/* 42 bits: times an integer below 2^11 it is exact */
#define LS_LN2_HI     0x1.62e42fefa38p-1
#define LS_LN2_LO     0x1.ef35793c7673p-45 /* ln 2 - LS_LN2_HI */
#define LS_LOG2_E     0x1.71547652b82fep+0 /* 1 / ln 2 */
#define LS_EXP_D_MIN  (-708.0)             /* below: 0 */
#define LS_EXP_D_MAX  709.0                /* above: infinity */
#define LS_INF_BITS_D 0x7ff0000000000000u

/* --- inner functions in binary64, shared by the binary32 ones; a NaN may have any bits here --- */

/* (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2; relative error of e^r from it below 2^-57.
 * Estrin's order. */
LS_FN double ls_exp_poly(double r)
{
	double r2 = r * r, r4 = r2 * r2;
	double a = 0x1.000000000000ap-1 + r * 0x1.55555555554fap-3;
	double b = 0x1.555555555087cp-5 + r * 0x1.1111111127beap-7;
	double c = 0x1.6c16c1842a18fp-10 + r * 0x1.a01a012a559b1p-13;
	double d = 0x1.a0199a0c5affdp-16 + r * 0x1.71df255761396p-19;
	double e = 0x1.28ad72d3fa16fp-22 + r * 0x1.ad7f6655530e7p-26;
	return (a + r2 * b) + r4 * ((c + r2 * d) + r4 * e);
}

/* x held within [LS_EXP_D_MIN, LS_EXP_D_MAX], as k ln 2 + r: returns 2^k, and r. A NaN
 * stays in r. */
LS_FN double ls_exp_reduce(double x, double *ret_r)
{
	double c = x < LS_EXP_D_MIN ? LS_EXP_D_MIN : x;
	c = c > LS_EXP_D_MAX ? LS_EXP_D_MAX : c;
	double m =
		/* the integer k nearest to x / ln 2, in the low bits */
		c * LS_LOG2_E + LS_MAGIC;
	double k = m - LS_MAGIC;
	*ret_r = (c - k * LS_LN2_HI) - k * LS_LN2_LO;
	/* 2^k; the higher bits fall out */
	return ls_d_bits((ls_bits_d(m) + 1023) << 52);
}

/* e^x; 0 below LS_EXP_D_MIN, infinity above LS_EXP_D_MAX, NaN for NaN. */
LS_FN double ls_exp_d(double x)
{
	double r, scale = ls_exp_reduce(x, &r);
	double y = (1.0 + (r + r * r * ls_exp_poly(r))) * scale;
	y = x < LS_EXP_D_MIN ? 0.0 : y;
	return x > LS_EXP_D_MAX ? ls_d_bits(LS_INF_BITS_D) : y;
}

/* e^x - 1, accurate near 0; -1 below LS_EXP_D_MIN. */
LS_FN double ls_expm1_d(double x)
{
	double r, scale = ls_exp_reduce(x, &r);
	double y = (r + r * r * ls_exp_poly(r)) * scale + (scale - 1.0);
	y = x < LS_EXP_D_MIN ? -1.0 : y;
	return x > LS_EXP_D_MAX ? ls_d_bits(LS_INF_BITS_D) : y;
}

/* (2 atanh(s) / s - 2) / z with z = s^2, |s| <= 0.172; relative error of 2 atanh(s) from
 * it below 2^-59. */
LS_FN double ls_log_poly(double z)
{
	double z2 = z * z;
	double a = 0x1.5555555555593p-1 + z * 0x1.999999997fc76p-2;
	double b = 0x1.2492494204529p-2 + z * 0x1.c71c51f8b4eb8p-3;
	double c = 0x1.74664288ae0c4p-3 + z * 0x1.39a158020dd71p-3;
	return a + z2 * (b + z2 * (c + z2 * 0x1.2f0977ffd270ep-3));
}

/* e ln 2 + log(1 + f) for 1 + f in about [sqrt(1/2), sqrt(2)). With s = f / (2 + f),
 * log(1 + f) = 2 atanh(s), and 2 s = f - s f keeps the leading term exact. */
LS_FN double ls_log_parts(double e, double f)
{
	double s = f / (2.0 + f), z = s * s;
	double tail = s * (f - z * ls_log_poly(z));
	return e * LS_LN2_HI + (f - (tail - e * LS_LN2_LO));
}

/* e with u = 2^e m, m in about [sqrt(1/2), sqrt(2)); u positive and normal. As a double,
 * without a conversion. */
LS_FN double ls_log_split(double u, double *ret_m)
{
	uint64_t bits = ls_bits_d(u) + (0x3ff0000000000000u - 0x3fe6a09e00000000u);
	uint64_t e = bits >> 52; /* biased; at most 2047 */
	*ret_m = ls_d_bits((bits & 0x000fffffffffffffu) + 0x3fe6a09e00000000u);
	return ls_d_bits(LS_MAGIC_BITS + e) - (LS_MAGIC + 1023.0);
}

/* log x for x positive and normal. */
LS_FN double ls_log_d(double x)
{
	double m, e = ls_log_split(x, &m);
	return ls_log_parts(e, m - 1.0);
}

/* log(1 + x) for finite x > -1. Where 1 + x needs no scaling x itself is the argument, so
 * that small x stay exact. */
LS_FN double ls_log1p_d(double x)
{
	double m, e = ls_log_split(1.0 + x, &m);
	return ls_log_parts(e, e == 0.0 ? x : m - 1.0);
}

/* 1 / (1 + e^-x) */
LS_FN double ls_sigmoid_d(double x)
{
	return 1.0 / (1.0 + ls_exp_d(-x));
}

/* log(1 + e^x) = max(x, 0) + log(1 + e^-|x|): nothing overflows, and small results keep
 * their relative accuracy. */
LS_FN double ls_softplus_d(double x)
{
	uint64_t bits = ls_bits_d(x), sign = bits >> 63;
	double minus_abs = ls_d_bits(bits | 0x8000000000000000u);
	double positive =
		ls_d_bits(bits &
			  /* by bits: a comparison would become the GPU's max instruction */
			  (sign - 1));
	return positive + ls_log1p_d(ls_exp_d(minus_abs));
}

/* --- binary32: one rounding of the above; every NaN is LS_NAN_BITS --- */

LS_FN float ls_nanf(void)
{
	return ls_f_bits(LS_NAN_BITS);
}

/* exp(+-0) = 1, exp(-inf) = 0, exp(inf) = inf; overflows to inf, underflows gradually to
 * 0. */
LS_FN float ls_expf(float x)
{
	float y = (float)ls_exp_d((double)x);
	return x == x ? y : ls_nanf();
}

/* log(+-0) = -inf, log(inf) = inf, NaN for negative x. */
LS_FN float ls_logf(float x)
{
	float inf = ls_f_bits(0x7f800000u);
	float y = (float)ls_log_d((double)x);
	y = x < inf ? y : inf;
	y = x > 0.0f ? y : -inf;
	return x >= 0.0f ? y : ls_nanf();
}

/* log1p(+-0) = +-0, log1p(-1) = -inf, log1p(inf) = inf, NaN for x < -1. */
LS_FN float ls_log1pf(float x)
{
	float inf = ls_f_bits(0x7f800000u);
	float y = (float)ls_log1p_d((double)x);
	y = x < inf ? y : inf;
	y = x > -1.0f ? y : -inf;
	y = x == 0.0f ? x : y;
	return x >= -1.0f ? y : ls_nanf();
}

/* sigmoid(-inf) = 0, sigmoid(+-0) = 1/2, sigmoid(inf) = 1; underflows gradually to 0. */
LS_FN float ls_sigmoidf(float x)
{
	float y = (float)ls_sigmoid_d((double)x);
	return x == x ? y : ls_nanf();
}

/* softplus(-inf) = 0, softplus(inf) = inf; underflows gradually to 0. */
LS_FN float ls_softplusf(float x)
{
	float y = (float)ls_softplus_d((double)x);
	return x == x ? y : ls_nanf();
}

/* --- over several scores; sums in binary64 from index 0 upwards --- */

/* By comparison, the first of equals; NaN where there is one. n >= 1. */
LS_FN float ls_max_score(const float *score, int n)
{
	float max = score[0];
	for (int i = 1; i < n; i++)
		max = max >= score[i] || max != max ? max : score[i];
	return max;
}

LS_FN double ls_exp_sum(const float *score, float max, int n)
{
	double sum = 0.0;
	for (int i = 0; i < n; i++)
		sum += ls_exp_d((double)score[i] - (double)max);
	return sum;
}

/* ret_p may be score. All are LS_NAN_BITS when a score is NaN or +inf, or when every
 * score is -inf. */
LS_FN void ls_softmaxf(const float *score, float *ret_p, int n)
{
	float max = n > 0 ? ls_max_score(score, n) : 0.0f;
	double sum = ls_exp_sum(score, max, n);
	for (int i = 0; i < n; i++) {
		double p = ls_exp_d((double)score[i] - (double)max) / sum;
		ret_p[i] = p == p ? (float)p : ls_nanf();
	}
}

/* log of the sum of e^score: -inf for n = 0 and where every score is -inf, inf where one
 * is and none is NaN. */
LS_FN float ls_logsumexpf(const float *score, int n)
{
	float inf = ls_f_bits(0x7f800000u);
	float max = n > 0 ? ls_max_score(score, n) : -inf;
	if (max != max)
		return ls_nanf();
	if (max == inf || max == -inf)
		return max;
	return (float)((double)max + ls_log_d(ls_exp_sum(score, max, n)));
}

#endif
