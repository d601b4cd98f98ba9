/* Operations on rows by name: exact/rows.h has the formulas. A row is the last dimension;
 * the dimensions before it lie in memory as at most two. What there is one of for each
 * row or channel is contiguous. */
#include "exact/rows.h"

#include "exact/cpu/rows_cpu.h"
#include "exact/cuda/host/rows_cuda.h"
#include "exact/op/family.h"
#include "exact/op/tensor.h"

/* What a tensor of an operation is. */
enum part { NONE, FIRST, SECOND, OUT, MEAN, INVERSE, WEIGHT, BIAS };
enum { PARTS = 6, NUMBERS = 3 };

static const struct ls_exact_op_row rows[] = {
	{"softmax", "~x >out", "", LS_ROW_SOFTMAX},
	{"log_softmax", "~x >out", "", LS_ROW_LOG_SOFTMAX},
	{"logsumexp", "x >out", "", LS_ROW_LOGSUMEXP},
	{"softmax_back", "~g ~y >out", "", LS_ROW_SOFTMAX_BACK},
	{"log_softmax_back", "~g ~y >out", "", LS_ROW_LOG_SOFTMAX_BACK},
	{"layer_norm", "~x [weight] [bias] >out [>mean] [>invstd]", "eps [groups] [width]",
	 LS_ROW_NORM},
	{"rms_norm", "~x [weight] >out [>invrms]", "eps", LS_ROW_RMS},
	{"layer_norm_back", "~g ~x mean invstd [weight] >out", "[groups] [width]",
	 LS_ROW_NORM_BACK},
	{"rms_norm_back", "~g ~x invrms [weight] >out", "", LS_ROW_RMS_BACK},
	{"cumsum", "~x >out", "", LS_ROW_CUMSUM},
	{NULL, NULL, NULL, 0},
};

static const enum part parts[LS_ROW_KINDS][PARTS] = {
	[LS_ROW_SOFTMAX] = {FIRST, OUT},
	[LS_ROW_LOG_SOFTMAX] = {FIRST, OUT},
	[LS_ROW_LOGSUMEXP] = {FIRST, OUT},
	[LS_ROW_SOFTMAX_BACK] = {FIRST, SECOND, OUT},
	[LS_ROW_LOG_SOFTMAX_BACK] = {FIRST, SECOND, OUT},
	[LS_ROW_NORM] = {FIRST, WEIGHT, BIAS, OUT, MEAN, INVERSE},
	[LS_ROW_RMS] = {FIRST, WEIGHT, OUT, INVERSE},
	[LS_ROW_NORM_BACK] = {FIRST, SECOND, MEAN, INVERSE, WEIGHT, OUT},
	[LS_ROW_RMS_BACK] = {FIRST, SECOND, INVERSE, WEIGHT, OUT},
	[LS_ROW_CUMSUM] = {FIRST, OUT},
};

/* --- from tensors to rows --- */

static int64_t row_length(const struct ls_exact_tensor *x)
{
	return x->ndim ? x->size[x->ndim - 1] : 1;
}

/* The leading dimensions as at most two; *ret_inner: the size of the second. Where the
 * first tensor has set it, the others must lie likewise. */
static int set_tensor(const struct ls_exact_call *c, size_t i, struct ls_rows_tensor *t,
		      int64_t *inner, struct ls_err *err)
{
	const struct ls_exact_tensor *x = &c->tensor[i];
	int64_t size[2] = {1, 1}, stride[2] = {0, 0};
	int n = 0;
	for (int d = x->ndim - 2; d >= 0; d--) {
		bool more = n && x->stride[d] == stride[n - 1] * size[n - 1] &&
			    !(n == 1 && size[0] == *inner);
		if (x->size[d] == 1)
			continue;
		if (!more && n == 2)
			return ls_exact_refuse(c, i, err,
					       "has rows that lie in memory in more than two "
					       "pieces; make it contiguous first");
		n += !more;
		stride[n - 1] = more ? stride[n - 1] : x->stride[d];
		size[n - 1] *= x->size[d];
	}
	*t = (struct ls_rows_tensor){.at = x->at,
				     .type = x->type,
				     .outer = stride[1],
				     .within = stride[0],
				     .step = x->ndim ? x->stride[x->ndim - 1] : 0};
	if (*inner == 0)
		*inner = n == 2 ? size[0] : size[0] * size[1];
	if (size[0] != *inner && n)
		return ls_exact_refuse(c, i, err,
				       "has rows that lie in memory in other pieces than the "
				       "first one's; make both contiguous first");
	return 0;
}

