/* Objects of any class, as data: tensors by the function that torch rebuilds them with,
 * others by class, arguments, state and items. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/torch/torch_internal.h"

static const struct ls_pk_node *global_of(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *what = ls_torch_at(w, call->a);
	return what->kind == LS_PK_GLOBAL ? what : NULL;
}

static int action_of(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *g = global_of(w, call);
	return g ? ls_pickle_global(w->p, g)->action : -1;
}

static bool is_text(const struct ls_pk_node *n, const char *text)
{
	return n->kind == LS_PK_STR && n->n == strlen(text) && memcmp(n->s, text, n->n) == 0;
}

/* --- state --- */

/* A dict of attributes; or a pair of it and a dict of slots; or whatever the class
 * made. */
static int visit_state(struct ls_walk *w, uint32_t id)
{
	const struct ls_pk_node *s = ls_torch_at(w, id);
	if (s->kind == LS_PK_DICT || s->kind == LS_PK_NONE)
		return ls_torch_visit_attributes(w, s);
	if (s->kind != LS_PK_TUPLE || s->n != 2)
		return ls_torch_descend(w, "state", 0, id);
	for (size_t i = 0; i < 2; i++) {
		uint8_t kind = ls_torch_at(w, s->items[i])->kind;
		if (kind != LS_PK_DICT && kind != LS_PK_NONE)
			return ls_torch_descend(w, "state", 0, id);
	}
	int rc = ls_torch_visit_attributes(w, ls_torch_at(w, s->items[0]));
	return rc ? rc : ls_torch_visit_attributes(w, ls_torch_at(w, s->items[1]));
}

/* --- torch.nn.Module --- */

static const char *const module_parts[] = {"_parameters", "_buffers", "_modules"};
enum { MODULE_PARTS = 3 };

static bool is_module_part(const struct ls_pk_node *key)
{
	for (size_t i = 0; i < MODULE_PARTS; i++)
		if (is_text(key, module_parts[i]))
			return true;
	return false;
}

static bool is_module(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *s = call->c ? ls_torch_at(w, call->c) : NULL;
	size_t found = 0;
	for (size_t i = 0; s && s->kind == LS_PK_DICT && i + 1 < s->n; i += 2)
		found += is_module_part(ls_torch_at(w, s->items[i]));
	return found == MODULE_PARTS;
}

/* Hooks and the like, of which most modules have none. */
static bool is_empty(struct ls_walk *w, uint32_t id)
{
	const struct ls_pk_node *n = ls_torch_at(w, id);
	int action = n->kind == LS_PK_CALL ? action_of(w, n) : -1;
	const struct ls_pk_node *items = action == A_SET ? ls_torch_arg(w, n, 0) : NULL;
	if (items && items->kind == LS_PK_LIST && items->n == 0)
		return true;
	return n->kind == LS_PK_NONE ||
	       ((n->kind == LS_PK_DICT || n->kind == LS_PK_SET) && n->n == 0) ||
	       ((action == A_DICT || action == A_SET) && n->n == 0 && n->c == 0 &&
		ls_torch_at(w, n->b)->n == 0);
}

/* The pairs of a dict or an OrderedDict; NULL for anything else. */
static const struct ls_pk_node *pairs_of(struct ls_walk *w, uint32_t id)
{
	const struct ls_pk_node *n = ls_torch_at(w, id);
	bool plain = n->kind == LS_PK_DICT || (n->kind == LS_PK_CALL && action_of(w, n) == A_DICT &&
					       n->n % 2 == 0 && ls_torch_at(w, n->b)->n == 0);
	return plain ? n : NULL;
}

/* The parts of a module have the names that its state_dict gives them: "0.weight",
 * without "_modules" and "_parameters" between. */
static int visit_module_part(struct ls_walk *w, const struct ls_pk_node *pairs)
{
	int rc = 0;
	for (size_t i = 0; i + 1 < pairs->n && rc == 0; i += 2) {
		struct ls_str name = {0};
		if (!ls_torch_key_text(w, ls_torch_at(w, pairs->items[i]), false, &name))
			rc = ls_torch_wrong(w, "a module's part without a name");
		else
			rc = ls_torch_descend(w, name.s ? name.s : "", 0, pairs->items[i + 1]);
		ls_str_done(&name);
	}
	return rc;
}

