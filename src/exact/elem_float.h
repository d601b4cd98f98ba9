/* Element-wise formulas in binary32: x are the inputs, n the numbers, y the outputs. Every
 * operation is one of IEEE 754, rounded by itself. Owns nothing. Any thread; device code
 * too. */
#ifndef LS_EXACT_ELEM_FLOAT_H
#define LS_EXACT_ELEM_FLOAT_H

#include "num/function.h"

LS_FN float ls_elem_clamp(float x, float least, float most)
{
	float y = x < least ? least : x;
	return y > most ? most : y;
}

/* Where b is NaN or larger; the first of equals. */
LS_FN float ls_elem_maximum(float a, float b)
{
	return a >= b || a != a ? a : b;
}

LS_FN float ls_elem_minimum(float a, float b)
{
	return a <= b || a != a ? a : b;
}

/* From the end that is nearer, so that a weight of 1 gives b. */
LS_FN float ls_elem_lerp(float a, float b, float weight)
{
	float d = b - a, rest = 1.0f - weight;
	float low = weight * d, high = d * rest;
	return weight < 0.5f && weight > -0.5f ? a + low : b - high;
}

LS_FN void ls_elem_do_COPY(const float *x, const double *n, int flags, float *y)
{
	(void)n, (void)flags;
	y[0] = x[0];
}

LS_FN void ls_elem_do_NEG(const float *x, const double *n, int flags, float *y)
{
	(void)n, (void)flags;
	const float a = x[0];
	y[0] = -a;
}

LS_FN void ls_elem_do_ABS(const float *x, const double *n, int flags, float *y)
{
	(void)n, (void)flags;
	const float a = x[0];
	y[0] = ls_f_bits(ls_bits_f(a) & 0x7fffffff);
}

LS_FN void ls_elem_do_RECIPROCAL(const float *x, const double *n, int flags, float *y)
{
	(void)n, (void)flags;
	const float a = x[0];
	y[0] = (1.0f / a);
}

LS_FN void ls_elem_do_SQRT(const float *x, const double *n, int flags, float *y)
{
	(void)n, (void)flags;
	const float a = x[0];
	y[0] = ls_sqrtf(a);
}

LS_FN void ls_elem_do_RELU(const float *x, const double *n, int flags, float *y)
{
	(void)n, (void)flags;
	const float a = x[0];
	y[0] = a <= 0.0f ? 0.0f : a;
}

LS_FN void ls_elem_do_ADD_NUMBER(const float *x, const double *n, int flags, float *y)
{
	(void)flags;
	const float f = (float)n[0];
	const float a = x[0];
	y[0] = (a + f);
}

LS_FN void ls_elem_do_RSUB_NUMBER(const float *x, const double *n, int flags, float *y)
{
	(void)flags;
	const float f = (float)n[0];
	const float a = x[0];
	y[0] = (f - a);
}

LS_FN void ls_elem_do_MUL_NUMBER(const float *x, const double *n, int flags, float *y)
{
	(void)flags;
	const float f = (float)n[0];
	const float a = x[0];
	y[0] = (a * f);
}

LS_FN void ls_elem_do_DIV_NUMBER(const float *x, const double *n, int flags, float *y)
{
	(void)flags;
	const float f = (float)n[0];
	const float a = x[0];
	y[0] = (a / f);
}

LS_FN void ls_elem_do_LEAKY_RELU(const float *x, const double *n, int flags, float *y)
{
	(void)flags;
	const float f = (float)n[0];
	const float a = x[0];
	float t = a * f;
	y[0] = (a > 0.0f ? a : t);
}

LS_FN void ls_elem_do_THRESHOLD(const float *x, const double *n, int flags, float *y)
{
	(void)flags;
	const float f = (float)n[0];
	const float a = x[0];
	y[0] = (a <= f ? (float)n[1] : a);
}

LS_FN void ls_elem_do_CLAMP(const float *x, const double *n, int flags, float *y)
{
	(void)flags;
	const float f = (float)n[0];
	const float a = x[0];
	y[0] = ls_elem_clamp(a, f, (float)n[1]);
}

