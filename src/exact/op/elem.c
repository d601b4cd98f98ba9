/* Element-wise operations by name: exact/elem.h has their table and formulas. All tensors
 * have one shape; what is broadcast has strides of 0. */
#include "exact/elem.h"

#include <string.h>

#include "exact/cpu/kern.h"
#include "exact/cpu/threads.h"
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

static int check(const struct ls_exact_call *c, struct ls_err *err)
{
	for (size_t i = 0; i < c->tensors; i++) {
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

static struct ls_elem describe(const struct ls_exact_call *c)
{
	int kind = c->row->kind, order[LS_ELEM_DIMS] = {0}, tensors = (int)c->tensors;
	struct ls_elem e = {
		.kind = kind, .inputs = sides[kind].inputs, .outputs = sides[kind].outputs};
	const struct ls_exact_tensor *x = c->tensor;
	for (int k = 0; k < tensors; k++) {
		e.t[k].at = x[k].at;
		e.t[k].type = x[k].type;
	}
	memcpy(e.number, c->number, sizeof *c->number * c->numbers);
	sort_dimensions(&x[e.inputs], order);
	for (int d = 0; d < x->ndim; d++)
		take_dimension(&e, x, tensors, order[d]);
	e.count = ls_exact_count(x);
	e.vectors = e.ndim < 2 || e.size[e.ndim - 1] % LS_ELEM_VECTOR == 0;
	for (int k = 0; k < tensors; k++)
		e.vectors = e.vectors && can_vector(&e, k);
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
	ls_exact_threads_run(c->where->threads, e.count, PART, part, &(struct job){&e, kern->elem});
	return 0;
}

static int cuda(const struct ls_exact_call *c, struct ls_exact_context *context, struct ls_err *err)
{
	struct ls_elem e = describe(c);
	if (e.count == 0)
		return 0;
	struct ls_gpu_shape shape = {
		.grid = {ls_exact_context_blocks(context, e.count, THREADS, LS_ELEM_VECTOR)},
		.block = {THREADS}};
	const char *kernel =
		e.kind <= LS_ELEM_LAST_FLOAT ? "exact_elem_float" : "exact_elem_double";
	return ls_exact_context_launch(context, c->where->stream, "exact_elem", kernel, &shape,
				       (void *[]){&e}, err);
}

const struct ls_exact_family ls_exact_family_elem = {rows, check, NULL, cpu, cuda};
