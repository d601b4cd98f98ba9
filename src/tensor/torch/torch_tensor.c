/* Tensors, storages and numpy arrays of a checkpoint. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/npy.h"
#include "tensor/torch/torch_internal.h"

enum {
	EXPAND_RATIO = 64, /* a view with strides of 0 may be larger than its storage, but not
			      without measure */
	EXPAND_SIZE = 1 << 30,
};

int ls_torch_wrong(struct ls_walk *w, const char *what)
{
	return ls_err_set(w->err, LS_EINPUT, "\"%.200s\": %s", w->path.len ? w->path.s : "(top)",
			  what);
}

struct ls_pk_node *ls_torch_at(struct ls_walk *w, uint32_t id)
{
	return &w->p->nodes[id];
}

/* The n-th argument of a call, or NULL. */
struct ls_pk_node *ls_torch_arg(struct ls_walk *w, const struct ls_pk_node *call, size_t n)
{
	const struct ls_pk_node *args = ls_torch_at(w, call->b);
	return n < args->n ? ls_torch_at(w, args->items[n]) : NULL;
}

bool ls_torch_is_call(struct ls_walk *w, const struct ls_pk_node *n, enum ls_torch_action action)
{
	return n && n->kind == LS_PK_CALL &&
	       ls_torch_globals()[ls_torch_at(w, n->a)->a].action == (int)action;
}

bool ls_torch_is_global(const struct ls_pk_node *n, enum ls_torch_action action)
{
	return n && n->kind == LS_PK_GLOBAL && ls_torch_globals()[n->a].action == (int)action;
}

static int int_of(const struct ls_pk_node *n, uint64_t *ret)
{
	if (!n || n->kind != LS_PK_INT || n->i < 0)
		return -1;
	*ret = (uint64_t)n->i;
	return 0;
}

/* --- storages and tensors --- */

struct storage {
	const struct ls_zip_member *m;
	enum ls_dtype dtype; /* of its elements; U8 when untyped */
	uint64_t bytes;
};

static enum ls_dtype storage_type(const char *name)
{
	static const struct {
		const char *name;
		enum ls_dtype t;
	} types[] = {{"FloatStorage", LS_DT_F32},        {"DoubleStorage", LS_DT_F64},
		     {"HalfStorage", LS_DT_F16},         {"BFloat16Storage", LS_DT_BF16},
		     {"LongStorage", LS_DT_I64},         {"IntStorage", LS_DT_I32},
		     {"ShortStorage", LS_DT_I16},        {"CharStorage", LS_DT_I8},
		     {"ByteStorage", LS_DT_U8},          {"BoolStorage", LS_DT_BOOL},
		     {"ComplexFloatStorage", LS_DT_C64}, {"ComplexDoubleStorage", LS_DT_C128},
		     {"UntypedStorage", LS_DT_U8}};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(types[i].name, name) == 0)
			return types[i].t;
	return LS_DT_NONE;
}

static int storage_of(struct ls_walk *w, const struct ls_pk_node *n, struct storage *ret)
{
	if (!n || n->kind != LS_PK_PERSID || ls_torch_at(w, n->a)->kind != LS_PK_TUPLE ||
	    ls_torch_at(w, n->a)->n < 5)
		return ls_torch_wrong(w, "a tensor without a storage");
	const struct ls_pk_node *id = ls_torch_at(w, n->a), *word = ls_torch_at(w, id->items[0]),
				*type = ls_torch_at(w, id->items[1]),
				*key = ls_torch_at(w, id->items[2]);
	uint64_t numel;
	if (word->kind != LS_PK_STR || word->n != 7 || memcmp(word->s, "storage", 7) != 0 ||
	    key->kind != LS_PK_STR || !ls_torch_is_global(type, A_STORAGE) ||
	    int_of(ls_torch_at(w, id->items[4]), &numel))
		return ls_torch_wrong(w, "a storage that is described wrongly");
	const char *name = ls_torch_globals()[type->a].name;
	ret->dtype = storage_type(name);
	if (ret->dtype == LS_DT_NONE)
		return ls_err_set(w->err, LS_EINPUT,
				  "\"%.200s\": a torch.%s; quantized tensors are not read",
				  w->path.len ? w->path.s : "(top)", name);
	char *member =
		ls_xasprintf("%s/data/%.*s", w->prefix, (int)(key->n < 200 ? key->n : 200), key->s);
	ret->m = ls_zip_find(w->zip, member);
	int rc = 0;
	if (!ret->m)
		rc = ls_err_set(w->err, LS_EINPUT,
				"\"%.200s\": its storage %.200s is not in the archive", w->path.s,
				member);
	else if (__builtin_mul_overflow(numel, ls_dtype_bits(ret->dtype) / 8, &ret->bytes) ||
		 ret->bytes != ret->m->size)
		rc = ls_err_set(w->err, LS_EINPUT,
				"\"%.200s\": claims a storage of %" PRIu64
				" elements, but %.200s has %" PRIu64 " bytes",
				w->path.len ? w->path.s : "(top)", numel, member, ret->m->size);
	free(member);
	return rc;
}

