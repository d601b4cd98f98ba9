/* numpy's arrays and scalars inside of pickles, also as joblib writes them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/npy.h"
#include "tensor/torch/torch_internal.h"

static int dtype_of(struct ls_walk *w, const struct ls_pk_node *n, struct ls_tensor *t)
{
	const struct ls_pk_node *code =
		ls_torch_is_call(w, n, A_NP_DTYPE) ? ls_torch_arg(w, n, 0) : NULL;
	const struct ls_pk_node *state = code && n->c ? ls_torch_at(w, n->c) : NULL;
	char descr[64], order = '|';
	if (!code || code->kind != LS_PK_STR || code->n > 40 || code->n == 0)
		return ls_torch_wrong(w, "a numpy type that is not read");
	if (state && state->kind == LS_PK_TUPLE && state->n > 4) {
		const struct ls_pk_node *o = ls_torch_at(w, state->items[1]);
		if (o->kind != LS_PK_STR || o->n != 1)
			return ls_torch_wrong(w, "a numpy type without its byte order");
		order = o->s[0] == '=' ? '<' : o->s[0];
	}
	snprintf(descr, sizeof descr, "%c%.*s", order, (int)code->n, code->s);
	if (ls_npy_type(descr, t, w->err))
		return ls_err_prefix(w->err, "\"%.200s\"", w->path.len ? w->path.s : "(top)");
	return 0;
}

/* An array's elements, whose type is looked at apart. */
struct array {
	uint64_t dims[LS_MAX_DIMS];
	size_t ndim;
	const uint8_t *data;
	size_t len;
	bool fortran;
};

/* Adds the array, or one field of its records: size bytes lie between two records, and
 * offset before the field. */
static int add_array(struct ls_walk *w, const struct array *a, struct ls_tensor *made,
		     uint64_t size, uint64_t offset)
{
	uint64_t field = made->elem_size;
	int rc = ls_tensor_set_contiguous(made, a->dims, a->ndim, w->err);
	if (rc)
		return rc;
	uint64_t count = ls_tensor_count(made);
	if (field == 0 || count > a->len / size || count * size != a->len)
		return ls_torch_wrong(w, "a numpy array whose shape does not fit its bytes");
	int64_t step = (int64_t)(size / field);
	for (size_t k = 0; k < a->ndim; k++) {
		size_t i = a->fortran ? k : a->ndim - 1 - k;
		made->stride[i] = step;
		step *= made->shape[i] ? (int64_t)made->shape[i] : 1;
	}
	made->data = a->data + (count ? offset : 0);
	struct ls_tensor *t = ls_torch_add_tensor(w);
	made->name = t->name;
	*t = *made;
	return 0;
}

static const struct ls_pk_node *dtype_state(struct ls_walk *w, const struct ls_pk_node *dtype)
{
	const struct ls_pk_node *s = ls_torch_is_call(w, dtype, A_NP_DTYPE) && dtype->c
					     ? ls_torch_at(w, dtype->c)
					     : NULL;
	return s && s->kind == LS_PK_TUPLE && s->n > 5 ? s : NULL;
}

/* The dict of a structured type's fields, or NULL for a plain type. */
static const struct ls_pk_node *fields_of(struct ls_walk *w, const struct ls_pk_node *dtype)
{
	const struct ls_pk_node *s = dtype_state(w, dtype);
	const struct ls_pk_node *fields = s ? ls_torch_at(w, s->items[4]) : NULL;
	return fields && fields->kind == LS_PK_DICT && fields->n ? fields : NULL;
}

/* One field: its type and its place in a record. Fails for what is not laid out
 * simply. */
static bool field_of(struct ls_walk *w, uint32_t id, uint64_t size, struct ls_tensor *t,
		     uint64_t *ret_offset)
{
	const struct ls_pk_node *f = ls_torch_at(w, id);
	if (f->kind != LS_PK_TUPLE || f->n < 2)
		return false;
	const struct ls_pk_node *dtype = ls_torch_at(w, f->items[0]),
				*offset = ls_torch_at(w, f->items[1]);
	const struct ls_pk_node *s = dtype_state(w, dtype);
	if (offset->kind != LS_PK_INT || offset->i < 0 || fields_of(w, dtype) ||
	    (s && ls_torch_at(w, s->items[2])->kind != LS_PK_NONE) || dtype_of(w, dtype, t))
		return false;
	*ret_offset = (uint64_t)offset->i;
	return t->elem_size && size % t->elem_size == 0 && *ret_offset <= size &&
	       t->elem_size <= size - *ret_offset;
}

