/* Tensors and storages of a checkpoint. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/torch/torch_internal.h"

enum {
	EXPAND_RATIO = 64, /* a view with strides of 0 may be larger than its storage, but not
			      without measure */
	EXPAND_SIZE = 1 << 30,
};

static int int_of(const struct ls_pk_node *n, uint64_t *ret)
{
	if (!n || n->kind != LS_PK_INT || n->i < 0)
		return -1;
	*ret = (uint64_t)n->i;
	return 0;
}

/* --- storages and tensors --- */

struct storage {
	const uint8_t *data; /* NULL: deflated */
	const struct ls_zip_member *packed;
	enum ls_dtype dtype; /* of its elements; U8 when untyped */
	uint64_t bytes;
};

static int by_key(const void *a, const void *b)
{
	const struct ls_torch_storage *x = a, *y = b;
	int order = memcmp(x->key, y->key, x->key_len < y->key_len ? x->key_len : y->key_len);
	return order ? order : (x->key_len > y->key_len) - (x->key_len < y->key_len);
}

/* Finds the bytes of a storage in the archive or in the list. */
static bool find_storage(struct ls_walk *w, const struct ls_pk_node *key, struct storage *ret)
{
	const struct ls_torch_data *d = w->data;
	if (!d->zip) {
		struct ls_torch_storage want = {.key = key->s, .key_len = key->n};
		const struct ls_torch_storage *s =
			d->n_storages
				? bsearch(&want, d->storages, d->n_storages, sizeof want, by_key)
				: NULL;
		if (s) {
			ret->data = s->data;
			ret->bytes = s->bytes;
		}
		return s != NULL;
	}
	char *member = ls_xasprintf("%s/%s/%.*s", d->prefix, d->folder,
				    (int)(key->n < 200 ? key->n : 200), key->s);
	const struct ls_zip_member *m = ls_zip_find(d->zip, member);
	free(member);
	if (m) {
		ret->data = m->deflated ? NULL : m->data;
		ret->packed = m->deflated ? m : NULL;
		ret->bytes = m->size;
	}
	return m != NULL;
}

/* torch's persistent ids are tuples that begin with this word; programs have others. */
static bool names_storage(struct ls_walk *w, const struct ls_pk_node *id)
{
	const struct ls_pk_node *word =
		id->kind == LS_PK_TUPLE && id->n ? ls_torch_at(w, id->items[0]) : NULL;
	return word && word->kind == LS_PK_STR && word->n == 7 &&
	       memcmp(word->s, "storage", 7) == 0;
}

static int storage_of(struct ls_walk *w, const struct ls_pk_node *n, struct storage *ret)
{
	const uint8_t *nested = NULL;
	size_t len = 0;
	if (ls_torch_is_call(w, n, A_LOAD_BYTES)) {
		int rc = ls_torch_bytes_of(w, ls_torch_arg(w, n, 0), &nested, &len);
		return rc ? rc
			  : ls_torch_legacy_storage(nested, len, &ret->dtype, &ret->data,
						    &ret->bytes, w->err);
	}
	if (!n || n->kind != LS_PK_PERSID || ls_torch_at(w, n->a)->kind != LS_PK_TUPLE ||
	    ls_torch_at(w, n->a)->n < 5)
		return ls_torch_wrong(w, "a tensor without a storage");
	const struct ls_pk_node *id = ls_torch_at(w, n->a), *type = ls_torch_at(w, id->items[1]),
				*key = ls_torch_at(w, id->items[2]);
	uint64_t numel, bytes;
	if (!names_storage(w, id) || key->kind != LS_PK_STR ||
	    !ls_torch_is_global(w, type, A_STORAGE) || int_of(ls_torch_at(w, id->items[4]), &numel))
		return ls_torch_wrong(w, "a storage that is described wrongly");
	ret->dtype = ls_torch_storage_type(ls_pickle_global(w->p, type)->name);
	if (ret->dtype == LS_DT_NONE)
		return ls_torch_wrong(w, "a storage of a type that is not read");
	const char *path = w->path.len ? w->path.s : "(top)";
	int n_key = (int)(key->n < 200 ? key->n : 200);
	if (!find_storage(w, key, ret))
		return ls_err_set(w->err, LS_EINPUT,
				  "\"%.200s\": its storage data/%.*s is not in the archive", path,
				  n_key, key->s);
	if (__builtin_mul_overflow(numel, ls_dtype_bits(ret->dtype) / 8, &bytes) ||
	    (ret->bytes != bytes && ret->dtype != LS_DT_BITS))
		return ls_err_set(w->err, LS_EINPUT,
				  "\"%.200s\": claims a storage of %" PRIu64
				  " elements, but data/%.*s has %" PRIu64 " bytes",
				  path, numel, n_key, key->s, ret->bytes);
	return 0;
}

