/* The walk over a checkpoint's tree: containers give names, leaves become tensors and values. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/torch/torch_internal.h"

enum {
	DEPTH_LIMIT = 200,
	ENTRY_LIMIT = 1 << 20,
	PATH_LIMIT = 4096,
	TEXT_LIMIT = 256 << 20, /* of all paths together: a tree that shares its branches can be
				   far larger than its pickle */
};

void ls_torch_trait(struct ls_walk *w, const char *text)
{
	if (!w->meta)
		ls_bundle_add_trait(w->b, w->path.len ? w->path.s : "", text);
}

static int descend(struct ls_walk *w, uint32_t child)
{
	if (w->path.len > PATH_LIMIT)
		return ls_err_set(w->err, LS_EINPUT, "a name of more than %d bytes", PATH_LIMIT);
	return ls_torch_visit(w, child);
}

static void restore(struct ls_walk *w, size_t before)
{
	w->path.len = before;
	if (w->path.s)
		w->path.s[before] = 0;
}

int ls_torch_descend(struct ls_walk *w, const char *key, size_t index, uint32_t child)
{
	size_t before = w->path.len;
	if (before)
		ls_str_add(&w->path, ".");
	if (key)
		ls_str_add(&w->path, key);
	else
		ls_str_addf(&w->path, "%zu", index);
	int rc = descend(w, child);
	restore(w, before);
	return rc;
}

/* A value under its key. A key without a short text is visited as a value, too. */
static int visit_pair(struct ls_walk *w, size_t index, uint32_t key, uint32_t child)
{
	size_t before = w->path.len;
	int rc = 0;
	if (before)
		ls_str_add(&w->path, ".");
	if (!ls_torch_key_text(w, ls_torch_at(w, key), false, &w->path)) {
		ls_str_addf(&w->path, "<key %zu>", index);
		rc = ls_torch_descend(w, "key", 0, key);
	}
	if (rc == 0)
		rc = descend(w, child);
	restore(w, before);
	return rc;
}

/* The class of the container that is visited; those in it are plain again. */
static const char *take_class(struct ls_walk *w, const char *plain)
{
	const char *class = w->class ? w->class : plain;
	w->class = NULL;
	return class;
}

/* An empty container is a value: "[]", "OrderedDict {}". */
static void emit_empty(struct ls_walk *w, const char *brackets)
{
	const char *class = take_class(w, "");
	ls_torch_emit_other(w, ls_xasprintf("%s%s%s", class, *class ? " " : "", brackets));
}