static int read_dims(struct ls_walk *w, const struct ls_pk_node *n, uint64_t out[LS_MAX_DIMS],
		     size_t *ret_n)
{
	if (ls_torch_is_call(w, n, A_SIZE))
		n = ls_torch_arg(w, n, 0);
	if (!n || n->kind != LS_PK_TUPLE)
		return ls_torch_wrong(w, "a shape that is not a tuple");
	if (n->n > LS_MAX_DIMS)
		return ls_torch_wrong(w, "more than 32 dimensions");
	for (size_t i = 0; i < n->n; i++)
		if (int_of(ls_torch_at(w, n->items[i]), &out[i]))
			return ls_torch_wrong(w,
					      "a dimension or stride that is not a whole number");
	*ret_n = n->n;
	return 0;
}

/* The last element that shape and strides reach must lie inside of the storage. */
static int check_reach(struct ls_walk *w, const struct ls_tensor *t, uint64_t offset,
		       uint64_t bytes)
{
	uint64_t last = offset, step;
	if (ls_tensor_count(t) == 0)
		return 0;
	for (int i = 0; i < t->ndim; i++)
		if (__builtin_mul_overflow(t->shape[i] - 1, (uint64_t)t->stride[i], &step) ||
		    __builtin_add_overflow(last, step, &last))
			return ls_torch_wrong(w, "strides beyond any memory");
	if (last >= bytes / t->elem_size)
		return ls_err_set(w->err, LS_EINPUT,
				  "\"%.200s\": its shape and strides reach element %" PRIu64
				  " of a storage that has %" PRIu64,
				  w->path.len ? w->path.s : "(top)", last, bytes / t->elem_size);
	if (t->nbytes > EXPAND_SIZE && t->nbytes / EXPAND_RATIO > bytes)
		return ls_torch_wrong(
			w,
			"a view far larger than its storage: refused, as reading it would not end");
	return 0;
}

static int check_flags(struct ls_walk *w, const struct ls_pk_node *meta)
{
	if (!meta || meta->kind != LS_PK_DICT)
		return 0;
	for (size_t i = 0; i + 1 < meta->n; i += 2) {
		const struct ls_pk_node *k = ls_torch_at(w, meta->items[i]),
					*v = ls_torch_at(w, meta->items[i + 1]);
		if (v->kind == LS_PK_BOOL && v->i && k->kind == LS_PK_STR)
			return ls_err_set(w->err, LS_EINPUT,
					  "\"%.200s\": a lazy view (%.*s); save "
					  "tensor.resolve_conj().resolve_neg()",
					  w->path.len ? w->path.s : "(top)",
					  (int)(k->n < 40 ? k->n : 40), k->s);
	}
	return 0;
}

