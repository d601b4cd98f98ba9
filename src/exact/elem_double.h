/* Element-wise formulas in binary64, whose results are rounded once: x and z are the
 * inputs, n the numbers. Owns nothing. Any thread; device code too. */
#ifndef LS_EXACT_ELEM_DOUBLE_H
#define LS_EXACT_ELEM_DOUBLE_H

#include "num/function.h"

/* log x and log(1 + x) for all floats x. */
LS_FN double ls_elem_log(double x)
{
	double inf = ls_d_bits(LS_INF_BITS_D), y = ls_log_d(x);
	y = x < inf ? y : inf;
	y = x > 0.0 ? y : -inf;
	return x >= 0.0 ? y : inf - inf;
}

LS_FN double ls_elem_log1p(double x)
{
	double inf = ls_d_bits(LS_INF_BITS_D), y = ls_log1p_d(x);
	y = x < inf ? y : inf;
	y = x > -1.0 ? y : -inf;
	y = x == 0.0 ? x : y;
	return x >= -1.0 ? y : inf - inf;
}

#define LS_SQRT_HALF    0x1.6a09e667f3bcdp-1 /* sqrt(1 / 2) */
#define LS_GELU_FACTOR  0x1.9884533d43651p-1 /* sqrt(2 / pi) */
#define LS_GELU_DENSITY 0x1.9884533d43651p-2 /* 1 / sqrt(2 pi) */
#define LS_GELU_CUBE    0.044715

/* 2 sqrt(2 / pi) (x + 0.044715 x^3): gelu_tanh is x times its sigmoid. */
LS_FN double ls_elem_gelu_inner(double x)
{
	return 2.0 * LS_GELU_FACTOR * (x + LS_GELU_CUBE * (x * x * x));
}

LS_FN double ls_elem_gelu_tanh_backward(double x)
{
	double s = ls_sigmoid_d(ls_elem_gelu_inner(x));
	double slope = 2.0 * LS_GELU_FACTOR * (1.0 + 3.0 * LS_GELU_CUBE * (x * x));
	return s + x * (s * (1.0 - s)) * slope;
}

LS_FN double ls_elem_gelu_backward(double x)
{
	double below = 0.5 * (1.0 + ls_erf_d(x * LS_SQRT_HALF));
	return below + x * (LS_GELU_DENSITY * ls_exp_d(-0.5 * (x * x)));
}

LS_FN double ls_elem_silu_backward(double x)
{
	double s = ls_sigmoid_d(x);
	return s * (1.0 + x * (1.0 - s));
}

/* Small whole exponents by multiplication. */
LS_FN double ls_elem_pow(double x, double y)
{
	if (y == 2.0)
		return x * x;
	if (y == 3.0)
		return x * x * x;
	if (y == 1.0)
		return x;
	if (y == 0.5)
		return ls_sqrt_d(x);
	if (y == -0.5)
		return 1.0 / ls_sqrt_d(x);
	if (y == -1.0)
		return 1.0 / x;
	if (y == -2.0)
		return 1.0 / (x * x);
	return ls_pow_d(x, y);
}

LS_FN double ls_elem_do_RSQRT(double x, double z, const double *n)
{
	(void)z, (void)n;
	return 1.0 / ls_sqrt_d(x);
}

LS_FN double ls_elem_do_EXP(double x, double z, const double *n)
{
	(void)z, (void)n;
	return ls_exp_d(x);
}

LS_FN double ls_elem_do_EXPM1(double x, double z, const double *n)
{
	(void)z, (void)n;
	return x == 0.0 ? x : ls_expm1_d(x);
}

LS_FN double ls_elem_do_LOG(double x, double z, const double *n)
{
	(void)z, (void)n;
	return ls_elem_log(x);
}

LS_FN double ls_elem_do_LOG1P(double x, double z, const double *n)
{
	(void)z, (void)n;
	return ls_elem_log1p(x);
}

LS_FN double ls_elem_do_SIN(double x, double z, const double *n)
{
	(void)z, (void)n;
	return ls_sin_d((float)x);
}

LS_FN double ls_elem_do_COS(double x, double z, const double *n)
{
	(void)z, (void)n;
	return ls_cos_d((float)x);
}

LS_FN double ls_elem_do_TANH(double x, double z, const double *n)
{
	(void)z, (void)n;
	return ls_tanh_d(x);
}

LS_FN double ls_elem_do_ERF(double x, double z, const double *n)
{
	(void)z, (void)n;
	return ls_erf_d(x);
}

LS_FN double ls_elem_do_SIGMOID(double x, double z, const double *n)
{
	(void)z, (void)n;
	return ls_sigmoid_d(x);
}

LS_FN double ls_elem_do_SILU(double x, double z, const double *n)
{
	(void)z, (void)n;
	return x / (1.0 + ls_exp_d(-x));
}

LS_FN double ls_elem_do_GELU(double x, double z, const double *n)
{
	(void)z, (void)n;
	return 0.5 * x * (1.0 + ls_erf_d(x * LS_SQRT_HALF));
}

LS_FN double ls_elem_do_GELU_TANH(double x, double z, const double *n)
{
	(void)z, (void)n;
	return x / (1.0 + ls_exp_d(-ls_elem_gelu_inner(x)));
}

LS_FN double ls_elem_do_SOFTPLUS(double x, double z, const double *n)
{
	(void)z;
	return x * n[0] > n[1] ? x : ls_softplus_d(x * n[0]) / n[0];
}

LS_FN double ls_elem_do_ELU(double x, double z, const double *n)
{
	(void)z;
	return x > 0.0 ? x * n[1] : ls_expm1_d(x * n[2]) * (n[0] * n[1]);
}

LS_FN double ls_elem_do_POW_NUMBER(double x, double z, const double *n)
{
	(void)z;
	return ls_elem_pow(x, n[0]);
}

LS_FN double ls_elem_do_NUMBER_POW(double x, double z, const double *n)
{
	(void)z;
	return ls_pow_d(n[0], x);
}

LS_FN double ls_elem_do_POW(double x, double z, const double *n)
{
	(void)n;
	return ls_pow_d(x, z);
}

LS_FN double ls_elem_do_TANH_BACKWARD(double x, double z, const double *n)
{
	(void)n;
	return x * (1.0 - z * z);
}

LS_FN double ls_elem_do_SIGMOID_BACKWARD(double x, double z, const double *n)
{
	(void)n;
	return x * ((1.0 - z) * z);
}

LS_FN double ls_elem_do_SILU_BACKWARD(double x, double z, const double *n)
{
	(void)n;
	return x * ls_elem_silu_backward(z);
}

LS_FN double ls_elem_do_GELU_BACKWARD(double x, double z, const double *n)
{
	(void)n;
	return x * ls_elem_gelu_backward(z);
}

LS_FN double ls_elem_do_GELU_TANH_BACKWARD(double x, double z, const double *n)
{
	(void)n;
	return x * ls_elem_gelu_tanh_backward(z);
}

LS_FN double ls_elem_do_SOFTPLUS_BACKWARD(double x, double z, const double *n)
{
	return z * n[0] > n[1] ? x : x * ls_sigmoid_d(z * n[0]);
}

LS_FN double ls_elem_do_ELU_BACKWARD(double x, double z, const double *n)
{
	return z > 0.0 ? x * n[1] : x * (n[2] * n[0] * n[1] * ls_exp_d(z * n[2]));
}

#endif