static int visit_sequence(struct ls_walk *w, const struct ls_pk_node *n, bool tuple)
{
	int rc = 0;
	if (n->n)
		ls_torch_trait(w, take_class(w, tuple ? "tuple" : "list"));
	else
		emit_empty(w, tuple ? "()" : "[]");
	for (size_t i = 0; i < n->n && rc == 0; i++)
		rc = ls_torch_descend(w, NULL, i, n->items[i]);
	return rc;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Keys that are not all text: 1 and "1" have one path, so their kinds are told. */
static void trait_of_keys(struct ls_walk *w, const struct ls_pk_node *n, const char *class)
{
	static const char *const kinds[] = {"None", "bool", "int", "int", "float", "str", "bytes"};
	enum { KINDS = sizeof kinds / sizeof *kinds };
	char **keys = ls_xalloc((n->n / 2 + 1) * sizeof *keys);
	size_t made = 0;
	for (size_t i = 0; i + 1 < n->n; i += 2) {
		const struct ls_pk_node *k = ls_torch_at(w, n->items[i]);
		struct ls_str s = {0};
		ls_str_add(&s, k->kind < KINDS ? kinds[k->kind] : "");
		ls_str_add(&s, " ");
		ls_torch_key_text(w, k, true, &s);
		keys[made++] = ls_str_take(&s);
	}
	qsort(keys, made, sizeof *keys, by_text);
	struct ls_str all = {0};
	ls_str_addf(&all, "%s with keys ", class);
	for (size_t i = 0; i < made; i++) {
		ls_str_addf(&all, "%s%s", i ? ", " : "", keys[i]);
		free(keys[i]);
	}
	free(keys);
	ls_torch_trait(w, all.s);
	ls_str_done(&all);
}

static void trait_of_dict(struct ls_walk *w, const struct ls_pk_node *n)
{
	size_t texts = 0, ints = 0;
	for (size_t i = 0; i + 1 < n->n; i += 2) {
		texts += ls_torch_at(w, n->items[i])->kind == LS_PK_STR;
		ints += ls_torch_at(w, n->items[i])->kind == LS_PK_INT;
	}
	const char *class = take_class(w, "dict");
	char *with_ints = ls_xasprintf("%s with int keys", class);
	if (texts == n->n / 2)
		ls_torch_trait(w, class);
	else if (ints == n->n / 2)
		ls_torch_trait(w, with_ints);
	else
		trait_of_keys(w, n, class);
	free(with_ints);
}

int ls_torch_visit_pairs(struct ls_walk *w, const struct ls_pk_node *n)
{
	int rc = 0;
	if (n->n % 2)
		return ls_torch_wrong(w, "a dict that was given list items");
	if (n->n)
		trait_of_dict(w, n);
	else
		emit_empty(w, "{}");
	for (size_t i = 0; i + 1 < n->n && rc == 0; i += 2)
		rc = visit_pair(w, i / 2, n->items[i], n->items[i + 1]);
	return rc;
}

/* OrderedDict([[key, value], …]), as Python 2 wrote it. */
static int visit_pair_list(struct ls_walk *w, const struct ls_pk_node *list)
{
	int rc = 0;
	ls_torch_trait(w, take_class(w, "dict"));
	for (size_t i = 0; i < list->n && rc == 0; i++) {
		const struct ls_pk_node *pair = ls_torch_at(w, list->items[i]);
		if ((pair->kind != LS_PK_LIST && pair->kind != LS_PK_TUPLE) || pair->n != 2)
			return ls_torch_wrong(w, "a dict built from something that is not pairs");
		rc = visit_pair(w, i, pair->items[0], pair->items[1]);
	}
	return rc;
}

/* A dict's attributes: _metadata of a state_dict is about the packaging, others are state. */
int ls_torch_visit_attributes(struct ls_walk *w, const struct ls_pk_node *state)
{
	int rc = 0;
	if (state->kind == LS_PK_NONE)
		return 0;
	if (state->kind != LS_PK_DICT)
		return ls_torch_wrong(w, "attributes that are not a dict");
	for (size_t i = 0; i + 1 < state->n && rc == 0; i += 2) {
		const struct ls_pk_node *key = ls_torch_at(w, state->items[i]);
		bool before = w->meta;
		w->meta |= key->kind == LS_PK_STR && key->n == 9 &&
			   memcmp(key->s, "_metadata", 9) == 0;
		rc = visit_pair(w, i / 2, state->items[i], state->items[i + 1]);
		w->meta = before;
	}
	return rc;
}

/* "OrderedDict", "defaultdict of builtins.int"; NULL for a plain dict. */
static char *class_of_dict(struct ls_walk *w, const struct ls_pk_node *call)
{
	const char *name = ls_pickle_global(w->p, ls_torch_at(w, call->a))->name;
	const struct ls_pk_node *factory = ls_torch_arg(w, call, 0);
	struct ls_str s = {0};
	if (strcmp(name, "dict") == 0)
		return NULL;
	ls_str_add(&s, name);
	if (factory && factory->kind == LS_PK_GLOBAL) {
		ls_str_add(&s, " of ");
		ls_torch_key_text(w, factory, false, &s);
	}
	return ls_str_take(&s);
}

static int visit_dict_items(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *first = ls_torch_arg(w, call, 0);
	bool pairs = first && (first->kind == LS_PK_LIST || first->kind == LS_PK_TUPLE);
	int rc = 0;
	if (first && first->kind == LS_PK_DICT)
		rc = ls_torch_visit_pairs(w, first);
	else if (pairs)
		rc = visit_pair_list(w, first);
	else if (first && first->kind != LS_PK_GLOBAL && first->kind != LS_PK_NONE)
		return ls_torch_wrong(w, "a dict built from something that is not pairs");
	if (rc == 0 && (call->n || !(pairs || (first && first->kind == LS_PK_DICT))))
		rc = ls_torch_visit_pairs(w, call);
	return rc;
}

static int visit_dict_call(struct ls_walk *w, const struct ls_pk_node *call)
{
	char *class = class_of_dict(w, call);
	w->class = class;
	int rc = visit_dict_items(w, call);
	w->class = NULL;
	free(class);
	return rc == 0 && call->c ? ls_torch_visit_attributes(w, ls_torch_at(w, call->c)) : rc;
}

/* Sets of what has no short text are told in the order of the file. */
static int visit_set(struct ls_walk *w, const struct ls_pk_node *n, const char *class)
{
	ls_torch_trait(w, class);
	if (ls_torch_emit_set(w, n))
		return 0;
	int rc = 0;
	for (size_t i = 0; i < n->n && rc == 0; i++)
		rc = ls_torch_descend(w, NULL, i, n->items[i]);
	return rc;
}

static int visit_set_call(struct ls_walk *w, const struct ls_pk_node *call)
{
	static const struct ls_pk_node none = {.kind = LS_PK_LIST};
	const struct ls_pk_node *items = ls_torch_arg(w, call, 0);
	if (items && items->kind != LS_PK_LIST && items->kind != LS_PK_TUPLE)
		return ls_torch_wrong(w, "a set built from something that is no list");
	return visit_set(w, items ? items : &none,
			 ls_pickle_global(w->p, ls_torch_at(w, call->a))->name);
}

static int visit_size(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *args = ls_torch_at(w, call->b);
	if (args->n != 1 || ls_torch_at(w, args->items[0])->kind != LS_PK_TUPLE)
		return ls_torch_wrong(w, "a torch.Size without a tuple");
	w->class = "torch.Size";
	int rc = ls_torch_visit(w, args->items[0]);
	w->class = NULL;
	return rc;
}

static int visit_bytes_call(struct ls_walk *w, const struct ls_pk_node *call)
{
	const uint8_t *bytes = NULL;
	size_t len = 0;
	if (ls_torch_bytes_of(w, call, &bytes, &len))
		return LS_EINPUT;
	if (ls_torch_is_call(w, call, A_BYTES))
		ls_torch_trait(w, ls_pickle_global(w->p, ls_torch_at(w, call->a))->name);
	return ls_torch_emit_text(w, LS_VAL_BYTES, (const char *)bytes, len);
}

static int visit_call(struct ls_walk *w, const struct ls_pk_node *n)
{
	const struct ls_pk_node *what = ls_torch_at(w, n->a);
	if (what->kind != LS_PK_GLOBAL)
		return ls_torch_emit_object(w, n);
	switch (ls_pickle_global(w->p, what)->action) {
	case A_DICT:
		return visit_dict_call(w, n);
	case A_NAMESPACE:
		return ls_torch_emit_object(w, n);
	case A_SET:
		return visit_set_call(w, n);
	case A_COMPLEX:
		return ls_torch_emit_complex(w, n);
	case A_BYTES:
	case A_ENCODE:
		return visit_bytes_call(w, n);
	case A_PATH:
		return ls_torch_emit_joined(w, n, "path");
	case A_LAYOUT:
		return ls_torch_emit_joined(w, n, "layout");
	case A_DEVICE:
		return ls_torch_emit_device(w, n);
	case A_SIZE:
		return visit_size(w, n);
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
		return visit_sequence(w, n, n->kind == LS_PK_TUPLE);
	case LS_PK_DICT:
		return ls_torch_visit_pairs(w, n);
	case LS_PK_SET:
		return visit_set(w, n, "set");
	case LS_PK_GLOBAL:
		return ls_torch_emit_global(w, n);
	case LS_PK_CALL:
		return visit_call(w, n);
	case LS_PK_PERSID:
		return ls_torch_emit_storage(w, n);
	}
	return ls_torch_wrong(w, "an object of an unknown kind");
}

/* What refers to something that it is in ends the walk there: how far up that is says which. */
static int emit_cycle(struct ls_walk *w, const struct ls_pk_node *n)
{
	return ls_torch_emit_other(w,
				   ls_xasprintf("the object %d levels up", w->depth + 1 - n->busy));
}

int ls_torch_visit(struct ls_walk *w, uint32_t id)
{
	struct ls_pk_node *n = ls_torch_at(w, id);
	if (n->busy)
		return emit_cycle(w, n);
	if (w->depth >= DEPTH_LIMIT)
		return ls_torch_wrong(w, "nested deeper than 200");
	w->text += w->path.len + 16;
	if (++w->entries > ENTRY_LIMIT || w->text > TEXT_LIMIT)
		return ls_torch_wrong(w, "more entries than a checkpoint has");
	w->depth++;
	n->busy = (uint8_t)w->depth;
	int rc = visit_kind(w, n);
	n->busy = 0;
	w->depth--;
	return rc;
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

int ls_torch_flatten(struct ls_bundle *b, struct ls_pickle *p, const struct ls_torch_data *data,
		     const char *name, struct ls_err *err)
{
	struct ls_walk w = {.b = b, .p = p, .data = data, .err = err};
	ls_str_add(&w.path, name);
	int rc = ls_torch_visit(&w, p->root);
	ls_str_done(&w.path);
	if (rc == 0)
		number_twins(b);
	return rc;
}
