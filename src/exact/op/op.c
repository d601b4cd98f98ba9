/* The table of exact operations: found by name, checked, and run where the caller wants. */
#include <string.h>

#include "exact/cpu/threads.h"
#include "exact/op/family.h"
#include "exact/op/tensor.h"

static const struct ls_exact_family *const families[] = {
	&ls_exact_family_mm,     &ls_exact_family_elem, &ls_exact_family_wide,
	&ls_exact_family_reduce, &ls_exact_family_rows, &ls_exact_family_scatter,
	&ls_exact_family_conv};
enum { FAMILIES = sizeof families / sizeof *families };

static const struct ls_exact_family *find(const char *name, const struct ls_exact_op_row **ret)
{
	for (int f = 0; f < FAMILIES; f++)
		for (const struct ls_exact_op_row *r = families[f]->rows; r->name; r++)
			if (strcmp(r->name, name) == 0) {
				*ret = r;
				return families[f];
			}
	return NULL;
}

static int check_counts(const struct ls_exact_call *c, struct ls_err *err)
{
	size_t least, most = ls_exact_words(c->row->tensors, &least);
	if (c->tensors < least || c->tensors > most)
		return ls_err_set(err, LS_EINPUT,
				  "the exact operation %s has the tensors %s, not %zu",
				  c->row->name, c->row->tensors, c->tensors);
	most = ls_exact_words(c->row->numbers, &least);
	if (c->numbers < least || c->numbers > most)
		return ls_err_set(err, LS_EINPUT,
				  "the exact operation %s has the numbers \"%s\", not %zu",
				  c->row->name, c->row->numbers, c->numbers);
	if (c->where->device != LS_EXACT_CPU && c->where->device != LS_EXACT_CUDA)
		return ls_err_set(err, LS_EINPUT, "%s: there is no device of kind %d", c->row->name,
				  c->where->device);
	return 0;
}

static int begin(const char *name, struct ls_exact_call *c, const struct ls_exact_family **ret,
		 struct ls_err *err)
{
	*ret = find(name, &c->row);
	if (!*ret)
		return ls_err_set(err, LS_EINPUT, "there is no exact operation %s", name);
	int rc = check_counts(c, err);
	if (!rc)
		rc = ls_exact_check_tensors(c, err);
	return rc ? rc : (*ret)->check(c, err);
}

static int need_of(const struct ls_exact_family *f, const struct ls_exact_call *c, size_t *ret,
		   struct ls_err *err)
{
	*ret = 0;
	return f->scratch ? f->scratch(c, ret, err) : 0;
}

int ls_exact_op_scratch(const char *name, const struct ls_exact_tensor *tensors, size_t n,
			const double *numbers, size_t m, const struct ls_exact_where *where,
			size_t *ret_bytes, struct ls_err *err)
{
	struct ls_exact_call c = {NULL, tensors, numbers, n, m, where};
	const struct ls_exact_family *f;
	size_t need;
	int rc = begin(name, &c, &f, err);
	if (!rc)
		rc = need_of(f, &c, &need, err);
	if (!rc)
		*ret_bytes = need;
	return rc;
}

static int on_cuda(const struct ls_exact_family *f, const struct ls_exact_call *c,
		   struct ls_err *err)
{
	struct ls_exact_context *cuda;
	int rc = ls_exact_context_take(c->where->cache, &cuda, err);
	if (rc)
		return rc;
	rc = f->cuda(c, cuda, err);
	ls_exact_context_give(cuda);
	return rc;
}

int ls_exact_op(const char *name, const struct ls_exact_tensor *tensors, size_t n,
		const double *numbers, size_t m, const struct ls_exact_where *where,
		struct ls_err *err)
{
	struct ls_exact_call c = {NULL, tensors, numbers, n, m, where};
	const struct ls_exact_family *f;
	size_t need;
	int rc = begin(name, &c, &f, err);
	if (!rc)
		rc = need_of(f, &c, &need, err);
	if (rc)
		return rc;
	if (need > where->scratch_bytes || (need && !where->scratch))
		return ls_err_set(err, LS_EINPUT,
				  "%s: %zu bytes of scratch memory are needed, not %zu", name, need,
				  where->scratch_bytes);
	return where->device == LS_EXACT_CUDA ? on_cuda(f, &c, err) : f->cpu(&c, err);
}

int ls_exact_op_list(size_t index, struct ls_exact_op_info *ret)
{
	for (int f = 0; f < FAMILIES; f++)
		for (const struct ls_exact_op_row *r = families[f]->rows; r->name; r++)
			if (index-- == 0) {
				*ret = (struct ls_exact_op_info){r->name, r->tensors, r->numbers};
				return 0;
			}
	return LS_ENOENT;
}

void ls_exact_release(void)
{
	ls_exact_threads_free();
	ls_exact_contexts_free();
}
