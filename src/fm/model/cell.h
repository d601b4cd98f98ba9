/* The formulas of factorization machines, a lane at a time: what one factor, one term,
 * one parameter goes through. Common subset of C17 and CUDA C++: the CPU's loops and the
 * GPU's threads call the same source. Pure functions; nothing is owned; any thread.
 *
 * Letters: v a factor, w a linear weight, x a value, g the slope of the loss by the
 * score. A step over a batch, for output o and lane f (docs/NUMERICS.md, rules 2 and 3):
 *
 *   forward   over a row's entries, in stored order, in binary32:
 *               t = v x;  S += t;  Q += t t
 *             score = bias + sum(w x) + 0.5 halve(S S - Q)
 *   slope     g = dloss/dscore, in binary32, times the row's weight
 *   backward  over the batch's entries, as order-free sums:
 *               G_v = sum of (g x) S - v sum of (g x) x
 *               G_w = sum of g x,  G_bias = sum of g
 *   update    the optimizer, a parameter at a time, in binary32
 *
 * fwfm, with r(f,g) the weight of fields f and g:
 *
 *   forward   over the entries of field f: W_f = fma(U_f, t, W_f), unless U_f is 0; U_f += t
 *             the rest by fma: E_f = sum over fields h < f of r(f,h) U_h
 *             D_f goes on from E_f, over the other fields
 *             score = bias + sum(w x) + halve(sum of U_f E_f + sum of r(f,f) W_f)
 *   backward  S is replaced by D_f, and x x by r(f,f) x x
 *
 * ffm, for the factors that an entry has for field h:
 *
 *   backward  S is replaced by P = sum over the row's other entries of field h of
 *             v(other, own field) x(other) */
#ifndef LS_FM_MODEL_CELL_H
#define LS_FM_MODEL_CELL_H

#include "fm/model/kinds.h"
#include "num/elem.h"
#include "num/port.h"
#include "num/sum.h"

/* The penalties of one part of the parameters. */
struct ls_penalty {
	float l1, l2;
	int on; /* one of them is not 0 */
};

/* What an optimizer needs beside the parameter: constants of the step. */
struct ls_update {
	int optimizer; /* enum ls_fm_optimizer */
	/* of this step; for SGD divided by the rows of the batch, for Adam
	 * bias-corrected */
	float lr;
	struct ls_penalty penalty[LS_FM_PARTS];
	float beta1, beta2, eps;
	float ftrl_alpha_inv, ftrl_beta; /* 1 / lr, beta */
};

/* A parameter with its state: 0 unused, 1 AdaGrad's sum of squares, 2 Adam's moments or
 * FTRL's z and n. */
struct ls_param {
	float v, s1, s2;
};

#if defined(__cplusplus)
#define LS_AUTO auto
#else
#define LS_AUTO __auto_type
#endif

/* These formulas are macros, because the CPU applies them to whole vectors of lanes and
 * the GPU to one: an entry's part in the sums of a row, a factor's gradient and AdaGrad's
 * step from it, and a term on its way into an order-free sum (num/sum.h: to be taken as
 * bits), where slope is g x 2^p, exact; slope times factor is exact as well (24 + 24
 * bits): the one rounding is onto the grid. */
#define LS_CELL_ADD(s, q, v, x)                                                                    \
	do {                                                                                       \
		LS_AUTO vx_ = (v) * (x);                                                           \
		(s) += vx_;                                                                        \
		(q) += vx_ * vx_;                                                                  \
	} while (0)
/* fwfm: an entry comes to those of its field, which add up to u; w is what they make with
 * each other. join(u, t, w) is fma, but w where u is 0: of a field with one entry it is
 * +0 whatever that is. */
#define LS_CELL_JOIN(u, w, v, x, join)                                                             \
	do {                                                                                       \
		LS_AUTO vx_ = (v) * (x);                                                           \
		(w) = join((u), vx_, (w));                                                         \
		(u) += vx_;                                                                        \
	} while (0)
#define LS_CELL_GRADIENT(main, unit, v, cross) ((main) * (unit) - (v) * (cross))
#define LS_CELL_ADAGRAD(v, s1, g, lr, root)                                                        \
	do {                                                                                       \
		(s1) = (s1) + (g) * (g);                                                           \
		(v) = (v) - (lr) * (g) / root(s1);                                                 \
	} while (0)
#define LS_CELL_TERM(slope, factor) ((slope) * (factor) + LS_MAGIC)

LS_FN float ls_cell_join(float u, float t, float w)
{
	return u == 0.0f ? w : ls_fmaf(u, t, w);
}

LS_FN float ls_cell_sign(float v)
{
	/* without a branch, because it is in vector loops */
	return (float)((v > 0.0f) - (v < 0.0f));
}

/* The gradient with the penalties' part, if there are any. */
LS_FN float ls_cell_regular(float g, float v, const struct ls_penalty *y)
{
	return y->on ? g + y->l2 * v + y->l1 * ls_cell_sign(v) : g;
}

LS_FN struct ls_param ls_cell_sgd(struct ls_param p, float g, const struct ls_update *u,
				  const struct ls_penalty *y)
{
	g = ls_cell_regular(g, p.v, y);
	p.v = p.v - u->lr * g;
	return p;
}

LS_FN struct ls_param ls_cell_adagrad(struct ls_param p, float g, const struct ls_update *u,
				      const struct ls_penalty *y)
{
	g = ls_cell_regular(g, p.v, y);
	LS_CELL_ADAGRAD(p.v, p.s1, g, u->lr, ls_sqrtf);
	return p;
}