/* Records field by field: the bytes between fields are whatever memory held. */
static int emit_fields(struct ls_walk *w, const struct array *a, const struct ls_pk_node *fields,
		       uint64_t size, bool *ret_done)
{
	struct ls_tensor t = {0};
	uint64_t offset = 0;
	*ret_done = true;
	for (size_t i = 0; i + 1 < fields->n && *ret_done; i += 2)
		*ret_done = ls_torch_at(w, fields->items[i])->kind == LS_PK_STR &&
			    field_of(w, fields->items[i + 1], size, &t, &offset);
	size_t before = w->path.len;
	int rc = 0;
	for (size_t i = 0; i + 1 < fields->n && *ret_done && rc == 0; i += 2) {
		t = (struct ls_tensor){0};
		ls_str_add(&w->path, before ? "." : "");
		ls_torch_key_text(w, ls_torch_at(w, fields->items[i]), false, &w->path);
		if (field_of(w, fields->items[i + 1], size, &t, &offset))
			rc = add_array(w, a, &t, size, offset);
		w->path.len = before;
		if (w->path.s)
			w->path.s[before] = 0;
	}
	return rc;
}

static int emit_records(struct ls_walk *w, const struct array *a, const struct ls_pk_node *dtype)
{
	const struct ls_pk_node *size = ls_torch_at(w, dtype_state(w, dtype)->items[5]);
	bool done = false;
	if (size->kind != LS_PK_INT || size->i <= 0 || size->i > 1 << 20)
		return ls_torch_wrong(w, "a structured numpy type without a size");
	int rc = emit_fields(w, a, fields_of(w, dtype), (uint64_t)size->i, &done);
	if (rc || done)
		return rc;
	struct ls_tensor whole = {.dtype = LS_DT_OPAQUE, .elem_size = (uint32_t)size->i};
	return add_array(w, a, &whole, whole.elem_size, 0);
}

/* Dates are whole numbers of a unit, which is part of the type. */
static void trait_of_type(struct ls_walk *w, const struct ls_pk_node *dtype, const char *what)
{
	const struct ls_pk_node *s = dtype_state(w, dtype);
	struct ls_str text = {0}, unit = {0};
	ls_str_add(&text, what);
	if (s && s->n > 8 && ls_torch_key_text(w, ls_torch_at(w, s->items[8]), true, &unit))
		ls_str_addf(&text, " in units of %s", unit.s);
	ls_torch_trait(w, text.s);
	ls_str_done(&text);
	ls_str_done(&unit);
}

/* An array of Python objects is a list of them. */
static int emit_objects(struct ls_walk *w, const struct ls_pk_node *list, const struct array *a)
{
	struct ls_str s = {0};
	ls_str_add(&s, "array of objects [");
	for (size_t i = 0; i < a->ndim; i++)
		ls_str_addf(&s, "%s%" PRIu64, i ? ", " : "", a->dims[i]);
	ls_str_add(&s, a->fortran ? "], by column" : "]");
	ls_torch_trait(w, s.s);
	int rc = list->n ? 0 : ls_torch_emit_text(w, LS_VAL_OTHER, s.s, s.len);
	ls_str_done(&s);
	for (size_t i = 0; i < list->n && rc == 0; i++)
		rc = ls_torch_descend(w, NULL, i, list->items[i]);
	return rc;
}

