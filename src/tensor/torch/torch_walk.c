/* The walk over a pickle's tree: where it is, how deep, and how much it has seen. What a
 * node becomes is the business of torch_state.c. */
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
	return n && n->kind == LS_PK_CALL && ls_torch_is_global(w, ls_torch_at(w, n->a), action);
}

bool ls_torch_is_global(struct ls_walk *w, const struct ls_pk_node *n, enum ls_torch_action action)
{
	return n && n->kind == LS_PK_GLOBAL && ls_pickle_global(w->p, n)->action == (int)action;
}

void ls_torch_trait(struct ls_walk *w, const char *text)
{
	if (!w->meta)
		ls_bundle_add_trait(w->b, w->path.len ? w->path.s : "", text);
}

int ls_torch_visit(struct ls_walk *w, uint32_t id)
{
	struct ls_pk_node *n = ls_torch_at(w, id);
	if (n->busy)
		return w->cycle(w, w->depth + 1 - n->busy);
	if (w->depth >= DEPTH_LIMIT)
		return ls_torch_wrong(w, "nested deeper than 200");
	w->text += w->path.len + 16;
	if (++w->entries > ENTRY_LIMIT || w->text > TEXT_LIMIT)
		return ls_torch_wrong(w, "more entries than a checkpoint has");
	w->depth++;
	n->busy = (uint8_t)w->depth;
	int rc = w->visit(w, n);
	n->busy = 0;
	w->depth--;
	return rc;
}

int ls_torch_enter(struct ls_walk *w, uint32_t child)
{
	if (w->path.len > PATH_LIMIT)
		return ls_err_set(w->err, LS_EINPUT, "a name of more than %d bytes", PATH_LIMIT);
	return ls_torch_visit(w, child);
}

void ls_torch_restore(struct ls_walk *w, size_t before)
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
	int rc = ls_torch_enter(w, child);
	ls_torch_restore(w, before);
	return rc;
}
