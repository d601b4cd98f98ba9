/* Element-wise operations on the CPU, compiled once an instruction set. Inputs become
 * floats, a chunk at a time; the formula's loop is then a vector loop. */
#include <stdbool.h>
#include <string.h>

#include "base/inline.h"
#include "exact/cpu/kern.h"
#include "exact/cpu/tile.h"
#include "exact/elem_double.h"
#include "exact/elem_float.h"
#include "exact/elem_optim.h"

enum { CHUNK = 256 };

/* --- elements that need not lie side by side --- */

static void fetch(const struct ls_elem_tensor *x, int64_t at, int64_t stride, int64_t n, float *out)
{
	const float *f32 = (const float *)x->at + at;
	const uint16_t *u16 = (const uint16_t *)x->at + at;
	if (x->type == LS_ELEM_F32)
		for (int64_t i = 0; i < n; i++)
			out[i] = f32[i * stride];
	else if (x->type == LS_ELEM_BF16)
		for (int64_t i = 0; i < n; i++)
			out[i] = ls_bf16_value(u16[i * stride]);
	else if (x->type == LS_ELEM_F16)
		for (int64_t i = 0; i < n; i++)
			out[i] = ls_f16_value(u16[i * stride]);
	else
		for (int64_t i = 0; i < n; i++)
			out[i] = ls_elem_load(x->at, x->type, at + i * stride);
}

static void put(const struct ls_elem_tensor *x, int64_t at, int64_t stride, int64_t n,
		const float *from)
{
	if (x->type == LS_ELEM_F32 && stride == 1)
		for (int64_t i = 0; i < n; i++)
			((float *)x->at)[at + i] = ls_f32_canonical(from[i]);
	else if (x->type == LS_ELEM_BF16)
		for (int64_t i = 0; i < n; i++)
			((uint16_t *)x->at)[at + i * stride] = ls_bf16_round(from[i]);
	else
		for (int64_t i = 0; i < n; i++)
			ls_elem_store(x->at, x->type, at + i * stride, (double)from[i]);
}

/* The same from binary64. */
static void put_wide(const struct ls_elem_tensor *x, int64_t at, int64_t stride, int64_t n,
		     const double *from)
{
	if (x->type == LS_ELEM_F32)
		for (int64_t i = 0; i < n; i++)
			((float *)x->at)[at + i * stride] = ls_f32_from(from[i]);
	else if (x->type == LS_ELEM_BF16)
		for (int64_t i = 0; i < n; i++)
			((uint16_t *)x->at)[at + i * stride] = ls_bf16_from(from[i]);
	else
		for (int64_t i = 0; i < n; i++)
			ls_elem_store(x->at, x->type, at + i * stride, from[i]);
}

/* Where element `number` lies, and how many follow it along the innermost dimension. */
static int64_t locate(const struct ls_elem *e, const struct ls_elem_tensor *x, int64_t number,
		      int64_t *ret_left)
{
	int64_t inner = e->ndim ? e->size[e->ndim - 1] : 1;
	*ret_left = inner - number % inner;
	return ls_elem_locate(e->ndim, e->size, x->stride, number);
}

static int64_t inner_stride(const struct ls_elem *e, const struct ls_elem_tensor *x)
{
	return e->ndim ? x->stride[e->ndim - 1] : 0;
}

/* The floats of elements [from, from + n): the tensor's own, or in room. */
static const float *gather(const struct ls_elem *e, const struct ls_elem_tensor *x, int64_t from,
			   int64_t n, float *room)
{
	int64_t stride = inner_stride(e, x), left, at = locate(e, x, from, &left);
	if (x->type == LS_ELEM_F32 && stride == 1 && left >= n)
		return (const float *)x->at + at;
	for (int64_t done = 0, part; done < n; done += part) {
		at = locate(e, x, from + done, &left);
		part = left < n - done ? left : n - done;
		fetch(x, at, stride, part, room + done);
	}
	return room;
}

