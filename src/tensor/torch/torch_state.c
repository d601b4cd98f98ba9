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
	TEXT_LIMIT = 256 << 20, /* of all paths together: a tree that shares its branches can be far
				   larger than its pickle */
};

static const struct ls_pk_global *global_of(struct ls_walk *w, const struct ls_pk_node *n)
{
	if (!n)
		return NULL;
	if (n->kind == LS_PK_CALL)
		n = ls_torch_at(w, n->a);
	return n->kind == LS_PK_GLOBAL ? &ls_torch_globals()[n->a] : NULL;
}

/* --- values --- */

static struct ls_value *add_value(struct ls_walk *w, enum ls_value_kind kind)
{
	struct ls_value *v = w->path.len ? ls_bundle_add_value(w->b, w->path.s, w->path.len, kind)
					 : ls_bundle_add_value(w->b, "(top)", 5, kind);
	v->meta = w->meta;
	return v;
}

static int emit_text(struct ls_walk *w, enum ls_value_kind kind, const char *s, size_t len)
{
	const char *copy = ls_bundle_text(w->b, s, len);
	struct ls_value *v = add_value(w, kind);
	v->text = copy;
	v->len = len;
	return 0;
}

static int emit_other(struct ls_walk *w, char *text_take)
{
	emit_text(w, LS_VAL_OTHER, text_take, strlen(text_take));
	free(text_take);
	return 0;
}

static int emit_big(struct ls_walk *w, const struct ls_pk_node *n)
{
	if (n->a)
		return emit_text(w, LS_VAL_INT, n->s, n->n);
	struct ls_str s = {0};
	ls_str_add(&s, "0x");
	for (size_t i = n->n; i-- > 0;)
		ls_str_addf(&s, "%02x", (uint8_t)n->s[i]);
	emit_text(w, LS_VAL_INT, s.s, s.len);
	ls_str_done(&s);
	return 0;
}

static int emit_global(struct ls_walk *w, const struct ls_pk_node *n)
{
	const struct ls_pk_global *g = &ls_torch_globals()[n->a];
	return emit_other(w, ls_xasprintf("%s.%s", g->module, g->name));
}

static int emit_device(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *type = ls_torch_arg(w, call, 0), *index = ls_torch_arg(w, call, 1);
	if (!type || type->kind != LS_PK_STR || type->n > 60)
		return ls_torch_wrong(w, "a device without a name");
	if (index && index->kind == LS_PK_INT)
		return emit_other(
			w, ls_xasprintf("device %.*s:%" PRId64, (int)type->n, type->s, index->i));
	return emit_other(w, ls_xasprintf("device %.*s", (int)type->n, type->s));
}

/* The text of a path or layout: its arguments, joined. */
static int emit_joined(struct ls_walk *w, const struct ls_pk_node *call, const char *what)
{
	struct ls_str s = {0};
	ls_str_add(&s, what);
	for (size_t i = 0; i < ls_torch_at(w, call->b)->n; i++) {
		const struct ls_pk_node *part = ls_torch_arg(w, call, i);
		if (part->kind != LS_PK_STR) {
			ls_str_done(&s);
			return ls_torch_wrong(w, "a path or layout that is not text");
		}
		ls_str_add(&s, i ? "/" : " ");
		ls_str_add_bytes(&s, part->s, part->n);
	}
	emit_text(w, LS_VAL_OTHER, s.s, s.len);
	ls_str_done(&s);
	return 0;
}

static int emit_complex(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *re = ls_torch_arg(w, call, 0), *im = ls_torch_arg(w, call, 1);
	if (!re || !im || re->kind != LS_PK_REAL || im->kind != LS_PK_REAL)
		return ls_torch_wrong(w, "a complex number without its parts");
	return emit_other(w, ls_xasprintf("complex %a %a", re->real, im->real));
}

