#include "api/compare.h"

#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/options.h"
#include "api/tables.h"
#include "base/mem.h"
#include "compare/tensors_digest.h"

int ls_comparison_make(const struct ls_args *args, const char *a, const char *b,
		       void (*progress)(void *, const char *, uint64_t, uint64_t), void *ctx,
		       struct ls_comparison **ret, struct ls_err *err)
{
	struct ls_tolerance_rules rules = {0};
	uint64_t threads = 0;
	int rc = ls_args_u64(args, "threads", 1, 64, &threads, err);
	if (rc == 0)
		rc = ls_args_tolerance(args, &rules, err);
	const char **ignore = ls_options_all(args, "ignore");
	struct ls_cmp_options opt = {.ignore = ignore,
				     .tolerance = rules.items,
				     .n_tolerance = rules.n,
				     .tolerance_text = rules.text.s,
				     .threads = (unsigned)threads,
				     .progress = progress,
				     .ctx = ctx};
	while (ignore[opt.n_ignore])
		opt.n_ignore++;
	if (rc == 0)
		rc = ls_compare(a, b, &opt, ret, err);
	free(ignore);
	ls_tolerance_rules_done(&rules);
	return rc;
}

static int compare(const char *a, const char *b, const struct ls_options *o,
		   struct ls_comparison **ret, struct ls_err *err)
{
	struct ls_options *own;
	const struct ls_args *args;
	int rc = ls_options_use(o, 1u << LS_COMPARE, &own, &args, err);
	if (rc == 0)
		rc = ls_comparison_make(args, a, b, NULL, NULL, ret, err);
	ls_options_free(own);
	return rc;
}

int ls_comparison_new(const char *a, const char *b, const struct ls_options *o,
		      struct ls_comparison **ret, struct ls_err *err)
{
	LS_CALL(err, compare(a, b, o, ret, err));
}

enum ls_answer ls_comparison_answer(const struct ls_comparison *c)
{
	return c->undecided ? LS_ANSWER_UNKNOWN : c->differs ? LS_ANSWER_NO : LS_ANSWER_YES;
}

static int report(const struct ls_comparison *c, const char *form, char **ret, struct ls_err *err)
{
	struct ls_str text = {0};
	if (strcmp(form, "json") == 0) {
		json_t *doc = ls_comparison_json(c);
		*ret = ls_json_text(doc);
		json_decref(doc);
		return 0;
	}
	if (strcmp(form, "text") == 0)
		ls_comparison_text(c, 0, &text);
	else if (strcmp(form, "html") == 0)
		ls_comparison_html(c, &text);
	else if (strcmp(form, "markdown") == 0)
		ls_comparison_markdown(c, 0, &text);
	else
		return ls_err_set(err, LS_EINPUT,
				  "report \"%.40s\" is none of text, json, html, markdown", form);
	*ret = ls_str_take(&text);
	return 0;
}

int ls_comparison_report(const struct ls_comparison *c, const char *form, char **ret,
			 struct ls_err *err)
{
	LS_CALL(err, report(c, form, ret, err));
}

/* --- digests of tensors --- */

struct ls_digest {
	struct ls_tensors_digest *tensors;
};

static int digest_new(struct ls_digest **ret)
{
	struct ls_digest *d = ls_xalloc(sizeof *d);
	d->tensors = ls_tensors_digest_new();
	*ret = d;
	return 0;
}

int ls_digest_new(struct ls_digest **ret, struct ls_err *err)
{
	LS_CALL(err, digest_new(ret));
}

void ls_digest_free(struct ls_digest *d)
{
	if (!d)
		return;
	ls_tensors_digest_free(d->tensors);
	free(d);
}

/* From bytes to elements. */
static int take_strides(struct ls_tensor *t, const int64_t *stride, struct ls_err *err)
{
	for (int i = 0; i < t->ndim && stride; i++) {
		if (!t->elem_size || stride[i] % t->elem_size)
			return ls_err_set(err, LS_EINPUT,
					  "tensor \"%.200s\": stride %lld is not a whole number of "
					  "elements: pass a contiguous copy",
					  t->name, (long long)stride[i]);
		t->stride[i] = stride[i] / (int64_t)t->elem_size;
	}
	return 0;
}

static int digest_add(struct ls_digest *d, const struct ls_array_tensor *a, struct ls_err *err)
{
	enum ls_dtype type = a->type ? ls_dtype_of_torch(a->type) : LS_DT_NONE;
	if (type == LS_DT_NONE || type == LS_DT_TEXT || type == LS_DT_OPAQUE)
		return ls_err_set(err, LS_EINPUT, "tensor \"%.200s\": there is no type \"%.40s\"",
				  a->name, a->type ? a->type : "");
	if (a->dimensions < 0 || a->dimensions > LS_MAX_DIMS)
		return ls_err_set(err, LS_EINPUT, "tensor \"%.200s\" has %d dimensions", a->name,
				  a->dimensions);
	struct ls_tensor t = {.name = a->name,
			      .dtype = type,
			      .elem_size = ls_dtype_bits(type) / 8,
			      .data = a->data};
	int rc = ls_tensor_set_contiguous(&t, a->shape, (size_t)a->dimensions, err);
	if (rc == 0)
		rc = take_strides(&t, a->stride, err);
	if (rc == 0 && !t.data && t.nbytes)
		rc = ls_err_set(err, LS_EINPUT, "tensor \"%.200s\" has no data", a->name);
	static const uint8_t nothing[1];
	t.data = t.data ? t.data : nothing;
	return rc ? rc : ls_tensors_digest_add(d->tensors, &t, err);
}

int ls_digest_add(struct ls_digest *d, const struct ls_array_tensor *t, struct ls_err *err)
{
	LS_CALL(err, digest_add(d, t, err));
}

int ls_digest_final(struct ls_digest *d, char ret_hex[65], struct ls_err *err)
{
	LS_CALL(err, ls_tensors_digest_final(d->tensors, ret_hex, err));
}

int ls_digest_file(const char *path, char ret_hex[65], struct ls_err *err)
{
	LS_CALL(err, ls_tensors_digest_file(path, ret_hex, err));
}