static int visit_module(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *s = ls_torch_at(w, call->c);
	int rc = 0;
	for (size_t i = 0; i + 1 < s->n && rc == 0; i += 2) {
		const struct ls_pk_node *key = ls_torch_at(w, s->items[i]);
		const struct ls_pk_node *pairs =
			is_module_part(key) ? pairs_of(w, s->items[i + 1]) : NULL;
		struct ls_str name = {0};
		if (pairs)
			rc = visit_module_part(w, pairs);
		else if (key->kind == LS_PK_STR && key->n && key->s[0] == '_' &&
			 is_empty(w, s->items[i + 1]))
			rc = 0;
		else if (ls_torch_key_text(w, key, false, &name))
			rc = ls_torch_descend(w, name.s ? name.s : "", 0, s->items[i + 1]);
		ls_str_done(&name);
	}
	return rc;
}

/* --- any class --- */

/* The class is what is called, or the first argument of copyreg._reconstructor. */
static const struct ls_pk_node *class_of(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *first = ls_torch_arg(w, call, 0);
	if (action_of(w, call) == A_RECONSTRUCT && first && first->kind == LS_PK_GLOBAL)
		return first;
	return ls_torch_at(w, call->a);
}

static void trait_of_class(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *class = class_of(w, call);
	struct ls_str s = {0};
	if (!ls_torch_key_text(w, class, true, &s))
		ls_str_add(&s, "an object");
	ls_torch_trait(w, s.s);
	ls_str_done(&s);
}

static int visit_arguments(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *args = ls_torch_at(w, call->b);
	size_t before = w->path.len;
	int rc = 0;
	if (action_of(w, call) == A_RECONSTRUCT) /* class, object, None */
		return args->n == 3 && ls_torch_at(w, args->items[2])->kind == LS_PK_NONE
			       ? 0
			       : ls_torch_descend(w, "args", 0, call->b);
	ls_str_add(&w->path, before ? ".args" : "args");
	for (size_t i = 0; i < args->n && rc == 0; i++)
		rc = ls_torch_descend(w, NULL, i, args->items[i]);
	w->path.len = before;
	w->path.s[before] = 0;
	return rc;
}

static int visit_items(struct ls_walk *w, const struct ls_pk_node *call)
{
	int rc = 0;
	if (call->pairs)
		return ls_torch_visit_pairs(w, call);
	for (size_t i = 0; i < call->n && rc == 0; i++)
		rc = ls_torch_descend(w, NULL, i, call->items[i]);
	return rc;
}

static int visit_any(struct ls_walk *w, const struct ls_pk_node *call)
{
	size_t before = w->b->n_values + w->b->n_tensors;
	int rc = 0;
	trait_of_class(w, call);
	if (is_module(w, call))
		return visit_module(w, call);
	if (!global_of(w, call)) /* what is called is an object itself */
		rc = ls_torch_descend(w, "function", 0, call->a);
	if (rc == 0)
		rc = visit_arguments(w, call);
	if (rc == 0 && call->c)
		rc = visit_state(w, call->c);
	if (rc == 0 && call->n)
		rc = visit_items(w, call);
	if (rc == 0 && w->b->n_values + w->b->n_tensors == before)
		ls_torch_emit_text(w, LS_VAL_OTHER, "an object without state", 23);
	return rc;
}

/* --- tensors --- */

static int visit_parts(struct ls_walk *w, const struct ls_pk_node *parts, const char *const *names,
		       size_t n)
{
	int rc = 0;
	for (size_t i = 0; i < parts->n && rc == 0; i++)
		rc = ls_torch_descend(w, i < n ? names[i] : NULL, i, parts->items[i]);
	return rc;
}

/* _rebuild_sparse_tensor(layout, data) */
static int visit_sparse(struct ls_walk *w, const struct ls_pk_node *call)
{
	static const char *const coo[] = {"indices", "values", "size", "is_coalesced"};
	static const char *const compressed[] = {"compressed_indices", "plain_indices", "values",
						 "size"};
	const struct ls_pk_node *args = ls_torch_at(w, call->b), *data = ls_torch_arg(w, call, 1);
	if (!data || data->kind != LS_PK_TUPLE || data->n < 3)
		return ls_torch_wrong(w, "a sparse tensor without its parts");
	const struct ls_pk_node *fourth = data->n > 3 ? ls_torch_at(w, data->items[3]) : NULL;
	bool is_coo = !fourth || fourth->kind == LS_PK_BOOL || fourth->kind == LS_PK_NONE;
	ls_torch_trait(w, "sparse tensor");
	int rc = ls_torch_descend(w, "layout", 0, args->items[0]);
	return rc ? rc : visit_parts(w, data, is_coo ? coo : compressed, 4);
}