static int set_view(struct ls_walk *w, struct ls_tensor *t, const struct storage *s,
		    const struct ls_pk_node *call)
{
	uint64_t offset, shape[LS_MAX_DIMS], stride[LS_MAX_DIMS];
	size_t ndim, nstride;
	if (int_of(ls_torch_arg(w, call, 1), &offset))
		return ls_torch_wrong(w, "an offset that is not a whole number");
	int rc = read_dims(w, ls_torch_arg(w, call, 2), shape, &ndim);
	if (rc == 0)
		rc = read_dims(w, ls_torch_arg(w, call, 3), stride, &nstride);
	if (rc)
		return rc;
	if (ndim != nstride)
		return ls_torch_wrong(w, "shape and strides of different lengths");
	t->elem_size = ls_dtype_bits(t->dtype) / 8;
	t->swapped = w->big_endian && t->elem_size > 1;
	if (ls_tensor_set_contiguous(t, shape, ndim, w->err))
		return ls_err_prefix(w->err, "\"%.200s\"", w->path.len ? w->path.s : "(top)");
	for (size_t i = 0; i < ndim; i++) {
		if (stride[i] > INT64_MAX / 32)
			return ls_torch_wrong(w, "strides beyond any memory");
		t->stride[i] = (int64_t)stride[i];
	}
	rc = check_reach(w, t, offset, s->bytes);
	if (rc)
		return rc;
	uint64_t skip = ls_tensor_count(t) ? offset * t->elem_size : 0;
	if (s->m->deflated) {
		t->packed = s->m;
		t->packed_skip = skip;
	} else {
		t->data = s->m->data + skip;
	}
	return 0;
}

static int tensor_of(struct ls_walk *w, const struct ls_pk_node *call, struct ls_tensor *t)
{
	struct storage s = {0};
	int rc = storage_of(w, ls_torch_arg(w, call, 0), &s);
	if (rc)
		return rc;
	t->dtype = s.dtype;
	const struct ls_pk_node *meta = ls_torch_arg(w, call, 6);
	if (ls_torch_is_call(w, call, A_TENSOR_V3)) {
		const struct ls_pk_node *dtype = ls_torch_arg(w, call, 6);
		meta = ls_torch_arg(w, call, 7);
		t->dtype = ls_torch_is_global(dtype, A_DTYPE)
				   ? ls_dtype_of_torch(ls_torch_globals()[dtype->a].name)
				   : LS_DT_NONE;
		if (t->dtype == LS_DT_NONE)
			return ls_torch_wrong(w, "an element type that is not read");
	}
	rc = check_flags(w, meta);
	return rc ? rc : set_view(w, t, &s, call);
}

static struct ls_tensor *add_tensor(struct ls_walk *w)
{
	return w->path.len ? ls_bundle_add(w->b, w->path.s, w->path.len)
			   : ls_bundle_add(w->b, "tensor", 6);
}

int ls_torch_emit_tensor(struct ls_walk *w, const struct ls_pk_node *call)
{
	struct ls_tensor made = {0};
	int rc = tensor_of(w, call, &made);
	if (rc)
		return rc;
	struct ls_tensor *t = add_tensor(w);
	made.name = t->name;
	*t = made;
	return 0;
}

int ls_torch_emit_storage(struct ls_walk *w, const struct ls_pk_node *n)
{
	struct storage s = {0};
	int rc = storage_of(w, n, &s);
	if (rc)
		return rc;
	struct ls_tensor *t = add_tensor(w);
	t->dtype = s.dtype;
	t->elem_size = ls_dtype_bits(s.dtype) / 8;
	t->swapped = w->big_endian && t->elem_size > 1;
	t->data = s.m->deflated ? NULL : s.m->data;
	t->packed = s.m->deflated ? s.m : NULL;
	return ls_tensor_set_contiguous(t, (uint64_t[]){s.bytes / t->elem_size}, 1, w->err);
}

/* --- numpy inside of pickles --- */