static int scalar_text(struct ls_walk *w, const struct ls_pk_node *n, struct ls_str *s)
{
	switch ((enum ls_pk)n->kind) {
	case LS_PK_NONE:
		ls_str_add(s, "None");
		return 0;
	case LS_PK_BOOL:
		ls_str_add(s, n->i ? "True" : "False");
		return 0;
	case LS_PK_INT:
		ls_str_addf(s, "%" PRId64, n->i);
		return 0;
	case LS_PK_REAL:
		ls_str_addf(s, "%.17g", n->real);
		return 0;
	case LS_PK_STR:
	case LS_PK_BYTES:
		ls_str_add_bytes(s, n->s, n->n);
		return 0;
	default:
		return ls_torch_wrong(w, "a key or set element that is not a number or text");
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A set has no order: its elements' texts, sorted. */
static int emit_set(struct ls_walk *w, const struct ls_pk_node *n)
{
	char **texts = ls_xalloc((n->n + 1) * sizeof *texts);
	size_t made = 0;
	int rc = 0;
	while (rc == 0 && made < n->n) {
		struct ls_str s = {0};
		rc = scalar_text(w, ls_torch_at(w, n->items[made]), &s);
		texts[made++] = ls_str_take(&s);
	}
	qsort(texts, made, sizeof *texts, by_text);
	struct ls_str all = {0};
	ls_str_add(&all, "{");
	for (size_t i = 0; i < made; i++) {
		ls_str_addf(&all, "%s%s", i ? ", " : "", texts[i]);
		free(texts[i]);
	}
	ls_str_add(&all, "}");
	free(texts);
	if (rc == 0)
		emit_text(w, LS_VAL_OTHER, all.s, all.len);
	ls_str_done(&all);
	return rc;
}

/* --- the walk --- */

static int visit(struct ls_walk *w, uint32_t id);

/* Visits a child under its key; the path is as before afterwards. */
static int descend(struct ls_walk *w, const struct ls_pk_node *key, size_t index, uint32_t child)
{
	size_t before = w->path.len;
	int rc = 0;
	if (before)
		ls_str_add(&w->path, ".");
	if (key)
		rc = scalar_text(w, key, &w->path);
	else
		ls_str_addf(&w->path, "%zu", index);
	if (rc == 0 && w->path.len > PATH_LIMIT)
		rc = ls_err_set(w->err, LS_EINPUT, "a name of more than %d bytes", PATH_LIMIT);
	if (rc == 0)
		rc = visit(w, child);
	w->path.len = before;
	if (w->path.s)
		w->path.s[before] = 0;
	return rc;
}

static int visit_sequence(struct ls_walk *w, const struct ls_pk_node *n)
{
	int rc = n->n ? 0 : emit_text(w, LS_VAL_OTHER, "[]", 2);
	for (size_t i = 0; i < n->n && rc == 0; i++)
		rc = descend(w, NULL, i, n->items[i]);
	return rc;
}

static int visit_pairs(struct ls_walk *w, const struct ls_pk_node *n)
{
	int rc = 0;
	if (n->n % 2)
		return ls_torch_wrong(w, "a dict that was given list items");
	for (size_t i = 0; i + 1 < n->n && rc == 0; i += 2)
		rc = descend(w, ls_torch_at(w, n->items[i]), 0, n->items[i + 1]);
	return rc;
}

/* OrderedDict([[key, value], …]), as Python 2 wrote it. */
static int visit_pair_list(struct ls_walk *w, const struct ls_pk_node *list)
{
	int rc = 0;
	for (size_t i = 0; i < list->n && rc == 0; i++) {
		const struct ls_pk_node *pair = ls_torch_at(w, list->items[i]);
		if ((pair->kind != LS_PK_LIST && pair->kind != LS_PK_TUPLE) || pair->n != 2)
			return ls_torch_wrong(w, "a dict built from something that is not pairs");
		rc = descend(w, ls_torch_at(w, pair->items[0]), 0, pair->items[1]);
	}
	return rc;
}

/* A dict's attributes: _metadata of a state_dict is about the packaging, others are state. */
static int visit_attributes(struct ls_walk *w, const struct ls_pk_node *state)
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
		rc = descend(w, key, 0, state->items[i + 1]);
		w->meta = before;
	}
	return rc;
}

