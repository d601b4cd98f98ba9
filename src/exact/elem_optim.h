/* Optimizers as one formula an element, each equal to the single operations that PyTorch's
 * loop over parameters makes of it: IEEE 754's in binary32, each rounded by itself. Owns
 * nothing. Any thread; device code too. */
#ifndef LS_EXACT_ELEM_OPTIM_H
#define LS_EXACT_ELEM_OPTIM_H

#include "exact/elem.h"
#include "exact/elem_float.h"

/* The gradient that an optimizer works with. */
LS_FN float ls_elem_grad(float param, float grad, float decay, int flags)
{
	float g = flags & LS_ELEM_MAXIMIZE ? -grad : grad;
	float t = decay * param;
	return decay != 0.0f ? g + t : g;
}

/* n: -lr, decay. */
LS_FN void ls_elem_do_SGD(const float *x, const double *n, int flags, float *y)
{
	float g = ls_elem_grad(x[0], x[1], (float)n[1], flags);
	float step = (float)n[0] * g;
	y[0] = x[0] + step;
}

/* n: -lr, decay, momentum, 1 - dampening. */
LS_FN void ls_elem_do_SGD_MOMENTUM(const float *x, const double *n, int flags, float *y)
{
	float g = ls_elem_grad(x[0], x[1], (float)n[1], flags), momentum = (float)n[2];
	float kept = momentum * x[2], fresh = (float)n[3] * g;
	float buffer = flags & LS_ELEM_FIRST ? g : kept + fresh;
	float ahead = momentum * buffer;
	float step = (float)n[0] * (flags & LS_ELEM_NESTEROV ? g + ahead : buffer);
	y[0] = x[0] + step;
	y[1] = buffer;
}

/* What ls_elem_adam needs, from the numbers of the operation: the factor on the parameter
 * (1 - lr decay, or 1), the decay that the gradient gets, 1 - beta1, beta2, 1 - beta2,
 * sqrt(1 - beta2^step), eps, -lr / (1 - beta1^step). */
LS_FN void ls_elem_adam_numbers(const double *n, double step, double *ret)
{
	int flags = (int)n[6];
	double lr = n[0], decay = n[4];
	double power1 = ls_whole_power(n[1], (uint64_t)step);
	double power2 = ls_whole_power(n[2], (uint64_t)step);
	ret[0] = flags & LS_ELEM_DECOUPLED ? 1.0 - lr * decay : 1.0;
	ret[1] = flags & LS_ELEM_DECOUPLED ? 0.0 : decay;
	ret[2] = 1.0 - n[1];
	ret[3] = n[2];
	ret[4] = 1.0 - n[2];
	ret[5] = ls_sqrt_d(1.0 - power2);
	ret[6] = n[3];
	ret[7] = -(lr / (1.0 - power1));
}

/* top: the largest v so far, or NULL. */
LS_FN void ls_elem_adam(const float *x, const double *n, const float *top, int flags, float *y)
{
	float param = (float)n[0] * x[0];
	float g = ls_elem_grad(param, x[1], (float)n[1], flags);
	float m = ls_elem_lerp(x[2], g, (float)n[2]);
	float kept = (float)n[3] * x[3], square = g * g, fresh = (float)n[4] * square;
	float v = kept + fresh, most = top ? ls_elem_maximum(*top, v) : v;
	float part = ls_sqrtf(most) / (float)n[5];
	float ratio = m / (part + (float)n[6]);
	float step = (float)n[7] * ratio;
	y[0] = param + step;
	y[1] = m;
	y[2] = v;
	y[3] = most;
}

LS_FN void ls_elem_do_ADAM(const float *x, const double *n, int flags, float *y)
{
	float all[LS_ELEM_OUTPUTS];
	ls_elem_adam(x, n, 0, flags, all);
	y[0] = all[0];
	y[1] = all[1];
	y[2] = all[2];
}

LS_FN void ls_elem_do_ADAM_MAX(const float *x, const double *n, int flags, float *y)
{
	ls_elem_adam(x, n, x + 4, flags, y);
}

#endif