LS_FN struct ls_param ls_cell_adam(struct ls_param p, float g, const struct ls_update *u,
				   const struct ls_penalty *y)
{
	g = ls_cell_regular(g, p.v, y);
	p.s1 = u->beta1 * p.s1 + (1.0f - u->beta1) * g;
	p.s2 = u->beta2 * p.s2 + (1.0f - u->beta2) * g * g;
	p.v = p.v - u->lr * p.s1 / (ls_sqrtf(p.s2) + u->eps);
	return p;
}

/* Follow the regularised leader: s1 is z, s2 is n. */
LS_FN float ls_cell_ftrl_weight(float z, float n, const struct ls_update *u,
				const struct ls_penalty *y)
{
	float size = z < 0.0f ? -z : z;
	if (!(size > y->l1))
		return 0.0f;
	float shrunk = size - y->l1;
	float v = shrunk / ((u->ftrl_beta + ls_sqrtf(n)) * u->ftrl_alpha_inv + y->l2);
	return z < 0.0f ? v : -v;
}

LS_FN struct ls_param ls_cell_ftrl(struct ls_param p, float g, const struct ls_update *u,
				   const struct ls_penalty *y)
{
	float n = p.s2 + g * g;
	float sigma = (ls_sqrtf(n) - ls_sqrtf(p.s2)) * u->ftrl_alpha_inv;
	p.s1 = p.s1 + g - sigma * p.v;
	p.s2 = n;
	p.v = ls_cell_ftrl_weight(p.s1, p.s2, u, y);
	return p;
}

/* The z for which FTRL's closed form without penalties gives v when n is 0: the first
 * step starts at v, and its penalties act on v, too. */
LS_FN float ls_cell_ftrl_start(float v, const struct ls_update *u)
{
	return -(v * (u->ftrl_beta * u->ftrl_alpha_inv));
}

LS_FN struct ls_param ls_cell_update(struct ls_param p, float g, const struct ls_update *u,
				     const struct ls_penalty *y)
{
	switch (u->optimizer) {
	case 0:
		return ls_cell_sgd(p, g, u, y);
	case 1:
		return ls_cell_adagrad(p, g, u, y);
	case 2:
		return ls_cell_adam(p, g, u, y);
	default:
		return ls_cell_ftrl(p, g, u, y);
	}
}

/* From the two sums of a factor to its gradient: main / 2^p - v cross. grids.h chooses p
 * such that 2^-p is a normal float: then scaling a sum that is a float does not round
 * again. */
LS_FN float ls_cell_gradient(int64_t main, float unit, float v, float cross)
{
	return LS_CELL_GRADIENT((float)(double)main, unit, v, cross);
}

/* Loss and slope of one score. label is 0..1 for binary. */
LS_FN float ls_cell_logistic_loss(float score, float label)
{
	/* each part only if its label has weight: a hard label costs one softplus, and
	 * nothing cancels */
	float miss = label < 1.0f ? (1.0f - label) * ls_softplusf(score) : 0.0f;
	return label > 0.0f ? miss + label * ls_softplusf(-score) : miss;
}

LS_FN float ls_cell_logistic_slope(float score, float label)
{
	return ls_sigmoidf(score) - label;
}

/* Loss of n scores against class y, its share 1 - soft + soft / n, every other soft / n;
 * slope[] gets p - target. */
LS_FN float ls_cell_softmax(const float *score, uint32_t n, uint32_t y, float soft, float *slope)
{
	float even = soft / (float)n, loss = 0.0f, total = ls_logsumexpf(score, (int)n);
	ls_softmaxf(score, slope, (int)n);
	for (uint32_t c = 0; c < n; c++) {
		float target = c == y ? 1.0f - soft + even : even;
		if (target > 0.0f)
			loss += target * (total - score[c]);
		slope[c] = slope[c] - target;
	}
	return loss;
}

LS_FN float ls_cell_squared_loss(float score, float label)
{
	return 0.5f * (score - label) * (score - label);
}

LS_FN float ls_cell_squared_slope(float score, float label)
{
	return score - label;
}

/* Which class weight a row has, by its label. */
LS_FN uint32_t ls_cell_class(int task, float label)
{
	return task == LS_BINARY ? label > 0.0f : (uint32_t)label;
}

/* Loss and slopes of a row with that weight: outputs scores and slopes. */
LS_FN float ls_cell_row_loss(int task, float soft, const float *score, uint32_t outputs,
			     float label, float weight, float *slope)
{
	if (task == LS_REGRESSION) {
		slope[0] = weight * ls_cell_squared_slope(score[0], label);
		return weight * ls_cell_squared_loss(score[0], label);
	}
	if (task == LS_BINARY) {
		float y = label > 0.0f ? 1.0f - 0.5f * soft : 0.5f * soft;
		slope[0] = weight * ls_cell_logistic_slope(score[0], y);
		return weight * ls_cell_logistic_loss(score[0], y);
	}
	float loss = weight * ls_cell_softmax(score, outputs, (uint32_t)label, soft, slope);
	for (uint32_t o = 0; o < outputs; o++)
		slope[o] *= weight;
	return loss;
}

/* Of a value; value NULL: every one is 1. */
LS_FN float ls_cell_square(const float *value, uint32_t i)
{
	return value ? value[i] * value[i] : 1.0f;
}

/* 1 / the length of a row, of the sum of its squares, or 0 for a row of zeros. */
LS_FN float ls_cell_scale(float squares)
{
	return squares > 0.0f ? 1.0f / ls_sqrtf(squares) : 0.0f;
}

/* The same of its values, whose squares are added up in stored order. */
LS_FN float ls_cell_norm(const float *value, uint32_t n)
{
	float sum = 0.0f;
	for (uint32_t i = 0; i < n; i++)
		sum += ls_cell_square(value, i);
	return ls_cell_scale(sum);
}

#endif
