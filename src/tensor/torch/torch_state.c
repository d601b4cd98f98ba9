/* The walk over a checkpoint's tree: containers give names, leaves become tensors and
 * values. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/torch/torch_internal.h"

static int visit_call(struct ls_walk *w, const struct ls_pk_node *n)
{
	const struct ls_pk_node *what = ls_torch_at(w, n->a);
	if (what->kind != LS_PK_GLOBAL)
		return ls_torch_emit_object(w, n);
	switch (ls_pickle_global(w->p, what)->action) {
	case A_DICT:
		return ls_torch_visit_dict_call(w, n);
	case A_NAMESPACE:
		return ls_torch_emit_object(w, n);
	case A_SET:
		return ls_torch_visit_set_call(w, n);
	case A_COMPLEX:
		return ls_torch_emit_complex(w, n);
	case A_BYTES:
	case A_ENCODE:
		return ls_torch_visit_bytes_call(w, n);
	case A_PATH:
		return ls_torch_emit_joined(w, n, "path");
	case A_LAYOUT:
		return ls_torch_emit_joined(w, n, "layout");
	case A_DEVICE:
		return ls_torch_emit_device(w, n);
	case A_SIZE:
		return ls_torch_visit_size(w, n);
	case A_NP_SCALAR:
		return ls_torch_emit_np_scalar(w, n);
	case A_NP_ARRAY:
		return ls_torch_emit_np_array(w, n);
	case A_JOBLIB:
		return ls_torch_emit_np_joblib(w, n);
	case A_LOAD_BYTES:
		return ls_torch_emit_storage(w, n);
	case A_NP_BUFFER:
		return ls_torch_emit_np_buffer(w, n);
	default:
		return ls_torch_emit_object(w, n);
	}
}

static int visit_kind(struct ls_walk *w, struct ls_pk_node *n)
{
	switch ((enum ls_pk)n->kind) {
	case LS_PK_NONE:
		ls_torch_value(w, LS_VAL_NULL);
		return 0;
	case LS_PK_BOOL:
		ls_torch_value(w, LS_VAL_BOOL)->i = n->i;
		return 0;
	case LS_PK_INT:
		ls_torch_value(w, LS_VAL_INT)->i = n->i;
		return 0;
	case LS_PK_BIG:
		return ls_torch_emit_big(w, n);
	case LS_PK_REAL:
		ls_torch_value(w, LS_VAL_REAL)->real = n->real;
		return 0;
	case LS_PK_STR:
		return ls_torch_emit_text(w, LS_VAL_STRING, n->s, n->n);
	case LS_PK_BYTES:
		return ls_torch_emit_text(w, LS_VAL_BYTES, n->s, n->n);
	case LS_PK_LIST:
	case LS_PK_TUPLE:
		return ls_torch_visit_sequence(w, n, n->kind == LS_PK_TUPLE);
	case LS_PK_DICT:
		return ls_torch_visit_pairs(w, n);
	case LS_PK_SET:
		return ls_torch_visit_set(w, n, "set");
	case LS_PK_GLOBAL:
		return ls_torch_emit_global(w, n);
	case LS_PK_CALL:
		return visit_call(w, n);
	case LS_PK_PERSID:
		return ls_torch_emit_storage(w, n);
	}
	return ls_torch_wrong(w, "an object of an unknown kind");
}

static int by_name(const void *a, const void *b, void *tensors)
{
	const struct ls_tensor *t = tensors;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int order = strcmp(t[x].name, t[y].name);
	return order ? order : (x > y) - (x < y);
}

/* {"a": {"b": …}} and {"a.b": …} lead to one path: the later ones get a number. */
static void number_twins(struct ls_bundle *b)
{
	size_t *order = ls_xalloc((b->n_tensors + 1) * sizeof *order), twin = 1;
	for (size_t i = 0; i < b->n_tensors; i++)
		order[i] = i;
	qsort_r(order, b->n_tensors, sizeof *order, by_name, b->tensors);
	const char *last = NULL;
	for (size_t i = 0; i < b->n_tensors; i++) {
		struct ls_tensor *t = &b->tensors[order[i]];
		if (last && strcmp(last, t->name) == 0) {
			t->name = ls_bundle_keep_take(b, ls_xasprintf("%s#%zu", last, ++twin));
		} else {
			last = t->name;
			twin = 1;
		}
	}
	free(order);
}

static int emit_cycle(struct ls_walk *w, int up)
{
	return ls_torch_emit_other(w, ls_xasprintf("the object %d levels up", up));
}

int ls_torch_flatten(struct ls_bundle *b, struct ls_pickle *p, const struct ls_torch_data *data,
		     const char *name, struct ls_err *err)
{
	struct ls_walk w = {
		.b = b, .p = p, .data = data, .err = err, .visit = visit_kind, .cycle = emit_cycle};
	ls_str_add(&w.path, name);
	int rc = ls_torch_visit(&w, p->root);
	ls_str_done(&w.path);
	if (rc == 0)
		number_twins(b);
	return rc;
}