/* _rebuild_parameter(tensor, requires_grad, hooks), perhaps with the state of a
 * subclass. */
static int visit_parameter(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *args = ls_torch_at(w, call->b), *grad = ls_torch_arg(w, call, 1);
	if (args->n == 0)
		return ls_torch_wrong(w, "a parameter without a tensor");
	w->tensor_kind = grad && grad->kind == LS_PK_BOOL && grad->i ? "Parameter, requires_grad"
								     : "Parameter";
	int rc = ls_torch_visit(w, args->items[0]);
	w->tensor_kind = NULL;
	return rc == 0 && args->n > 3 ? visit_state(w, args->items[3]) : rc;
}

/* _rebuild_from_type_v2(function, class, arguments, state): a tensor of a class of its
 * own, or with attributes. */
static int visit_from_type(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *args = ls_torch_at(w, call->b);
	if (args->n < 4 || ls_torch_at(w, args->items[2])->kind != LS_PK_TUPLE)
		return visit_any(w, call);
	struct ls_pk_node inner = {.kind = LS_PK_CALL, .a = args->items[0], .b = args->items[2]};
	struct ls_str class = {0};
	int rc = 0;
	if (ls_torch_key_text(w, ls_torch_at(w, args->items[1]), false, &class))
		ls_torch_trait(w, class.s);
	ls_str_done(&class);
	if (action_of(w, &inner) == A_FROM_TYPE) /* not within itself: arguments could nest */
		rc = visit_any(w, &inner);
	else
		rc = ls_torch_emit_object(w, &inner);
	return rc ? rc : visit_state(w, args->items[3]);
}

/* _rebuild_qtensor(storage, offset, size, stride, quantizer, requires_grad, hooks) */
static int visit_quantized(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *args = ls_torch_at(w, call->b);
	if (args->n < 6)
		return ls_torch_wrong(w, "a quantized tensor without its parts");
	struct ls_pk_node type = {0};
	const struct ls_pk_node *storage = ls_torch_at(w, args->items[0]);
	if (storage->kind == LS_PK_PERSID && ls_torch_at(w, storage->a)->kind == LS_PK_TUPLE &&
	    ls_torch_at(w, storage->a)->n > 1)
		type = *ls_torch_at(w, ls_torch_at(w, storage->a)->items[1]);
	const char *name = type.kind == LS_PK_GLOBAL ? ls_pickle_global(w->p, &type)->name : "";
	int rc;
	ls_torch_trait(w, "quantized tensor");
	if (strstr(name, "4x2") || strstr(name, "2x4")) { /* several elements a byte */
		rc = ls_torch_descend(w, "storage", 0, args->items[0]);
		if (rc == 0)
			rc = ls_torch_descend(w, "size", 0, args->items[2]);
		if (rc == 0)
			rc = ls_torch_descend(w, "stride", 0, args->items[3]);
	} else {
		w->tensor_kind = name;
		rc = ls_torch_emit_tensor(w, call);
	}
	if (rc == 0)
		rc = ls_torch_descend(w, "quantizer", 0, args->items[4]);
	return rc ? rc : ls_torch_descend(w, "requires_grad", 0, args->items[5]);
}

int ls_torch_emit_object(struct ls_walk *w, const struct ls_pk_node *call)
{
	static const char *const nested[] = {"buffer", "sizes", "strides", "offsets"};
	switch (action_of(w, call)) {
	case A_TENSOR:
	case A_TENSOR_V3:
		return ls_torch_emit_tensor(w, call);
	case A_PARAMETER:
		return visit_parameter(w, call);
	case A_FROM_TYPE:
		return visit_from_type(w, call);
	case A_SPARSE:
		return visit_sparse(w, call);
	case A_QUANTIZED:
		return visit_quantized(w, call);
	case A_NESTED:
		ls_torch_trait(w, "nested tensor");
		return visit_parts(w, ls_torch_at(w, call->b), nested, 4);
	default:
		return visit_any(w, call);
	}
}