static int emit_array(struct ls_walk *w, const struct ls_pk_node *dtype,
		      const struct ls_pk_node *shape, const struct ls_pk_node *raw, bool fortran)
{
	struct ls_tensor made = {0};
	struct array a = {.fortran = fortran};
	int rc = ls_torch_dims(w, shape, a.dims, &a.ndim);
	if (rc)
		return rc;
	if (raw && raw->kind == LS_PK_LIST)
		return emit_objects(w, raw, &a);
	rc = ls_torch_bytes_of(w, raw, &a.data, &a.len);
	if (rc)
		return rc;
	if (fields_of(w, dtype))
		return emit_records(w, &a, dtype);
	rc = dtype_of(w, dtype, &made);
	trait_of_type(w, dtype, w->class ? w->class : "numpy array");
	return rc ? rc : add_array(w, &a, &made, made.elem_size ? made.elem_size : 1, 0);
}

int ls_torch_emit_np_array(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *s = call->c ? ls_torch_at(w, call->c) : NULL;
	if (!s || s->kind != LS_PK_TUPLE || s->n != 5)
		return ls_torch_wrong(w, "a numpy array without its state");
	const struct ls_pk_node *fortran = ls_torch_at(w, s->items[3]);
	bool by_column = (fortran->kind == LS_PK_BOOL || fortran->kind == LS_PK_INT) && fortran->i;
	const struct ls_pk_node *class = ls_torch_arg(w, call, 0);
	if (class && class->kind == LS_PK_GLOBAL && !ls_torch_is_global(w, class, A_NP_CLASS))
		w->class = ls_pickle_global(w->p, class)->name; /* numpy.matrix */
	int rc = emit_array(w, ls_torch_at(w, s->items[2]), ls_torch_at(w, s->items[1]),
			    ls_torch_at(w, s->items[4]), by_column);
	w->class = NULL;
	return rc;
}

int ls_torch_emit_np_buffer(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *order = ls_torch_arg(w, call, 3);
	if (!order || order->kind != LS_PK_STR || order->n != 1)
		return ls_torch_wrong(w, "a numpy array without its state");
	return emit_array(w, ls_torch_arg(w, call, 1), ls_torch_arg(w, call, 2),
			  ls_torch_arg(w, call, 0), order->s[0] == 'F');
}

/* An array of objects: the walk goes on in its pickle, and then in its own again. */
static int emit_nested(struct ls_walk *w, const struct ls_pk_node *bytes)
{
	struct ls_pickle *outer = w->p, *p = NULL;
	int rc = ls_pickle_parse((const uint8_t *)bytes->s, bytes->n, ls_torch_globals(), &p,
				 w->err);
	if (rc)
		return rc;
	w->p = p;
	rc = ls_torch_visit(w, p->root);
	w->p = outer;
	ls_pickle_free(p);
	return rc;
}

int ls_torch_emit_np_joblib(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *s = call->c ? ls_torch_at(w, call->c) : NULL;
	const struct ls_pk_node *order = ls_pickle_get(w->p, s, "order");
	if (!s || call->n != 1 || !order || order->kind != LS_PK_STR)
		return ls_torch_wrong(w, "an array of joblib without its state");
	if (ls_joblib_is_objects(w->p, call))
		return emit_nested(w, ls_torch_at(w, call->items[0]));
	return emit_array(w, ls_pickle_get(w->p, s, "dtype"), ls_pickle_get(w->p, s, "shape"),
			  ls_torch_at(w, call->items[0]), order->n == 1 && order->s[0] == 'F');
}

int ls_torch_emit_np_scalar(struct ls_walk *w, const struct ls_pk_node *call)
{
	struct ls_tensor t = {0};
	const uint8_t *p = NULL;
	size_t len = 0;
	int rc = dtype_of(w, ls_torch_arg(w, call, 0), &t);
	if (rc == 0)
		rc = ls_torch_bytes_of(w, ls_torch_arg(w, call, 1), &p, &len);
	if (rc)
		return rc;
	if (len != t.elem_size)
		return ls_torch_wrong(w, "a numpy scalar of the wrong size");
	trait_of_type(w, ls_torch_arg(w, call, 0), "numpy scalar");
	struct ls_tensor *made = ls_torch_add_tensor(
		w); /* a tensor without dimensions: compared to the bit like any other */
	t.name = made->name;
	t.data = p;
	t.nbytes = len;
	*made = t;
	return 0;
}