int ls_torch_dims(struct ls_walk *w, const struct ls_pk_node *n, uint64_t out[LS_MAX_DIMS],
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

/* torch's lazy views keep their elements as they were and say what to do with them. */
static void set_flags(struct ls_walk *w, const struct ls_pk_node *meta, struct ls_tensor *t)
{
	if (!meta || meta->kind != LS_PK_DICT)
		return;
	for (size_t i = 0; i + 1 < meta->n; i += 2) {
		const struct ls_pk_node *k = ls_torch_at(w, meta->items[i]),
					*v = ls_torch_at(w, meta->items[i + 1]);
		if (v->kind != LS_PK_BOOL || !v->i || k->kind != LS_PK_STR)
			continue;
		t->conjugated |= k->n == 4 && memcmp(k->s, "conj", 4) == 0;
		t->negated |= k->n == 3 && memcmp(k->s, "neg", 3) == 0;
	}
}

static int set_view(struct ls_walk *w, struct ls_tensor *t, const struct storage *s,
		    const struct ls_pk_node *call)
{
	uint64_t offset, shape[LS_MAX_DIMS], stride[LS_MAX_DIMS];
	size_t ndim = 0, nstride = 0;
	if (int_of(ls_torch_arg(w, call, 1), &offset))
		return ls_torch_wrong(w, "an offset that is not a whole number");
	int rc = ls_torch_dims(w, ls_torch_arg(w, call, 2), shape, &ndim);
	if (rc == 0)
		rc = ls_torch_dims(w, ls_torch_arg(w, call, 3), stride, &nstride);
	if (rc)
		return rc;
	if (ndim != nstride)
		return ls_torch_wrong(w, "shape and strides of different lengths");
	t->elem_size = ls_dtype_bits(t->dtype) / 8;
	t->swapped = w->data->big_endian && t->elem_size > 1;
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
	t->packed = s->packed;
	t->packed_skip = s->packed ? skip : 0;
	t->data = s->packed ? NULL : s->data + skip;
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
		t->dtype = ls_torch_is_global(w, dtype, A_DTYPE)
				   ? ls_dtype_of_torch(ls_pickle_global(w->p, dtype)->name)
				   : LS_DT_NONE;
		if (t->dtype == LS_DT_NONE)
			return ls_torch_wrong(w, "an element type that is not read");
	}
	set_flags(w, meta, t);
	return set_view(w, t, &s, call);
}

struct ls_tensor *ls_torch_add_tensor(struct ls_walk *w)
{
	return w->path.len ? ls_bundle_add(w->b, w->path.s, w->path.len)
			   : ls_bundle_add(w->b, "tensor", 6);
}

/* "tensor", "Parameter, requires_grad", … */
static void add_tensor_trait(struct ls_walk *w, const struct ls_pk_node *requires_grad)
{
	const char *kind = w->tensor_kind ? w->tensor_kind : "tensor";
	bool grad = !w->tensor_kind && requires_grad && requires_grad->kind == LS_PK_BOOL &&
		    requires_grad->i;
	char *text = ls_xasprintf("%s%s", kind, grad ? ", requires_grad" : "");
	ls_torch_trait(w, text);
	free(text);
	w->tensor_kind = NULL;
}

int ls_torch_emit_tensor(struct ls_walk *w, const struct ls_pk_node *call)
{
	struct ls_tensor made = {0};
	int rc = tensor_of(w, call, &made);
	if (rc)
		return rc;
	struct ls_tensor *t = ls_torch_add_tensor(w);
	made.name = t->name;
	*t = made;
	add_tensor_trait(w, ls_torch_arg(w, call, 4));
	return 0;
}

int ls_torch_emit_storage(struct ls_walk *w, const struct ls_pk_node *n)
{
	struct storage s = {0};
	if (n->kind == LS_PK_PERSID && !names_storage(w, ls_torch_at(w, n->a)))
		return ls_torch_emit_unread(w, "a reference to something outside of the file");
	int rc = storage_of(w, n, &s);
	if (rc)
		return rc;
	struct ls_tensor *t = ls_torch_add_tensor(w);
	t->dtype = s.dtype;
	t->elem_size = ls_dtype_bits(s.dtype) / 8;
	t->swapped = w->data->big_endian && t->elem_size > 1;
	t->data = s.data;
	t->packed = s.packed;
	return ls_tensor_set_contiguous(t, (uint64_t[]){s.bytes / t->elem_size}, 1, w->err);
}
