/* Element-wise operations by name: exact/elem.h has their table and formulas. All tensors
 * have one shape; what is broadcast has strides of 0. */
#include <string.h>

#include "exact/cpu/kern.h"
#include "exact/cpu/threads.h"
#include "exact/elem_optim.h"
#include "exact/op/family.h"
#include "exact/op/tensor.h"

enum { PART = 1 << 14 /* elements of a task */, THREADS = 256 /* of a block */ };

_Static_assert((int)LS_ELEM_BOOL == (int)LS_EXACT_BOOL && (int)LS_ELEM_F64 == (int)LS_EXACT_F64 &&
		       (int)LS_ELEM_F16 == (int)LS_EXACT_F16,
	       "exact/elem.h repeats the types of lockstep.h");

#define ROW(kind, name, inputs, outputs, tensors, numbers) {name, tensors, numbers, LS_ELEM_##kind},
static const struct ls_exact_op_row rows[] = {LS_ELEM_KINDS(ROW){NULL, NULL, NULL, 0}};
#undef ROW

static const struct {
	int inputs, outputs;
} sides[] = {
#define SIDES(kind, name, inputs, outputs, tensors, numbers) {inputs, outputs},
	LS_ELEM_KINDS(SIDES)
#undef SIDES
};

/* The number of the step of Adam is a tensor of one element where `step` is 0. */
static const struct ls_exact_tensor *step_of(const struct ls_exact_call *c)
{
	return ls_exact_given(c,
			      (size_t)(sides[c->row->kind].inputs + sides[c->row->kind].outputs));
}

static bool is_adam(int kind)
{
	return kind == LS_ELEM_ADAM || kind == LS_ELEM_ADAM_MAX;
}

static int check_step(const struct ls_exact_call *c, struct ls_err *err)
{
	enum { STEP = 5 };
	const struct ls_exact_tensor *x = step_of(c);
	double step = c->number[STEP];
	if (x && (x->type != LS_EXACT_F32 || ls_exact_count(x) != 1))
		return ls_exact_refuse(c, (size_t)(x - c->tensor), err, "is not one float32");
	if (!x && !(step >= 1 && step < 0x1p53))
		return ls_err_set(err, LS_EINPUT, "%s: the first step is 1, not %g", c->row->name,
				  step);
	return 0;
}

static int check(const struct ls_exact_call *c, struct ls_err *err)
{
	const size_t tensors = (size_t)(sides[c->row->kind].inputs + sides[c->row->kind].outputs);
	for (size_t i = 0; i < tensors; i++) {
		const struct ls_exact_tensor *x = &c->tensor[i];
		if (!ls_exact_same_shape(x, &c->tensor[0]))
			return ls_exact_refuse(c, i, err,
					       "has another shape than the first; broadcast it by "
					       "strides of 0");
		if (x->type == LS_EXACT_F64)
			return ls_exact_refuse(c, i, err, "is float64, which is not computed here");
		if (ls_exact_is_written(c->row, i) && !ls_exact_is_float(x->type))
			return ls_exact_refuse(c, i, err,
					       "is %s; results are float32, bfloat16 or float16",
					       ls_exact_type_name(x->type));
	}
	return is_adam(c->row->kind) ? check_step(c, err) : 0;
}

static int scratch(const struct ls_exact_call *c, size_t *ret, struct ls_err *err)
{
	(void)err;
	bool needed = c->where->device == LS_EXACT_CUDA && step_of(c);
	*ret = needed ? sizeof(double) * LS_ELEM_NUMBERS : 0;
	return 0;
}

/* --- one shape for all, of as few dimensions as possible --- */

static bool can_merge(const struct ls_elem *e, int d, const struct ls_exact_tensor *x, int tensors,
		      int from)
{
	for (int k = 0; k < tensors; k++)
		if (e->t[k].stride[d] != x[k].stride[from] * x[k].size[from])
			return false;
	return true;
}

static void take_dimension(struct ls_elem *e, const struct ls_exact_tensor *x, int tensors,
			   int from)
{
	if (x->size[from] == 1)
		return;
	bool merge = e->ndim > 0 && can_merge(e, e->ndim - 1, x, tensors, from);
	int d = merge ? e->ndim - 1 : e->ndim++;
	e->size[d] = merge ? e->size[d] * x->size[from] : x->size[from];
	for (int k = 0; k < tensors; k++)
		e->t[k].stride[d] = x[k].stride[from];
}

/* The dimensions of the first output by its strides, largest first: neighbours in memory
 * are then neighbours in the loop. */
static void sort_dimensions(const struct ls_exact_tensor *out, int *order)
{
	for (int d = 0; d < out->ndim; d++) {
		int i = d;
		for (; i > 0 && out->stride[order[i - 1]] < out->stride[d]; i--)
			order[i] = order[i - 1];
		order[i] = d;
	}
}

static bool can_vector(const struct ls_elem *e, int k)
{
	const struct ls_elem_tensor *x = &e->t[k];
	int d = e->ndim - 1;
	int64_t inner = e->ndim ? x->stride[d] : 0;
	uintptr_t size = ls_exact_type_size(x->type), group = size * LS_ELEM_VECTOR;
	if (inner == 0 && k < e->inputs)
		return true;
	for (int i = 0; i < d; i++)
		if (x->stride[i] % LS_ELEM_VECTOR)
			return false;
	return inner == 1 && (uintptr_t)x->at % (group < 16 ? group : 16) == 0;
}

