#include "exact/reduce_plan.h"

#include <string.h>

static int64_t distance(int64_t stride)
{
	return stride < 0 ? -stride : stride;
}

/* Whether b lies outside a in the first operand. */
static bool is_outside(const struct ls_reduce_axis *b, const struct ls_reduce_axis *a)
{
	return distance(b->in[0]) > distance(a->in[0]);
}

/* The axes of one sort, those of size 1 left out, the outermost first. */
static int select_axes(const struct ls_reduce_axis *axes, int n, bool reduced, bool sort,
		       struct ls_reduce_axis *ret)
{
	int count = 0;
	for (int i = 0; i < n; i++) {
		int at = count;
		if (axes[i].reduced != reduced || axes[i].size == 1)
			continue;
		for (; sort && at > 0 && is_outside(&axes[i], &ret[at - 1]); at--)
			ret[at] = ret[at - 1];
		ret[at] = axes[i];
		count++;
	}
	return count;
}

static bool follow(const struct ls_reduce_axis *outer, const struct ls_reduce_axis *inner)
{
	for (int k = 0; k < LS_TERM_OPERANDS; k++)
		if (outer->in[k] != inner->in[k] * inner->size)
			return false;
	for (int k = 0; k < LS_REDUCE_OUTS; k++)
		if (outer->out[k] != inner->out[k] * inner->size)
			return false;
	return true;
}

static int merge(struct ls_reduce_axis *axes, int n)
{
	int count = 0;
	for (int i = 0; i < n; i++) {
		if (count && follow(&axes[count - 1], &axes[i])) {
			int64_t size = axes[count - 1].size;
			axes[count - 1] = axes[i];
			axes[count - 1].size *= size;
		} else
			axes[count++] = axes[i];
	}
	return count;
}

static int set_dims(struct ls_reduce *r, const struct ls_reduce_axis *axes, int n, bool reduced,
		    struct ls_err *err)
{
	int64_t *size = reduced ? r->reduced_size : r->kept_size, total = 1;
	if (n > LS_REDUCE_DIMS)
		return ls_err_set(err, LS_EINPUT,
				  "a tensor whose dimensions lie in memory in %d pieces; make it "
				  "contiguous first",
				  n);
	for (int d = 0; d < n; d++) {
		size[d] = axes[d].size;
		if (__builtin_mul_overflow(total, size[d], &total))
			return ls_err_set(err, LS_EINPUT, "a tensor of more than 2^63 elements");
		for (int k = 0; k < LS_TERM_OPERANDS; k++)
			(reduced ? r->in[k].reduced : r->in[k].kept)[d] = axes[d].in[k];
		for (int k = 0; k < LS_REDUCE_OUTS && !reduced; k++)
			r->out[k].kept[d] = axes[d].out[k];
	}
	*(reduced ? &r->reduced_dims : &r->kept_dims) = n;
	*(reduced ? &r->reduced : &r->kept) = total;
	return 0;
}

int ls_reduce_plan(struct ls_reduce *r, const struct ls_reduce_axis *axes, int n,
		   struct ls_err *err)
{
	struct ls_reduce_axis own[LS_REDUCE_AXES];
	int rc = 0;
	if (n > LS_REDUCE_AXES)
		return ls_err_set(err, LS_EINPUT, "a tensor of %d dimensions; at most %d", n,
				  LS_REDUCE_AXES);
	for (int reduced = 0; reduced < 2 && !rc; reduced++) {
		bool sort = !(reduced && ls_term_is_index(r->kind));
		int count = select_axes(axes, n, reduced, sort, own);
		rc = set_dims(r, own, merge(own, count), reduced, err);
	}
	if (!rc && r->reduced == 0 && ls_term_is_key(r->kind) && r->kept)
		rc = ls_err_set(err, LS_EINPUT, "no elements, so that none is the largest");
	if (!rc && ls_term_is_index(r->kind) && r->reduced > (int64_t)1 << 32)
		rc = ls_err_set(err, LS_EINPUT, "an index among more than 2^32 elements");
	if (!rc && ls_term_is_map(r->kind) && r->reduced != 1)
		rc = ls_err_set(err, LS_EINPUT, "an element-wise operation reduces nothing");
	return rc;
}

static int64_t last_stride(int dims, const int64_t *stride)
{
	int64_t s = dims ? stride[dims - 1] : INT64_MAX;
	return s < 0 ? -s : s;
}

bool ls_reduce_is_across(const struct ls_reduce *r)
{
	if (!r->reduced_dims || !r->kept_dims || r->kept_size[r->kept_dims - 1] < 8)
		return false;
	return last_stride(r->kept_dims, r->in[0].kept) <
	       last_stride(r->reduced_dims, r->in[0].reduced);
}
