/* Lists, tuples, dicts and sets of a pickle, with the classes that are one of them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/torch/torch_internal.h"

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
		rc = ls_torch_enter(w, child);
	ls_torch_restore(w, before);
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

int ls_torch_visit_sequence(struct ls_walk *w, const struct ls_pk_node *n, bool tuple)
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

/* A dict's attributes: _metadata of a state_dict is about the packaging, others are
 * state. */
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

int ls_torch_visit_dict_call(struct ls_walk *w, const struct ls_pk_node *call)
{
	char *class = class_of_dict(w, call);
	w->class = class;
	int rc = visit_dict_items(w, call);
	w->class = NULL;
	free(class);
	return rc == 0 && call->c ? ls_torch_visit_attributes(w, ls_torch_at(w, call->c)) : rc;
}

/* Sets of what has no short text are told in the order of the file. */
int ls_torch_visit_set(struct ls_walk *w, const struct ls_pk_node *n, const char *class)
{
	ls_torch_trait(w, class);
	if (ls_torch_emit_set(w, n))
		return 0;
	int rc = 0;
	for (size_t i = 0; i < n->n && rc == 0; i++)
		rc = ls_torch_descend(w, NULL, i, n->items[i]);
	return rc;
}

int ls_torch_visit_set_call(struct ls_walk *w, const struct ls_pk_node *call)
{
	static const struct ls_pk_node none = {.kind = LS_PK_LIST};
	const struct ls_pk_node *items = ls_torch_arg(w, call, 0);
	if (items && items->kind != LS_PK_LIST && items->kind != LS_PK_TUPLE)
		return ls_torch_wrong(w, "a set built from something that is no list");
	return ls_torch_visit_set(w, items ? items : &none,
				  ls_pickle_global(w->p, ls_torch_at(w, call->a))->name);
}

int ls_torch_visit_size(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *args = ls_torch_at(w, call->b);
	if (args->n != 1 || ls_torch_at(w, args->items[0])->kind != LS_PK_TUPLE)
		return ls_torch_wrong(w, "a torch.Size without a tuple");
	w->class = "torch.Size";
	int rc = ls_torch_visit(w, args->items[0]);
	w->class = NULL;
	return rc;
}

int ls_torch_visit_bytes_call(struct ls_walk *w, const struct ls_pk_node *call)
{
	const uint8_t *bytes = NULL;
	size_t len = 0;
	if (ls_torch_bytes_of(w, call, &bytes, &len))
		return LS_EINPUT;
	if (ls_torch_is_call(w, call, A_BYTES))
		ls_torch_trait(w, ls_pickle_global(w->p, ls_torch_at(w, call->a))->name);
	return ls_torch_emit_text(w, LS_VAL_BYTES, (const char *)bytes, len);
}
