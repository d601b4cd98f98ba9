/* Sums of rows that go to the same place, by name: exact/scatter.h has the definition. All
 * tensors are contiguous; the caller views them as outer × places × inner. */
#include "exact/scatter.h"

#include "exact/cpu/scatter_cpu.h"
#include "exact/cuda/host/scatter_cuda.h"
#include "exact/op/family.h"
#include "exact/op/tensor.h"

enum { EMBEDDING_BACK, INDEX_ADD, SCATTER_ADD };

static const struct ls_exact_op_row rows[] = {
	{"embedding_back", "g index >out", "padding_idx scale_grad_by_freq", EMBEDDING_BACK},
	{"index_add", "~self index source >out", "alpha", INDEX_ADD},
	{"scatter_add", "~self index source >out", "", SCATTER_ADD},
	{NULL, NULL, NULL, 0},
};

static int check_one(const struct ls_exact_call *c, size_t i, int ndim, bool index,
		     struct ls_err *err)
{
	const struct ls_exact_tensor *x = &c->tensor[i];
	int64_t stride = 1;
	if (index ? x->type != LS_EXACT_I64 : !ls_exact_is_float(x->type))
		return ls_exact_refuse(c, i, err, "is %s; %s is needed",
				       ls_exact_type_name(x->type),
				       index ? "int64" : "float32, bfloat16 or float16");
	if (x->ndim != ndim)
		return ls_exact_refuse(c, i, err, "has %d dimensions, not %d", x->ndim, ndim);
	for (int d = x->ndim - 1; d >= 0; d--) {
		if (x->size[d] != 1 && x->stride[d] != stride && ls_exact_count(x))
			return ls_exact_refuse(c, i, err, "is not contiguous");
		stride *= x->size[d];
	}
	return 0;
}

/* The shapes: g [sources, inner], index [sources], out [places, inner]; of the others self
 * and out [outer, places, inner], source [outer, sources, inner], index [sources] or the
 * source's shape. */
static int check(const struct ls_exact_call *c, struct ls_err *err)
{
	const struct ls_exact_tensor *x = c->tensor;
	int kind = c->row->kind, rc = 0;
	if (kind == EMBEDDING_BACK) {
		rc = check_one(c, 0, 2, false, err);
		rc = rc ? rc : check_one(c, 1, 1, true, err);
		rc = rc ? rc : check_one(c, 2, 2, false, err);
		if (!rc && (x[1].size[0] != x[0].size[0] || x[2].size[1] != x[0].size[1]))
			rc = ls_exact_refuse(c, 0, err, "fits neither index nor out");
		return rc;
	}
	rc = check_one(c, 0, 3, false, err);
	rc = rc ? rc : check_one(c, 1, kind == SCATTER_ADD ? 3 : 1, true, err);
	rc = rc ? rc : check_one(c, 2, 3, false, err);
	rc = rc ? rc : check_one(c, 3, 3, false, err);
	if (rc)
		return rc;
	bool fits = x[2].size[0] == x[0].size[0] && x[2].size[2] == x[0].size[2];
	fits = fits && (kind == SCATTER_ADD ? ls_exact_same_shape(&x[1], &x[2])
					    : x[1].size[0] == x[2].size[1]);
	if (!fits)
		return ls_exact_refuse(c, 2, err, "does not fit self and index");
	return ls_exact_same_shape(&x[0], &x[3])
		       ? 0
		       : ls_exact_refuse(c, 3, err, "has another shape than self");
}

static struct ls_scatter describe(const struct ls_exact_call *c)
{
	const struct ls_exact_tensor *x = c->tensor;
	if (c->row->kind == EMBEDDING_BACK)
		return (struct ls_scatter){.outer = 1,
					   .sources = x[0].size[0],
					   .places = x[2].size[0],
					   .inner = x[0].size[1],
					   .index = x[1].at,
					   .skip = c->number[0] < 0 ? -1 : (int64_t)c->number[0],
					   .mean = c->number[1] != 0,
					   .alpha = 1.0,
					   .source = x[0].at,
					   .out = x[2].at,
					   .source_type = x[0].type,
					   .out_type = x[2].type};
	return (struct ls_scatter){.outer = x[0].size[0],
				   .sources = x[2].size[1],
				   .places = x[0].size[1],
				   .inner = x[0].size[2],
				   .index = x[1].at,
				   .each = c->row->kind == SCATTER_ADD,
				   .skip = -1,
				   .alpha = c->row->kind == INDEX_ADD ? c->number[0] : 1.0,
				   .source = x[2].at,
				   .self = x[0].at,
				   .out = x[3].at,
				   .source_type = x[2].type,
				   .self_type = x[0].type,
				   .out_type = x[3].type};
}

static int scratch(const struct ls_exact_call *c, size_t *ret, struct ls_err *err)
{
	struct ls_scatter s = describe(c);
	(void)err;
	if (c->where->device == LS_EXACT_CUDA)
		*ret = ls_scatter_cuda_scratch(&s);
	return 0;
}

static int cpu(const struct ls_exact_call *c, struct ls_err *err)
{
	struct ls_scatter s = describe(c);
	return ls_scatter_cpu(&s, c->where->threads, err);
}

static int cuda(const struct ls_exact_call *c, struct ls_exact_context *context, struct ls_err *err)
{
	struct ls_scatter s = describe(c);
	return ls_scatter_cuda(context, &s, c->where->scratch, c->where->stream, err);
}

const struct ls_exact_family ls_exact_family_scatter = {rows, check, scratch, cpu, cuda};