int ls_torch_bytes_of(struct ls_walk *w, const struct ls_pk_node *n, const uint8_t **ret,
		      size_t *ret_len)
{
	if (ls_torch_is_call(w, n, A_BYTES))
		n = ls_torch_arg(w, n, 0);
	if (n && (n->kind == LS_PK_BYTES || n->kind == LS_PK_STR)) {
		*ret = (const uint8_t *)n->s;
		*ret_len = n->n;
		return 0;
	}
	const struct ls_pk_node *text =
		ls_torch_is_call(w, n, A_ENCODE) ? ls_torch_arg(w, n, 0) : NULL;
	if (!text || text->kind != LS_PK_STR)
		return ls_torch_wrong(w, "bytes are expected");
	uint8_t *out = ls_bundle_keep_take(w->b, ls_xalloc(text->n + 1));
	size_t len = 0;
	for (size_t i = 0; i < text->n; i++) {
		uint8_t c = (uint8_t)text->s[i];
		if (c >= 0x80) { /* U+0080 to U+00FF: two bytes of UTF-8 */
			if ((c & 0xfe) != 0xc2 || i + 1 >= text->n)
				return ls_torch_wrong(w, "bytes that are not latin1");
			c = (uint8_t)(c << 6 | ((uint8_t)text->s[++i] & 0x3f));
		}
		out[len++] = c;
	}
	*ret = out;
	*ret_len = len;
	return 0;
}

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
		if (o->kind != LS_PK_STR || o->n != 1 ||
		    ls_torch_at(w, state->items[4])->kind != LS_PK_NONE)
			return ls_torch_wrong(w, "a structured numpy type");
		order = o->s[0];
	}
	snprintf(descr, sizeof descr, "%c%.*s", order, (int)code->n, code->s);
	if (ls_npy_type(descr, t, w->err))
		return ls_err_prefix(w->err, "\"%.200s\"", w->path.len ? w->path.s : "(top)");
	return 0;
}

static int emit_array(struct ls_walk *w, const struct ls_pk_node *dtype,
		      const struct ls_pk_node *shape, const struct ls_pk_node *raw, bool fortran)
{
	struct ls_tensor made = {0};
	uint64_t dims[LS_MAX_DIMS];
	size_t ndim = 0, len = 0;
	const uint8_t *data = NULL;
	int rc = dtype_of(w, dtype, &made);
	if (rc == 0)
		rc = read_dims(w, shape, dims, &ndim);
	if (rc == 0)
		rc = ls_torch_bytes_of(w, raw, &data, &len);
	if (rc == 0)
		rc = ls_tensor_set_contiguous(&made, dims, ndim, w->err);
	if (rc)
		return rc;
	if (made.nbytes != len)
		return ls_torch_wrong(w, "a numpy array whose shape does not fit its bytes");
	int64_t step = 1;
	for (int i = 0; fortran && i < made.ndim; i++) {
		made.stride[i] = step;
		step *= made.shape[i] ? (int64_t)made.shape[i] : 1;
	}
	made.data = data;
	struct ls_tensor *t = add_tensor(w);
	made.name = t->name;
	*t = made;
	return 0;
}

int ls_torch_emit_np_array(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *s = call->c ? ls_torch_at(w, call->c) : NULL;
	if (!s || s->kind != LS_PK_TUPLE || s->n != 5)
		return ls_torch_wrong(w, "a numpy array without its state");
	const struct ls_pk_node *fortran = ls_torch_at(w, s->items[3]);
	return emit_array(w, ls_torch_at(w, s->items[2]), ls_torch_at(w, s->items[1]),
			  ls_torch_at(w, s->items[4]), fortran->i != 0);
}

int ls_torch_emit_np_buffer(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *order = ls_torch_arg(w, call, 3);
	if (!order || order->kind != LS_PK_STR || order->n != 1)
		return ls_torch_wrong(w, "a numpy array without its state");
	return emit_array(w, ls_torch_arg(w, call, 1), ls_torch_arg(w, call, 2),
			  ls_torch_arg(w, call, 0), order->s[0] == 'F');
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
	struct ls_tensor *made =
		add_tensor(w); /* a tensor without dimensions: compared to the bit like any other */
	t.name = made->name;
	t.data = p;
	t.nbytes = len;
	*made = t;
	return 0;
}