static int visit_dict_call(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *first = ls_torch_arg(w, call, 0);
	int rc = 0;
	if (first && first->kind == LS_PK_DICT)
		rc = visit_pairs(w, first);
	else if (first && (first->kind == LS_PK_LIST || first->kind == LS_PK_TUPLE))
		rc = visit_pair_list(w, first);
	else if (first && first->kind != LS_PK_GLOBAL && first->kind != LS_PK_NONE)
		return ls_torch_wrong(w, "a dict built from something that is not pairs");
	if (rc == 0)
		rc = visit_pairs(w, call);
	if (rc == 0 && call->n == 0 && !first)
		rc = emit_text(w, LS_VAL_OTHER, "{}", 2);
	return rc == 0 && call->c ? visit_attributes(w, ls_torch_at(w, call->c)) : rc;
}

static int visit_set_call(struct ls_walk *w, const struct ls_pk_node *call)
{
	static const struct ls_pk_node none = {.kind = LS_PK_LIST};
	const struct ls_pk_node *items = ls_torch_arg(w, call, 0);
	if (items && items->kind != LS_PK_LIST && items->kind != LS_PK_TUPLE)
		return ls_torch_wrong(w, "a set built from something that is no list");
	return emit_set(w, items ? items : &none);
}

static int visit_sparse(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *data = ls_torch_arg(w, call, 1);
	static const char *const names[] = {"indices", "values", "size"};
	if (!data || data->kind != LS_PK_TUPLE || data->n < 3)
		return ls_torch_wrong(w, "a sparse tensor of a layout that is not read");
	int rc = 0;
	for (size_t i = 0; i < 3 && rc == 0; i++) {
		struct ls_pk_node key = {.kind = LS_PK_STR, .s = names[i], .n = strlen(names[i])};
		rc = descend(w, &key, 0, data->items[i]);
	}
	return rc;
}

/* _rebuild_from_type_v2(function, class, arguments, state): a Parameter or Tensor with attributes.
 */
static int visit_from_type(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *func = ls_torch_arg(w, call, 0), *args = ls_torch_arg(w, call, 2);
	if (!func || func->kind != LS_PK_GLOBAL || !args || args->kind != LS_PK_TUPLE ||
	    ls_torch_at(w, call->b)->n < 3)
		return ls_torch_wrong(w, "a tensor of a class that is not read");
	struct ls_pk_node inner = {.kind = LS_PK_CALL,
				   .a = ls_torch_at(w, call->b)->items[0],
				   .b = ls_torch_at(w, call->b)->items[2]};
	int action = ls_torch_globals()[func->a].action;
	if (action != A_TENSOR && action != A_TENSOR_V3)
		return ls_torch_wrong(w, "a tensor of a class that is not read");
	return ls_torch_emit_tensor(w, &inner);
}

