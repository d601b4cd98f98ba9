/* Products by name: of matrices, or of batches of them. */
#include "exact/grid.h"
#include "exact/op/family.h"
#include "exact/op/tensor.h"
#include "exact/product.h"

enum { A, B, OUT, C, BIAS };
enum { ALPHA, BETA, GRID };

static const struct ls_exact_op_row rows[] = {
	/* out = alpha a b + beta c + bias; grid: 22 or 15. c and bias have out's shape */
	{"mm", "a b >out [~c] [bias]", "alpha beta grid", 0},
	{NULL, NULL, NULL, 0},
};

/* Two dimensions, or three with the batch in front. A batch of size 1 is repeated. */
static struct ls_exact_matrix matrix_of(const struct ls_exact_tensor *x)
{
	int d = x->ndim - 2;
	return (struct ls_exact_matrix){.at = x->at,
					.row = x->stride[d],
					.column = x->stride[d + 1],
					.batch = d && x->size[0] != 1 ? x->stride[0] : 0,
					.type = (enum ls_exact_type)x->type};
}

static int64_t batch_of(const struct ls_exact_tensor *x)
{
	return x->ndim == 3 ? x->size[0] : 1;
}

static struct ls_exact_product product_of(const struct ls_exact_call *c)
{
	const struct ls_exact_tensor *a = &c->tensor[A], *out = &c->tensor[OUT];
	struct ls_exact_product p = {.batch = batch_of(out),
				     .m = out->size[out->ndim - 2],
				     .n = out->size[out->ndim - 1],
				     .k = a->size[a->ndim - 1],
				     .a = matrix_of(a),
				     .b = matrix_of(&c->tensor[B]),
				     .out = matrix_of(out),
				     .alpha = (float)c->number[ALPHA],
				     .beta = (float)c->number[BETA],
				     .bits = (int)c->number[GRID]};
	if (ls_exact_given(c, C))
		p.c = matrix_of(&c->tensor[C]);
	if (ls_exact_given(c, BIAS))
		p.bias = matrix_of(&c->tensor[BIAS]);
	return p;
}

static int check_side(const struct ls_exact_call *c, size_t i, int64_t rows_want,
		      int64_t columns_want, struct ls_err *err)
{
	const struct ls_exact_tensor *x = &c->tensor[i], *out = &c->tensor[OUT];
	int64_t m = x->size[x->ndim - 2], n = x->size[x->ndim - 1];
	if (m != rows_want || n != columns_want)
		return ls_exact_refuse(c, i, err, "is %lld x %lld, and the others want %lld x %lld",
				       (long long)m, (long long)n, (long long)rows_want,
				       (long long)columns_want);
	if (batch_of(x) != 1 && batch_of(x) != batch_of(out))
		return ls_exact_refuse(c, i, err, "has %lld matrices, and out %lld",
				       (long long)batch_of(x), (long long)batch_of(out));
	return 0;
}

static int check(const struct ls_exact_call *c, struct ls_err *err)
{
	for (size_t i = 0; i < c->tensors; i++) {
		if (i > OUT && !c->tensor[i].at)
			continue;
		if (!ls_exact_is_float(c->tensor[i].type))
			return ls_exact_refuse(c, i, err,
					       "is %s; products have float32, bfloat16 "
					       "and float16",
					       ls_exact_type_name(c->tensor[i].type));
		if (c->tensor[i].ndim != 2 && c->tensor[i].ndim != 3)
			return ls_exact_refuse(c, i, err, "has %d dimensions, not 2 or 3",
					       c->tensor[i].ndim);
	}
	if (c->number[GRID] != LS_GRID_FINE && c->number[GRID] != LS_GRID_COARSE)
		return ls_err_set(err, LS_EINPUT, "the grid of a product is %d or %d, not %g",
				  LS_GRID_FINE, LS_GRID_COARSE, c->number[GRID]);
	struct ls_exact_product p = product_of(c);
	const int64_t want[][2] = {{p.m, p.k}, {p.k, p.n}, {p.m, p.n}, {p.m, p.n}, {p.m, p.n}};
	int rc = ls_exact_check(&p, err);
	for (size_t i = 0; i < c->tensors && !rc; i++)
		if (i <= OUT || c->tensor[i].at)
			rc = check_side(c, i, want[i][0], want[i][1], err);
	return rc;
}

static int scratch(const struct ls_exact_call *c, size_t *ret, struct ls_err *err)
{
	struct ls_exact_product p = product_of(c);
	(void)err;
	*ret = c->where->device == LS_EXACT_CUDA ? ls_exact_cuda_scratch(&p) : 0;
	return 0;
}

static int cpu(const struct ls_exact_call *c, struct ls_err *err)
{
	struct ls_exact_product p = product_of(c);
	return ls_exact_product(&p, c->where->threads, c->where->isa, err);
}

static int cuda(const struct ls_exact_call *c, struct ls_exact_context *context, struct ls_err *err)
{
	struct ls_exact_product p = product_of(c);
	struct ls_exact_cuda *kernels;
	int rc = ls_exact_context_product(context, &kernels, err);
	if (rc)
		return rc;
	return ls_exact_cuda_product(kernels, &p, (ls_cu_ptr)(uintptr_t)c->where->scratch,
				     c->where->stream, err);
}

const struct ls_exact_family ls_exact_family_mm = {rows, check, scratch, cpu, cuda};
