/* A comparison that knows the runs which made its two sides. */
#include <string.h>

#include "compare/compare_internal.h"

/* Two values of the same text differ in something that the text does not show. */
static bool is_own_value(const struct ls_own *own, const struct ls_cmp_item *item)
{
	return item->plain && strcmp(item->a, item->b) != 0 &&
	       ls_own_same(own, item->name, item->a, strlen(item->a), item->b, strlen(item->b));
}

static void mark(struct ls_cmp_file *f, struct ls_cmp_item *item)
{
	if (item->own)
		return;
	item->own = true;
	f->own++;
	f->tensors_differ -= item->kind == LS_CMP_TENSOR;
	f->values_differ -= item->kind == LS_CMP_VALUE;
	f->columns_differ -= item->kind == LS_CMP_COLUMN;
}

void ls_cmp_own(const struct ls_own *own, const struct ls_map *a, const struct ls_map *b,
		struct ls_cmp_file *f)
{
	size_t real = 0;
	for (size_t i = 0; i < f->n_items; i++)
		if (f->items[i].own || is_own_value(own, &f->items[i]))
			mark(f, &f->items[i]);
		else
			real++;
	if (real && ls_own_same_file(own, a, b)) {
		for (size_t i = 0; i < f->n_items; i++)
			mark(f, &f->items[i]);
		real = 0;
	}
	f->differs = real > 0;
}

void ls_cmp_mark_own(struct ls_cmp_file *f, bool (*is_own)(const char *name))
{
	size_t real = 0;
	for (size_t i = 0; i < f->n_items; i++)
		if (is_own(f->items[i].name))
			mark(f, &f->items[i]);
		else
			real++;
	f->differs = real > 0;
}
