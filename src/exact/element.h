/* Reading and writing elements of the matrices of an exact product, and what follows the
 * sum. Owns nothing; any thread. */
#ifndef LS_EXACT_ELEMENT_H
#define LS_EXACT_ELEMENT_H

#include <stdbool.h>

#include "exact/grid.h"
#include "exact/product.h"

static inline float ls_exact_get(const struct ls_exact_matrix *x, int64_t batch, int64_t i,
				 int64_t j)
{
	int64_t at = batch * x->batch + i * x->row + j * x->column;
	switch (x->type) {
	case LS_EXACT_BF16:
		return ls_bf16_value(((const uint16_t *)x->at)[at]);
	case LS_EXACT_F16:
		return ls_f16_value(((const uint16_t *)x->at)[at]);
	default:
		return ((const float *)x->at)[at];
	}
}

static inline void ls_exact_put(const struct ls_exact_matrix *x, int64_t batch, int64_t i,
				int64_t j, double t)
{
	int64_t at = batch * x->batch + i * x->row + j * x->column;
	switch (x->type) {
	case LS_EXACT_BF16:
		((uint16_t *)x->at)[at] = ls_bf16_from(t);
		break;
	case LS_EXACT_F16:
		((uint16_t *)x->at)[at] = ls_f16_from(t);
		break;
	default:
		((float *)x->at)[at] = ls_f32_from(t);
	}
}

static inline bool ls_exact_finite(uint32_t largest_bits)
{
	return largest_bits < 0x7f800000;
}

/* The sum t of element (i, j), with alpha, c and bias, rounded once into out. */
static inline void ls_exact_finish(const struct ls_exact_product *p, int64_t batch, int64_t i,
				   int64_t j, double t)
{
	t = (double)p->alpha * t;
	if (p->c.at)
		t = t + (double)p->beta * (double)ls_exact_get(&p->c, batch, i, j);
	if (p->bias.at)
		t = t + (double)ls_exact_get(&p->bias, batch, i, j);
	ls_exact_put(&p->out, batch, i, j, t);
}

/* The sum of an element whose row or column is not finite: infinity or NaN, as IEEE has
 * it in any order. Products of floats do not overflow in binary64. */
static inline double ls_exact_not_finite(const struct ls_exact_product *p, int64_t batch, int64_t i,
					 int64_t j)
{
	double t = 0;
	for (int64_t l = 0; l < p->k; l++)
		t += (double)ls_exact_get(&p->a, batch, i, l) *
		     (double)ls_exact_get(&p->b, batch, l, j);
	return t;
}

#endif
