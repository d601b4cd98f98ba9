/* Element-wise operations: their table, and what one is given (docs/NUMERICS.md,
 * "Operations of neural networks"). The formula of a kind X is ls_elem_do_X, of
 * exact/elem_float.h or exact/elem_double.h, which CPUs and GPUs compile alike. Owns
 * nothing. Any thread; device code too. */
#ifndef LS_EXACT_ELEM_H
#define LS_EXACT_ELEM_H

#include "exact/grid.h"
#include "num/port.h"

/* X(kind, name, inputs, outputs, tensors, numbers). Inputs and outputs are counted; a
 * number that is not said to be of binary64 is rounded to binary32 first. The first group
 * computes in binary32 alone, which GPUs do at full rate. */
#define LS_ELEM_FLOAT_KINDS(X)                                                                     \
	X(COPY, "copy", 1, 1, "~a >out", "")                                                       \
	X(NEG, "neg", 1, 1, "~a >out", "")                                                         \
	X(ABS, "abs", 1, 1, "~a >out", "")                                                         \
	X(RECIPROCAL, "reciprocal", 1, 1, "~a >out", "")                                           \
	X(SQRT, "sqrt", 1, 1, "~a >out", "")                                                       \
	X(RELU, "relu", 1, 1, "~a >out", "")                                                       \
	X(ADD_NUMBER, "add_number", 1, 1, "~a >out", "b")                                          \
	X(RSUB_NUMBER, "rsub_number", 1, 1, "~a >out", "b")                                        \
	X(MUL_NUMBER, "mul_number", 1, 1, "~a >out", "b")                                          \
	X(DIV_NUMBER, "div_number", 1, 1, "~a >out", "b")                                          \
	X(LEAKY_RELU, "leaky_relu", 1, 1, "~a >out", "slope")                                      \
	X(THRESHOLD, "threshold", 1, 1, "~a >out", "threshold value")                              \
	X(CLAMP, "clamp", 1, 1, "~a >out", "least most")                                           \
	X(ADD, "add", 2, 1, "~a ~b >out", "alpha")                                                 \
	X(SUB, "sub", 2, 1, "~a ~b >out", "alpha")                                                 \
	X(MUL, "mul", 2, 1, "~a ~b >out", "")                                                      \
	X(DIV, "div", 2, 1, "~a ~b >out", "")                                                      \
	X(MAXIMUM, "maximum", 2, 1, "~a ~b >out", "")                                              \
	X(MINIMUM, "minimum", 2, 1, "~a ~b >out", "")                                              \
	X(LERP, "lerp", 2, 1, "~a ~b >out", "weight")                                              \
	X(LERP_TENSOR, "lerp_tensor", 3, 1, "~a ~b ~weight >out", "")                              \
	X(ADDCMUL, "addcmul", 3, 1, "~a ~b ~c >out", "value")                                      \
	X(ADDCDIV, "addcdiv", 3, 1, "~a ~b ~c >out", "value")                                      \
	X(WHERE, "where", 3, 1, "~mask ~a ~b >out", "")                                            \
	X(MASKED_FILL, "masked_fill", 2, 1, "~a ~mask >out", "value")                              \
	X(CLAMP_TENSOR, "clamp_tensor", 3, 1, "~a ~least ~most >out", "")                          \
	X(THRESHOLD_BACKWARD, "threshold_backward", 2, 1, "~grad ~a >out", "threshold")            \
	X(LEAKY_RELU_BACKWARD, "leaky_relu_backward", 2, 1, "~grad ~a >out", "slope")              \
	X(MASK_SCALE, "mask_scale", 2, 1, "~a ~mask >out", "scale")                                \
	X(SGD, "sgd", 2, 1, "~param ~grad >param_out", "lr decay flags")                           \
	X(SGD_MOMENTUM, "sgd_momentum", 3, 2, "~param ~grad ~buffer >param_out >buffer_out",       \
	  "lr decay flags momentum dampening")                                                     \
	X(ADAM, "adam", 4, 3, "~param ~grad ~m ~v >param_out >m_out >v_out [step]",                \
	  "lr beta1 beta2 eps decay step flags")                                                   \
	X(ADAM_MAX, "adam_max", 5, 4,                                                              \
	  "~param ~grad ~m ~v ~top >param_out >m_out >v_out >top_out [step]",                      \
	  "lr beta1 beta2 eps decay step flags")

