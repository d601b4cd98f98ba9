#include "compare/columns.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"

struct ls_column *ls_column_of(struct ls_columns *c, const char *name)
{
	json_t *known = json_object_get(c->by_name, name);
	if (known)
		return &c->items[json_integer_value(known)];
	json_object_set_new_nocheck(c->by_name, name, json_integer((json_int_t)c->n));
	c->items = ls_grow(c->items, c->n, &c->cap, sizeof *c->items);
	struct ls_column *made = &c->items[c->n++];
	*made = (struct ls_column){.name = ls_xstrdup(name), .limits = ls_cmp_limits(c->opt, name)};
	return made;
}

void ls_columns_init(struct ls_columns *c, const struct ls_cmp_options *opt)
{
	*c = (struct ls_columns){.by_name = json_object(), .opt = opt};
}

void ls_columns_done(struct ls_columns *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->items[i].name);
	free(c->items);
	json_decref(c->by_name);
}

void ls_column_count(struct ls_column *c, bool differs, uint64_t row)
{
	uint8_t a = 0, b = differs;
	ls_stats_add(&c->stats, LS_DT_OPAQUE, 1, &a, &b, 1, row);
	c->stats.beyond += differs;
}

void ls_column_count_numbers(struct ls_column *c, double a, double b, uint64_t row)
{
	uint64_t before = c->stats.differing;
	ls_stats_add(&c->stats, LS_DT_F64, 8, (const uint8_t *)&a, (const uint8_t *)&b, 8, row);
	if (c->stats.differing == before) { /* other numbers with one nearest double */
		c->stats.elements--;
		ls_column_count(c, true, row);
		c->stats.beyond--;
	}
	c->stats.beyond += !ls_within_reals(c->limits, a, b);
}

void ls_columns_report(const struct ls_columns *c, const char *unit, struct ls_cmp_file *f)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct ls_column *col = &c->items[i];
		if (ls_cmp_ignored(c->opt, col->name)) {
			f->ignored++;
			continue;
		}
		f->columns++;
		if (col->stats.differing == 0)
			continue;
		enum ls_cmp_status status = col->one_sided[0] && !col->one_sided[1] ? LS_CMP_ONLY_A
					    : col->one_sided[1] && !col->one_sided[0]
						    ? LS_CMP_ONLY_B
						    : LS_CMP_DIFFERS;
		struct ls_cmp_item *item = ls_cmp_add(f, LS_CMP_COLUMN, status, col->name);
		item->dtype = LS_DT_F64;
		ls_cmp_set_stats(item, &col->stats);
		item->within = col->limits && col->stats.beyond == 0;
		item->first = ls_xasprintf("%s %" PRIu64, unit, col->stats.first);
		f->columns_differ++;
	}
}

void ls_rows_report(struct ls_cmp_file *f, uint64_t a, uint64_t b, const char *unit)
{
	if (a == b)
		return;
	struct ls_cmp_item *item = ls_cmp_add(f, LS_CMP_BYTES, LS_CMP_SIZE, unit);
	item->a = ls_xasprintf("%" PRIu64, a);
	item->b = ls_xasprintf("%" PRIu64, b);
}