LS_FN void ls_elem_do_ADD(const float *x, const double *n, int flags, float *y)
{
	(void)flags;
	const float f = (float)n[0];
	const float a = x[0];
	float t = f * x[1];
	y[0] = (a + t);
}

LS_FN void ls_elem_do_SUB(const float *x, const double *n, int flags, float *y)
{
	(void)flags;
	const float f = (float)n[0];
	const float a = x[0];
	float t = f * x[1];
	y[0] = (a - t);
}

LS_FN void ls_elem_do_MUL(const float *x, const double *n, int flags, float *y)
{
	(void)n, (void)flags;
	const float a = x[0];
	y[0] = (a * x[1]);
}

LS_FN void ls_elem_do_DIV(const float *x, const double *n, int flags, float *y)
{
	(void)n, (void)flags;
	const float a = x[0];
	y[0] = (a / x[1]);
}

LS_FN void ls_elem_do_MAXIMUM(const float *x, const double *n, int flags, float *y)
{
	(void)n, (void)flags;
	const float a = x[0];
	y[0] = ls_elem_maximum(a, x[1]);
}

LS_FN void ls_elem_do_MINIMUM(const float *x, const double *n, int flags, float *y)
{
	(void)n, (void)flags;
	const float a = x[0];
	y[0] = ls_elem_minimum(a, x[1]);
}

LS_FN void ls_elem_do_LERP(const float *x, const double *n, int flags, float *y)
{
	(void)flags;
	const float f = (float)n[0];
	const float a = x[0];
	y[0] = ls_elem_lerp(a, x[1], f);
}

LS_FN void ls_elem_do_LERP_TENSOR(const float *x, const double *n, int flags, float *y)
{
	(void)n, (void)flags;
	const float a = x[0];
	y[0] = ls_elem_lerp(a, x[1], x[2]);
}

LS_FN void ls_elem_do_ADDCMUL(const float *x, const double *n, int flags, float *y)
{
	(void)flags;
	const float f = (float)n[0];
	const float a = x[0];
	float t = f * (x[1] * x[2]);
	y[0] = (a + t);
}

LS_FN void ls_elem_do_ADDCDIV(const float *x, const double *n, int flags, float *y)
{
	(void)flags;
	const float f = (float)n[0];
	const float a = x[0];
	float t = f * (x[1] / x[2]);
	y[0] = (a + t);
}

LS_FN void ls_elem_do_WHERE(const float *x, const double *n, int flags, float *y)
{
	(void)n, (void)flags;
	const float a = x[0];
	y[0] = (a != 0.0f ? x[1] : x[2]);
}

LS_FN void ls_elem_do_MASKED_FILL(const float *x, const double *n, int flags, float *y)
{
	(void)flags;
	const float f = (float)n[0];
	const float a = x[0];
	y[0] = (x[1] != 0.0f ? f : a);
}

LS_FN void ls_elem_do_CLAMP_TENSOR(const float *x, const double *n, int flags, float *y)
{
	(void)n, (void)flags;
	const float a = x[0];
	y[0] = ls_elem_clamp(a, x[1], x[2]);
}

LS_FN void ls_elem_do_THRESHOLD_BACKWARD(const float *x, const double *n, int flags, float *y)
{
	(void)flags;
	const float f = (float)n[0];
	const float a = x[0];
	y[0] = x[1] <= f ? 0.0f : a;
}

LS_FN void ls_elem_do_LEAKY_RELU_BACKWARD(const float *x, const double *n, int flags, float *y)
{
	(void)flags;
	const float f = (float)n[0];
	const float a = x[0];
	float t = a * f;
	y[0] = (x[1] > 0.0f ? a : t);
}

LS_FN void ls_elem_do_MASK_SCALE(const float *x, const double *n, int flags, float *y)
{
	(void)flags;
	const float f = (float)n[0];
	const float a = x[0];
	float t = a * f;
	y[0] = x[1] != 0.0f ? t : 0.0f;
}

#endif
