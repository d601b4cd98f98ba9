/* Element-wise operations on the CPU, compiled once an instruction set. Inputs become
 * floats, a chunk at a time; the formula's loop is then a vector loop. */
#include "exact/elem.h"

#include <stdbool.h>
#include <string.h>

#include "base/inline.h"
#include "exact/cpu/kern.h"
#include "exact/cpu/tile.h"

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
		memcpy((float *)x->at + at, from, sizeof *from * (size_t)n);
	else if (x->type == LS_ELEM_BF16)
		for (int64_t i = 0; i < n; i++)
			((uint16_t *)x->at)[at + i * stride] = ls_bf16_from((double)from[i]);
	else
		for (int64_t i = 0; i < n; i++)
			ls_elem_store(x->at, x->type, at + i * stride, (double)from[i]);
}

/* Where element `number` lies, and how many follow it along the innermost dimension. */
static int64_t locate(const struct ls_elem *e, const struct ls_elem_tensor *x, int64_t number,
		      int64_t *ret_left)
{
	int64_t at = 0;
	*ret_left = 1;
	for (int d = e->ndim - 1; d >= 0; d--) {
		int64_t i = number % e->size[d];
		number /= e->size[d];
		at += i * x->stride[d];
		if (d == e->ndim - 1)
			*ret_left = e->size[d] - i;
	}
	return at;
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

static void scatter(const struct ls_elem *e, const struct ls_elem_tensor *x, int64_t from,
		    int64_t n, const float *room)
{
	for (int64_t done = 0, part, left; done < n; done += part) {
		int64_t at = locate(e, x, from + done, &left);
		part = left < n - done ? left : n - done;
		put(x, at, inner_stride(e, x), part, room + done);
	}
}

/* --- loops --- */

/* odd: an output has 16 bits, and is rounded once more. */
INLINE void loop(int kind, int inputs, int outputs, bool odd, const float *const *in,
		 const double *number, int64_t n, float *restrict y0, float *restrict y1,
		 float *restrict y2, float *restrict y3)
{
	float *out[LS_ELEM_OUTPUTS] = {y0, y1, y2, y3};
	for (int64_t i = 0; i < n; i++) {
		float x[LS_ELEM_INPUTS];
		double y[LS_ELEM_OUTPUTS];
		for (int k = 0; k < inputs; k++)
			x[k] = in[k][i];
		ls_elem_formula(kind, x, number, y);
		for (int k = 0; k < outputs; k++)
			out[k][i] = odd ? ls_grid_odd_float(y[k]) : ls_f32_from(y[k]);
	}
}

static void compute(int kind, bool odd, const float *const *in, const double *number, int64_t n,
		    float (*y)[CHUNK])
{
	switch (kind) {
#define LOOP(kind, name, inputs, outputs, tensors, numbers)                                        \
	case LS_ELEM_##kind:                                                                       \
		if (odd)                                                                           \
			loop(LS_ELEM_##kind, inputs, outputs, true, in, number, n, y[0], y[1],     \
			     y[2], y[3]);                                                          \
		else                                                                               \
			loop(LS_ELEM_##kind, inputs, outputs, false, in, number, n, y[0], y[1],    \
			     y[2], y[3]);                                                          \
		break;
		LS_ELEM_KINDS(LOOP)
#undef LOOP
	default:
		break;
	}
}

static bool has_halves(const struct ls_elem *e)
{
	for (int k = e->inputs; k < e->inputs + e->outputs; k++)
		if (e->t[k].type == LS_ELEM_BF16 || e->t[k].type == LS_ELEM_F16)
			return true;
	return false;
}

static void elem(const struct ls_elem *e, int64_t from, int64_t to)
{
	float x[LS_ELEM_INPUTS][CHUNK], y[LS_ELEM_OUTPUTS][CHUNK];
	const float *in[LS_ELEM_INPUTS];
	bool odd = has_halves(e);
	for (int64_t n; from < to; from += n) {
		n = to - from < CHUNK ? to - from : CHUNK;
		for (int k = 0; k < e->inputs; k++)
			in[k] = gather(e, &e->t[k], from, n, x[k]);
		compute(e->kind, odd, in, e->number, n, y);
		for (int k = 0; k < e->outputs; k++)
			scatter(e, &e->t[e->inputs + k], from, n, y[k]);
	}
}

const struct ls_exact_elem_kern LS_EXACT_NAME(elem) = {elem};