static int visit_call(struct ls_walk *w, const struct ls_pk_node *n)
{
	const struct ls_pk_global *g = global_of(w, n);
	const uint8_t *bytes = NULL;
	size_t len = 0;
	switch ((enum ls_torch_action)g->action) {
	case A_DICT:
		return visit_dict_call(w, n);
	case A_NAMESPACE:
		return n->c ? visit_attributes(w, ls_torch_at(w, n->c))
			    : emit_text(w, LS_VAL_OTHER, "{}", 2);
	case A_SET:
		return visit_set_call(w, n);
	case A_COMPLEX:
		return emit_complex(w, n);
	case A_BYTES:
	case A_ENCODE:
		if (ls_torch_bytes_of(w, n, &bytes, &len))
			return LS_EINPUT;
		return emit_text(w, LS_VAL_BYTES, (const char *)bytes, len);
	case A_PATH:
		return emit_joined(w, n, "path");
	case A_LAYOUT:
		return emit_joined(w, n, "layout");
	case A_DEVICE:
		return emit_device(w, n);
	case A_SIZE:
		return ls_torch_at(w, n->b)->n == 1
			       ? visit(w, ls_torch_at(w, n->b)->items[0])
			       : ls_torch_wrong(w, "a torch.Size without a tuple");
	case A_TENSOR:
	case A_TENSOR_V3:
		return ls_torch_emit_tensor(w, n);
	case A_PARAMETER:
		return ls_torch_at(w, n->b)->n ? visit(w, ls_torch_at(w, n->b)->items[0])
					       : ls_torch_wrong(w, "a parameter without a tensor");
	case A_FROM_TYPE:
		return visit_from_type(w, n);
	case A_SPARSE:
		return visit_sparse(w, n);
	case A_NP_SCALAR:
		return ls_torch_emit_np_scalar(w, n);
	case A_NP_ARRAY:
		return ls_torch_emit_np_array(w, n);
	case A_NP_BUFFER:
		return ls_torch_emit_np_buffer(w, n);
	case A_QUANTIZED:
		return ls_torch_wrong(
			w, "a quantized tensor; those are not read, save its int_repr() and scale");
	default:
		return ls_err_set(w->err, LS_EINPUT,
				  "\"%.200s\": an object of %s.%s; only tensors and plain "
				  "containers are read",
				  w->path.len ? w->path.s : "(top)", g->module, g->name);
	}
}

static int visit_kind(struct ls_walk *w, struct ls_pk_node *n)
{
	switch ((enum ls_pk)n->kind) {
	case LS_PK_NONE:
		add_value(w, LS_VAL_NULL);
		return 0;
	case LS_PK_BOOL:
		add_value(w, LS_VAL_BOOL)->i = n->i;
		return 0;
	case LS_PK_INT:
		add_value(w, LS_VAL_INT)->i = n->i;
		return 0;
	case LS_PK_BIG:
		return emit_big(w, n);
	case LS_PK_REAL:
		add_value(w, LS_VAL_REAL)->real = n->real;
		return 0;
	case LS_PK_STR:
		return emit_text(w, LS_VAL_STRING, n->s, n->n);
	case LS_PK_BYTES:
		return emit_text(w, LS_VAL_BYTES, n->s, n->n);
	case LS_PK_LIST:
	case LS_PK_TUPLE:
		return visit_sequence(w, n);
	case LS_PK_DICT:
		return n->n ? visit_pairs(w, n) : emit_text(w, LS_VAL_OTHER, "{}", 2);
	case LS_PK_SET:
		return emit_set(w, n);
	case LS_PK_GLOBAL:
		return emit_global(w, n);
	case LS_PK_CALL:
		return visit_call(w, n);
	case LS_PK_PERSID:
		return ls_torch_emit_storage(w, n);
	}
	return ls_torch_wrong(w, "an object of an unknown kind");
}

static int visit(struct ls_walk *w, uint32_t id)
{
	struct ls_pk_node *n = ls_torch_at(w, id);
	if (n->busy)
		return ls_torch_wrong(w, "a container that holds itself");
	if (w->depth >= DEPTH_LIMIT)
		return ls_torch_wrong(w, "nested deeper than 200");
	w->text += w->path.len + 16;
	if (++w->entries > ENTRY_LIMIT || w->text > TEXT_LIMIT)
		return ls_torch_wrong(w, "more entries than a checkpoint has");
	n->busy = 1;
	w->depth++;
	int rc = visit_kind(w, n);
	w->depth--;
	n->busy = 0;
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

int ls_torch_flatten(struct ls_bundle *b, struct ls_pickle *p, const struct ls_zip *zip,
		     const char *prefix, bool big_endian, struct ls_err *err)
{
	struct ls_walk w = {
		.b = b, .p = p, .zip = zip, .prefix = prefix, .big_endian = big_endian, .err = err};
	int rc = visit(&w, p->root);
	ls_str_done(&w.path);
	if (rc == 0)
		number_twins(b);
	return rc;
}
