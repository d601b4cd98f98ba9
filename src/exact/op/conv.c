/* Convolutions and their gradients by name: exact/conv_plan.h has the definition. Tensors
 * are samples × channels × three dimensions of places (the caller adds those of size 1),
 * weights are output channels × input channels of a group × three. */
#include "exact/conv_plan.h"
#include "exact/cpu/conv_cpu.h"
#include "exact/cuda/host/conv_cuda.h"
#include "exact/op/family.h"
#include "exact/op/tensor.h"

enum { FIRST, SECOND, OUT, BIAS };
enum { GRID, GROUPS, STRIDE, PAD = STRIDE + LS_CONV_DIMS, DILATION = PAD + LS_CONV_DIMS };

#define NUMBERS "grid groups stride0 stride1 stride2 pad0 pad1 pad2 dilation0 dilation1 dilation2"

static const struct ls_exact_op_row rows[] = {
	{"conv", "x w >out [bias]", NUMBERS, LS_CONV_FORWARD},
	{"conv_back_input", "g w >out [bias]", NUMBERS, LS_CONV_BACK_INPUT},
	{"conv_back_weight", "g x >out", NUMBERS, LS_CONV_BACK_WEIGHT},
	{NULL, NULL, NULL, 0},
};

/* Which tensor is input, output or weights of the forward convolution. */
static const struct {
	int x, y, w;
} roles[] = {
	[LS_CONV_FORWARD] = {FIRST, OUT, SECOND},
	[LS_CONV_BACK_INPUT] = {OUT, FIRST, SECOND},
	[LS_CONV_BACK_WEIGHT] = {SECOND, FIRST, OUT},
};

static struct ls_conv_tensor tensor_of(const struct ls_exact_tensor *x)
{
	return (struct ls_conv_tensor){x->at,
				       x->type,
				       x->stride[0],
				       x->stride[1],
				       {x->stride[2], x->stride[3], x->stride[4]}};
}

static struct ls_conv_plan plan_of(const struct ls_exact_call *c)
{
	const int kind = c->row->kind;
	const struct ls_exact_tensor *x = &c->tensor[roles[kind].x], *y = &c->tensor[roles[kind].y],
				     *w = &c->tensor[roles[kind].w],
				     *bias = ls_exact_given(c, BIAS);
	struct ls_conv_plan p = {.conv = {.kind = kind,
					  .bits = (int)c->number[GRID],
					  .samples = x->size[0],
					  .groups = (int64_t)c->number[GROUPS],
					  .source = tensor_of(kind == LS_CONV_BACK_INPUT ? y : x),
					  .other = tensor_of(kind == LS_CONV_BACK_WEIGHT ? y : w),
					  .out = tensor_of(&c->tensor[OUT]),
					  .bias = bias ? bias->at : NULL,
					  .bias_step = bias ? bias->stride[0] : 0,
					  .bias_type = bias ? bias->type : 0}};
	struct ls_conv *v = &p.conv;
	int64_t in = w->size[1], out = w->size[0] / v->groups;
	v->lines = kind == LS_CONV_BACK_INPUT ? in : out;
	v->channels = kind == LS_CONV_BACK_INPUT ? out : in;
	v->w_group = out * w->stride[0];
	if (kind == LS_CONV_BACK_INPUT) { /* its lines are the weights' columns */
		v->other.sample = w->stride[1];
		v->other.channel = w->stride[0];
	}
	for (int d = 0; d < LS_CONV_DIMS; d++) {
		p.in[d] = x->size[2 + d];
		p.out[d] = y->size[2 + d];
		p.kernel[d] = w->size[2 + d];
		p.stride[d] = (int64_t)c->number[STRIDE + d];
		p.pad[d] = (int64_t)c->number[PAD + d];
		p.dilation[d] = (int64_t)c->number[DILATION + d];
	}
	return p;
}

static int check_tensor(const struct ls_exact_call *c, size_t i, struct ls_err *err)
{
	const struct ls_exact_tensor *x = &c->tensor[i];
	int ndim = i == BIAS ? 1 : 2 + LS_CONV_DIMS;
	if (!ls_exact_is_float(x->type))
		return ls_exact_refuse(c, i, err,
				       "is %s; convolutions have float32, bfloat16 and float16",
				       ls_exact_type_name(x->type));
	if (x->ndim != ndim)
		return ls_exact_refuse(c, i, err, "has %d dimensions, not %d", x->ndim, ndim);
	return 0;
}

static int check_channels(const struct ls_exact_call *c, struct ls_err *err)
{
	const int kind = c->row->kind;
	const struct ls_exact_tensor *x = &c->tensor[roles[kind].x], *y = &c->tensor[roles[kind].y],
				     *w = &c->tensor[roles[kind].w];
	double groups = c->number[GROUPS];
	if (!(groups >= 1 && groups <= 1 << 30) || groups != (double)(int64_t)groups ||
	    w->size[0] % (int64_t)groups != 0)
		return ls_exact_refuse(c, (size_t)roles[kind].w, err,
				       "has %lld output channels, which are no %g groups",
				       (long long)w->size[0], groups);
	if (x->size[1] != w->size[1] * (int64_t)groups)
		return ls_exact_refuse(c, (size_t)roles[kind].x, err,
				       "has %lld channels, and the weights %lld in %g groups",
				       (long long)x->size[1], (long long)w->size[1], groups);
	if (y->size[1] != w->size[0] || y->size[0] != x->size[0])
		return ls_exact_refuse(c, (size_t)roles[kind].y, err,
				       "has %lld samples of %lld channels, not %lld of %lld",
				       (long long)y->size[0], (long long)y->size[1],
				       (long long)x->size[0], (long long)w->size[0]);
	const struct ls_exact_tensor *bias = ls_exact_given(c, BIAS);
	int64_t lines = c->tensor[OUT].size[1];
	if (bias && bias->size[0] != lines)
		return ls_exact_refuse(c, BIAS, err, "has %lld elements, not %lld",
				       (long long)bias->size[0], (long long)lines);
	return 0;
}

static int check(const struct ls_exact_call *c, struct ls_err *err)
{
	for (size_t i = 0; i < c->tensors; i++) {
		int rc = i == BIAS && !c->tensor[i].at ? 0 : check_tensor(c, i, err);
		if (rc)
			return rc;
	}
	for (size_t i = STRIDE; i < c->numbers; i++)
		if (!(c->number[i] >= 0 && c->number[i] < 1 << 30))
			return ls_err_set(err, LS_EINPUT, "%s: number %zu is %g", c->row->name, i,
					  c->number[i]);
	int rc = check_channels(c, err);
	if (rc)
		return rc;
	struct ls_conv_plan p = plan_of(c);
	return ls_conv_check(&p, err);
}

static int scratch(const struct ls_exact_call *c, size_t *ret, struct ls_err *err)
{
	struct ls_conv_plan p = plan_of(c);
	(void)err;
	*ret = c->where->device == LS_EXACT_CUDA ? ls_conv_cuda_scratch(&p) : 0;
	return 0;
}

static int cpu(const struct ls_exact_call *c, struct ls_err *err)
{
	struct ls_conv_plan p = plan_of(c);
	return ls_conv_cpu(&p, c->where->threads, c->where->isa, err);
}

static int cuda(const struct ls_exact_call *c, struct ls_exact_context *context, struct ls_err *err)
{
	struct ls_conv_plan p = plan_of(c);
	return ls_conv_cuda(context, &p, c->where->scratch, c->where->stream, err);
}

const struct ls_exact_family ls_exact_family_conv = {rows, check, scratch, cpu, cuda};