/* From the numbers of the operation those of its formula. */
static void take_numbers(struct ls_elem *e, const double *n, size_t count)
{
	if (e->kind == LS_ELEM_SGD || e->kind == LS_ELEM_SGD_MOMENTUM) {
		e->number[0] = -n[0];
		e->number[1] = n[1];
		e->flags = (int)n[2];
		if (e->kind == LS_ELEM_SGD_MOMENTUM) {
			e->number[2] = n[3];
			e->number[3] = 1 - n[4];
		}
	} else {
		memcpy(e->number, n, sizeof *n * count);
		if (is_adam(e->kind))
			e->flags = (int)n[6];
	}
}

/* How many elements a GPU can move at a time. */
static int vectors_of(const struct ls_elem *e)
{
	bool floats = true;
	if (e->ndim > 1 && e->size[e->ndim - 1] % LS_ELEM_VECTOR)
		return 0;
	for (int k = 0; k < e->inputs + e->outputs; k++) {
		if (!can_vector(e, k))
			return 0;
		floats = floats && e->t[k].type == LS_EXACT_F32;
	}
	return floats ? 4 : LS_ELEM_VECTOR;
}

static struct ls_elem describe(const struct ls_exact_call *c)
{
	int kind = c->row->kind, order[LS_ELEM_DIMS] = {0};
	int tensors = sides[kind].inputs + sides[kind].outputs;
	struct ls_elem e = {
		.kind = kind, .inputs = sides[kind].inputs, .outputs = sides[kind].outputs};
	const struct ls_exact_tensor *x = c->tensor;
	for (int k = 0; k < tensors; k++) {
		e.t[k].at = x[k].at;
		e.t[k].type = x[k].type;
	}
	if (c->numbers)
		take_numbers(&e, c->number, c->numbers);
	sort_dimensions(&x[e.inputs], order);
	for (int d = 0; d < x->ndim; d++)
		take_dimension(&e, x, tensors, order[d]);
	e.count = ls_exact_count(x);
	e.vectors = vectors_of(&e);
	return e;
}

/* --- where --- */

struct job {
	const struct ls_elem *e;
	const struct ls_exact_elem_kern *kern;
};

static void part(void *context, int64_t from, int64_t to)
{
	const struct job *j = context;
	j->kern->run(j->e, from, to);
}

static int cpu(const struct ls_exact_call *c, struct ls_err *err)
{
	struct ls_elem e = describe(c);
	const struct ls_exact_kern *kern = ls_exact_kern_find(c->where->isa);
	if (!kern)
		return ls_err_set(err, LS_EINPUT, "this processor has no instruction set %s",
				  c->where->isa);
	if (is_adam(e.kind)) {
		const struct ls_exact_tensor *step = step_of(c);
		ls_elem_adam_numbers(c->number,
				     step ? (double)*(const float *)step->at : c->number[5],
				     e.number);
	}
	ls_exact_threads_run(c->where->threads, e.count, PART, part, &(struct job){&e, kern->elem});
	return 0;
}

static const char *kernel_of(const struct ls_elem *e)
{
	static const struct {
		bool wide;
		int inputs, outputs;
		const char *name;
	} kernels[] = {
		{false, 1, 1, "exact_elem_float_1_1"}, {false, 2, 1, "exact_elem_float_2_1"},
		{false, 3, 1, "exact_elem_float_3_1"}, {false, 3, 2, "exact_elem_float_3_2"},
		{false, 4, 3, "exact_elem_float_4_3"}, {false, 5, 4, "exact_elem_float_5_4"},
		{true, 1, 1, "exact_elem_double_1_1"}, {true, 2, 1, "exact_elem_double_2_1"},
	};
	bool wide = e->kind >= LS_ELEM_FIRST_DOUBLE;
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
		if (kernels[i].wide == wide && kernels[i].inputs == e->inputs &&
		    kernels[i].outputs == e->outputs)
			return kernels[i].name;
	return NULL;
}

/* The numbers of Adam at a step that only the device knows. */
static int adam_numbers(const struct ls_exact_call *c, struct ls_elem *e,
			struct ls_exact_context *context, struct ls_err *err)
{
	const struct ls_exact_tensor *step = step_of(c);
	if (!step) {
		ls_elem_adam_numbers(c->number, c->number[5], e->number);
		return 0;
	}
	struct ls_gpu_shape one = {.block = {1}};
	const float *at = step->at;
	double *to = c->where->scratch;
	e->numbers = to;
	return ls_exact_context_launch(context, c->where->stream, "exact_elem",
				       "exact_elem_adam_numbers", &one, (void *[]){e, &at, &to},
				       err);
}

static int cuda(const struct ls_exact_call *c, struct ls_exact_context *context, struct ls_err *err)
{
	struct ls_elem e = describe(c);
	int rc = 0;
	if (e.count && is_adam(e.kind))
		rc = adam_numbers(c, &e, context, err);
	if (rc || e.count == 0)
		return rc;
	struct ls_gpu_shape shape = {
		.grid = {ls_exact_context_blocks(context, e.count, THREADS, LS_ELEM_VECTOR)},
		.block = {THREADS}};
	const char *kernel = kernel_of(&e);
	if (!kernel)
		return ls_err_set(err, LS_EINTERNAL, "%s has no kernel", c->row->name);
	return ls_exact_context_launch(context, c->where->stream, "exact_elem", kernel, &shape,
				       (void *[]){&e}, err);
}

const struct ls_exact_family ls_exact_family_elem = {rows, check, scratch, cpu, cuda};