static int check_vector(const struct ls_exact_call *c, size_t i, int64_t count, struct ls_err *err)
{
	const struct ls_exact_tensor *x = &c->tensor[i];
	int64_t stride = 1;
	if (ls_exact_count(x) != count)
		return ls_exact_refuse(c, i, err, "has %lld elements, not %lld",
				       (long long)ls_exact_count(x), (long long)count);
	for (int d = x->ndim - 1; d >= 0; d--) {
		if (x->size[d] != 1 && x->stride[d] != stride)
			return ls_exact_refuse(c, i, err, "is not contiguous");
		stride *= x->size[d];
	}
	return 0;
}

static struct ls_rows_vector vector_of(const struct ls_exact_tensor *x)
{
	return (struct ls_rows_vector){x->at, x->type};
}

static int set_part(const struct ls_exact_call *c, size_t i, enum part part, struct ls_rows *r,
		    struct ls_err *err)
{
	const struct ls_exact_tensor *x = &c->tensor[i];
	switch (part) {
	case FIRST:
		return set_tensor(c, i, &r->in[0], &r->inner, err);
	case SECOND:
		return set_tensor(c, i, &r->in[1], &r->inner, err);
	case OUT:
		return set_tensor(c, i, &r->out, &r->inner, err);
	case MEAN:
		r->mean = vector_of(x);
		return check_vector(c, i, r->rows, err);
	case INVERSE:
		r->inverse = vector_of(x);
		return check_vector(c, i, r->rows, err);
	default:
		*(part == WEIGHT ? &r->weight : &r->bias) = vector_of(x);
		return check_vector(c, i, r->groups * (r->n / r->width), err);
	}
}

/* Sizes, groups and eps, before the tensors. */
static int set_sizes(const struct ls_exact_call *c, struct ls_rows *r, struct ls_err *err)
{
	double number[NUMBERS] = {0, 1, 1};
	size_t shift = c->row->kind == LS_ROW_NORM_BACK; /* no eps */
	for (size_t i = 0; i < c->numbers; i++)
		number[i + shift] = c->number[i];
	r->n = row_length(&c->tensor[0]);
	r->rows = r->n ? ls_exact_count(&c->tensor[0]) / r->n : 0;
	r->eps = number[0];
	if (!(number[1] >= 1 && number[1] < 0x1p53 && number[2] >= 1 && number[2] < 0x1p53))
		return ls_err_set(err, LS_EINPUT, "%s: groups and width are at least 1",
				  c->row->name);
	r->groups = (int64_t)number[1];
	r->width = (int64_t)number[2];
	if (r->n % r->width || r->rows % r->groups)
		return ls_err_set(err, LS_EINPUT,
				  "%s: %lld rows of %lld elements have no %lld groups with "
				  "channels of %lld elements",
				  c->row->name, (long long)r->rows, (long long)r->n,
				  (long long)r->groups, (long long)r->width);
	return 0;
}

static int describe(const struct ls_exact_call *c, struct ls_rows *ret, struct ls_err *err)
{
	struct ls_rows r = {.kind = c->row->kind};
	int rc = set_sizes(c, &r, err);
	for (size_t i = 0; i < c->tensors && !rc; i++)
		if (c->tensor[i].at)
			rc = set_part(c, i, parts[r.kind][i], &r, err);
	if (!rc)
		*ret = r;
	return rc;
}

static int check(const struct ls_exact_call *c, struct ls_err *err)
{
	const enum part *part = parts[c->row->kind];
	struct ls_exact_tensor shape = c->tensor[0];
	struct ls_rows r;
	for (size_t i = 0; i < c->tensors; i++) {
		const struct ls_exact_tensor *x = &c->tensor[i];
		if (!x->at)
			continue;
		if (!ls_exact_is_float(x->type))
			return ls_exact_refuse(c, i, err,
					       "is %s; float32, bfloat16 or float16 is needed",
					       ls_exact_type_name(x->type));
		if (part[i] == OUT && c->row->kind == LS_ROW_LOGSUMEXP && shape.ndim)
			shape.size[shape.ndim - 1] = 1;
		if (part[i] <= OUT && !ls_exact_same_shape(x, &shape))
			return ls_exact_refuse(c, i, err, "has another shape than is needed");
	}
	return describe(c, &r, err);
}

/* --- where --- */

static int cpu(const struct ls_exact_call *c, struct ls_err *err)
{
	struct ls_rows r;
	int rc = describe(c, &r, err);
	return rc ? rc : ls_rows_cpu(&r, c->where->threads, c->where->isa, err);
}

static int cuda(const struct ls_exact_call *c, struct ls_exact_context *context, struct ls_err *err)
{
	struct ls_rows r;
	int rc = describe(c, &r, err);
	return rc ? rc : ls_rows_cuda(context, &r, c->where->stream, err);
}

const struct ls_exact_family ls_exact_family_rows = {rows, check, NULL, cpu, cuda};
