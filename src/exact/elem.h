/* Element-wise operations: their table, and for each kind the formula that CPUs and GPUs
 * compile (docs/NUMERICS.md, "Operations of neural networks"). Owns nothing. Any thread;
 * device code too. */
#ifndef LS_EXACT_ELEM_H
#define LS_EXACT_ELEM_H

#include "exact/grid.h"
#include "num/elem.h"

/* X(kind, name, inputs, outputs, tensors, numbers). Kinds up to LS_ELEM_LAST_FLOAT use
 * binary32 alone, which GPUs run at full rate. */
#define LS_ELEM_KINDS(X)                                                                           \
	X(COPY, "copy", 1, 1, "~a >out", "")                                                       \
	X(ADD, "add", 2, 1, "~a ~b >out", "alpha")                                                 \
	X(MUL, "mul", 2, 1, "~a ~b >out", "")                                                      \
	X(LAST_FLOAT, "neg", 1, 1, "~a >out", "")                                                  \
	X(EXP, "exp", 1, 1, "~a >out", "")                                                         \
	X(SIGMOID, "sigmoid", 1, 1, "~a >out", "")

#define LS_ELEM_ENUM(kind, name, inputs, outputs, tensors, numbers) LS_ELEM_##kind,
enum ls_elem_kind { LS_ELEM_KINDS(LS_ELEM_ENUM) LS_ELEM_COUNT };
#undef LS_ELEM_ENUM

enum {
	LS_ELEM_DIMS = 8,
	LS_ELEM_TENSORS = 12,
	LS_ELEM_INPUTS = 8,
	LS_ELEM_OUTPUTS = 4,
	LS_ELEM_NUMBERS = 8
};

/* The values of enum ls_exact_type, which device code cannot include. */
enum {
	LS_ELEM_F32,
	LS_ELEM_BF16,
	LS_ELEM_F16,
	LS_ELEM_F64,
	LS_ELEM_I64,
	LS_ELEM_I32,
	LS_ELEM_U8,
	LS_ELEM_BOOL
};

struct ls_elem_tensor {
	void *at;
	int64_t stride[LS_ELEM_DIMS]; /* elements */
	int type;
};

/* One operation, as the CPU's loops and the GPU's kernels get it: `count` elements of a
 * common shape, dimensions merged where all tensors allow it, the innermost last. */
struct ls_elem {
	int kind, inputs, outputs, ndim;
	int vectors; /* GPU: groups of LS_ELEM_VECTOR elements can be moved at a time */
	int64_t count, size[LS_ELEM_DIMS];
	struct ls_elem_tensor t[LS_ELEM_TENSORS]; /* inputs, then outputs */
	double number[LS_ELEM_NUMBERS];
};

enum { LS_ELEM_VECTOR = 8 };

/* --- memory --- */

LS_FN float ls_elem_load(const void *at, int type, int64_t i)
{
	switch (type) {
	case LS_ELEM_F32:
		return ((const float *)at)[i];
	case LS_ELEM_BF16:
		return ls_bf16_value(((const uint16_t *)at)[i]);
	case LS_ELEM_F16:
		return ls_f16_value(((const uint16_t *)at)[i]);
	case LS_ELEM_I64:
		return (float)((const int64_t *)at)[i];
	case LS_ELEM_I32:
		return (float)((const int32_t *)at)[i];
	default:
		return (float)((const uint8_t *)at)[i];
	}
}

/* y rounded once. y may have been rounded to odd (ls_grid_odd_float) before, for types of
 * 16 bits. */
LS_FN void ls_elem_store(void *at, int type, int64_t i, double y)
{
	switch (type) {
	case LS_ELEM_F32:
		((float *)at)[i] = ls_f32_from(y);
		break;
	case LS_ELEM_BF16:
		((uint16_t *)at)[i] = ls_bf16_from(y);
		break;
	case LS_ELEM_F16:
		((uint16_t *)at)[i] = ls_f16_from(y);
		break;
	default:
		((uint8_t *)at)[i] = y != 0.0;
	}
}

/* --- formulas: x are the inputs, n the numbers, y the outputs before their rounding.
 * Results in binary32 are widened, which is exact --- */

LS_FN void ls_elem_formula(int kind, const float *x, const double *n, double *y)
{
	const float f = (float)n[0];
	switch (kind) {
	case LS_ELEM_COPY:
		y[0] = (double)x[0];
		break;
	case LS_ELEM_ADD: {
		float t = f * x[1];
		y[0] = (double)(x[0] + t);
		break;
	}
	case LS_ELEM_MUL:
		y[0] = (double)(x[0] * x[1]);
		break;
	case LS_ELEM_LAST_FLOAT:
		y[0] = (double)-x[0];
		break;
	case LS_ELEM_EXP:
		y[0] = ls_exp_d((double)x[0]);
		break;
	case LS_ELEM_SIGMOID:
		y[0] = ls_sigmoid_d((double)x[0]);
		break;
	default:
		y[0] = 0;
	}
}

#endif