/* room: floats, or NULL, and then wide. */
static void scatter(const struct ls_elem *e, const struct ls_elem_tensor *x, int64_t from,
		    int64_t n, const float *room, const double *wide)
{
	int64_t stride = inner_stride(e, x);
	for (int64_t done = 0, part, left; done < n; done += part) {
		int64_t at = locate(e, x, from + done, &left);
		part = left < n - done ? left : n - done;
		if (room)
			put(x, at, stride, part, room + done);
		else
			put_wide(x, at, stride, part, wide + done);
	}
}

/* --- loops: always inlined with their formula --- */

typedef void float_formula(const float *x, const double *n, int flags, float *y);
typedef double double_formula(double x, double z, const double *n);

/* What a chunk needs: inputs as floats, and room for the outputs. */
struct chunk {
	const float *in[LS_ELEM_INPUTS];
	float x[LS_ELEM_INPUTS][CHUNK], y[LS_ELEM_OUTPUTS][CHUNK];
	double wide[CHUNK]; /* the output of a formula in binary64 */
};

INLINE void float_loop(float_formula *formula, int inputs, int outputs, const struct ls_elem *e,
		       struct chunk *c, int64_t n)
{
	const float *in0 = c->in[0], *in1 = c->in[1], *in2 = c->in[2], *in3 = c->in[3],
		    *in4 = c->in[4];
	float *restrict y0 = c->y[0], *restrict y1 = c->y[1], *restrict y2 = c->y[2],
			*restrict y3 = c->y[3];
	double number[LS_ELEM_NUMBERS];
	const int flags = e->flags;
	memcpy(number, e->number, sizeof number);
	for (int64_t i = 0; i < n; i++) {
		float y[LS_ELEM_OUTPUTS];
		const float x[LS_ELEM_INPUTS] = {in0[i], inputs > 1 ? in1[i] : 0,
						 inputs > 2 ? in2[i] : 0, inputs > 3 ? in3[i] : 0,
						 inputs > 4 ? in4[i] : 0};
		formula(x, number, flags, y);
		y0[i] = y[0];
		if (outputs > 1)
			y1[i] = y[1];
		if (outputs > 2)
			y2[i] = y[2];
		if (outputs > 3)
			y3[i] = y[3];
	}
}

INLINE void double_loop(double_formula *formula, int inputs, const struct ls_elem *e,
			struct chunk *c, int64_t n)
{
	const float *x = c->in[0], *z = c->in[1];
	double *restrict y = c->wide;
	double number[LS_ELEM_NUMBERS];
	memcpy(number, e->number, sizeof number);
	for (int64_t i = 0; i < n; i++)
		y[i] = formula((double)x[i], inputs > 1 ? (double)z[i] : 0.0, number);
}

static void compute(const struct ls_elem *e, struct chunk *c, int64_t n)
{
	switch (e->kind) {
#define FLOAT(kind, name, inputs, outputs, tensors, numbers)                                       \
	case LS_ELEM_##kind:                                                                       \
		float_loop(ls_elem_do_##kind, inputs, outputs, e, c, n);                           \
		break;
		LS_ELEM_FLOAT_KINDS(FLOAT)
#undef FLOAT
#define DOUBLE(kind, name, inputs, outputs, tensors, numbers)                                      \
	case LS_ELEM_##kind:                                                                       \
		double_loop(ls_elem_do_##kind, inputs, e, c, n);                                   \
		break;
		LS_ELEM_DOUBLE_KINDS(DOUBLE)
#undef DOUBLE
	default:
		break;
	}
}

static void elem(const struct ls_elem *e, int64_t from, int64_t to)
{
	struct chunk c;
	for (int64_t n; from < to; from += n) {
		n = to - from < CHUNK ? to - from : CHUNK;
		for (int k = 0; k < e->inputs; k++)
			c.in[k] = gather(e, &e->t[k], from, n, c.x[k]);
		compute(e, &c, n);
		bool wide = e->kind >= LS_ELEM_FIRST_DOUBLE;
		for (int k = 0; k < e->outputs; k++)
			scatter(e, &e->t[e->inputs + k], from, n, wide ? NULL : c.y[k], c.wide);
	}
}

const struct ls_exact_elem_kern LS_EXACT_NAME(elem) = {elem};