/* Binary64, rounded once. */
#define LS_ELEM_DOUBLE_KINDS(X)                                                                    \
	X(RSQRT, "rsqrt", 1, 1, "~a >out", "")                                                     \
	X(EXP, "exp", 1, 1, "~a >out", "")                                                         \
	X(EXPM1, "expm1", 1, 1, "~a >out", "")                                                     \
	X(LOG, "log", 1, 1, "~a >out", "")                                                         \
	X(LOG1P, "log1p", 1, 1, "~a >out", "")                                                     \
	X(SIN, "sin", 1, 1, "~a >out", "")                                                         \
	X(COS, "cos", 1, 1, "~a >out", "")                                                         \
	X(TANH, "tanh", 1, 1, "~a >out", "")                                                       \
	X(ERF, "erf", 1, 1, "~a >out", "")                                                         \
	X(SIGMOID, "sigmoid", 1, 1, "~a >out", "")                                                 \
	X(SILU, "silu", 1, 1, "~a >out", "")                                                       \
	X(GELU, "gelu", 1, 1, "~a >out", "")                                                       \
	X(GELU_TANH, "gelu_tanh", 1, 1, "~a >out", "")                                             \
	X(SOFTPLUS, "softplus", 1, 1, "~a >out", "beta threshold")                                 \
	X(ELU, "elu", 1, 1, "~a >out", "alpha scale input_scale")                                  \
	X(POW_NUMBER, "pow_number", 1, 1, "~a >out", "exponent")                                   \
	X(NUMBER_POW, "number_pow", 1, 1, "~a >out", "base")                                       \
	X(POW, "pow", 2, 1, "~a ~b >out", "")                                                      \
	X(TANH_BACKWARD, "tanh_backward", 2, 1, "~grad ~y >out", "")                               \
	X(SIGMOID_BACKWARD, "sigmoid_backward", 2, 1, "~grad ~y >out", "")                         \
	X(SILU_BACKWARD, "silu_backward", 2, 1, "~grad ~a >out", "")                               \
	X(GELU_BACKWARD, "gelu_backward", 2, 1, "~grad ~a >out", "")                               \
	X(GELU_TANH_BACKWARD, "gelu_tanh_backward", 2, 1, "~grad ~a >out", "")                     \
	X(SOFTPLUS_BACKWARD, "softplus_backward", 2, 1, "~grad ~a >out", "beta threshold")         \
	X(ELU_BACKWARD, "elu_backward", 2, 1, "~grad ~a >out", "alpha scale input_scale")

#define LS_ELEM_KINDS(X) LS_ELEM_FLOAT_KINDS(X) LS_ELEM_DOUBLE_KINDS(X)

#define LS_ELEM_ENUM(kind, name, inputs, outputs, tensors, numbers) LS_ELEM_##kind,
enum ls_elem_kind { LS_ELEM_KINDS(LS_ELEM_ENUM) LS_ELEM_COUNT };
#undef LS_ELEM_ENUM

enum {
	LS_ELEM_FIRST_DOUBLE = LS_ELEM_RSQRT,
	LS_ELEM_DIMS = 8,
	LS_ELEM_TENSORS = 9,
	LS_ELEM_INPUTS = 5,
	LS_ELEM_OUTPUTS = 4,
	LS_ELEM_NUMBERS = 8
};

/* Bits of the number `flags` of optimizers. */
enum {
	LS_ELEM_MAXIMIZE = 1, /* the gradient with the other sign */
	LS_ELEM_NESTEROV = 2,
	LS_ELEM_FIRST = 4,    /* SGD: the momentum buffer has nothing in it yet */
	LS_ELEM_DECOUPLED = 8 /* Adam: weight decay apart from the gradient (AdamW) */
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
	int vectors; /* GPU: elements that can be moved at a time: 8, 4 if all are float32, or 0 */
	int64_t count, size[LS_ELEM_DIMS];
	struct ls_elem_tensor t[LS_ELEM_TENSORS]; /* inputs, then outputs */
	double number[LS_ELEM_NUMBERS];           /* those of ls_elem_formula */
	const double *numbers; /* GPU: instead of number, in its memory; or NULL */
	int flags;             /* of an optimizer */
};

enum { LS_ELEM_VECTOR = 8 };

/* --- memory --- */

/* Where element `number` of a shape lies, the last dimension running fastest. */
LS_FN int64_t ls_elem_locate(int ndim, const int64_t *size, const int64_t *stride, int64_t number)
{
	int64_t at = 0;
	for (int d = ndim - 1; d > 0; d--) {
		int64_t n = size[d], rest;
		if ((uint64_t)(number | n) >> 32) {
			rest = number % n;
			number /= n;
		} else { /* a division of 32 bits is several times as fast */
			rest = (uint32_t)number % (uint32_t)n;
			number = (uint32_t)number / (uint32_t)n;
		}
		at += rest * stride[d];
	}
	return ndim ? at + number * stride[0] : 0;
}

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

#endif
