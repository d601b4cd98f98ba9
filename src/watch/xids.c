#include "watch/xids.h"

#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/json.h"
#include "base/mem.h"

enum { XIDS = 512 };

struct ls_xid_table {
	json_t *root;
	size_t n;
	struct ls_xid_action *actions;
	const struct ls_xid_action *of[XIDS]; /* by number; NULL: not in the table */
	const char *about[XIDS];
};

static const struct ls_xid_action not_known = {
	.action = "not in the table",
	.advice = "Look the number up in NVIDIA's list of Xid errors.",
	.level = LS_HEALTH_WARN,
	.holds = 600,
};

static enum ls_health level_of(const char *name)
{
	for (int h = LS_HEALTH_OK; h <= LS_HEALTH_CRITICAL; h++)
		if (name && strcmp(name, ls_health_name((enum ls_health)h)) == 0)
			return (enum ls_health)h;
	return LS_HEALTH_WARN;
}

static void read_action(struct ls_xid_table *t, const json_t *row)
{
	struct ls_xid_action *a = &t->actions[t->n++];
	size_t i;
	json_t *xid;
	a->action = json_string_value(json_object_get(row, "action"));
	a->advice = json_string_value(json_object_get(row, "advice"));
	a->level = level_of(json_string_value(json_object_get(row, "level")));
	a->holds = json_number_value(json_object_get(row, "holds_s"));
	a->clears = json_is_true(json_object_get(row, "cured_by_reset"));
	json_array_foreach(json_object_get(row, "xids"), i, xid)
	{
		json_int_t v = json_integer_value(xid);
		if (v > 0 && v < XIDS)
			t->of[v] = a;
	}
}

int ls_xid_table_load(struct ls_xid_table **ret, struct ls_err *err)
{
	static const char name[] = "data/xid.json";
	const struct ls_blob *blob = ls_embed_find(name);
	size_t i;
	json_t *root, *row;
	if (!blob)
		return ls_err_set(err, LS_EINTERNAL, "%s is not in this program", name);
	int rc = ls_json_parse((const char *)blob->data, blob->len, name, &root, err);
	if (rc)
		return rc;
	struct ls_xid_table *t = ls_xalloc(sizeof *t);
	json_t *actions = json_object_get(root, "actions");
	t->root = root;
	t->actions = ls_xalloc((json_array_size(actions) + 1) * sizeof *t->actions);
	json_array_foreach(actions, i, row) read_action(t, row);
	json_array_foreach(json_object_get(root, "names"), i, row)
	{
		json_int_t v = json_integer_value(json_object_get(row, "xid"));
		if (v > 0 && v < XIDS)
			t->about[v] = json_string_value(json_object_get(row, "about"));
	}
	*ret = t;
	return 0;
}

void ls_xid_table_free(struct ls_xid_table *t)
{
	if (!t)
		return;
	json_decref(t->root);
	free(t->actions);
	free(t);
}

const struct ls_xid_action *ls_xid_action(const struct ls_xid_table *t, unsigned xid)
{
	return xid < XIDS && t->of[xid] ? t->of[xid] : &not_known;
}

const char *ls_xid_about(const struct ls_xid_table *t, unsigned xid)
{
	return xid < XIDS ? t->about[xid] : NULL;
}

void ls_xid_counts_add(struct ls_xid_counts *c, unsigned xid, double time)
{
	unsigned oldest = 0;
	for (unsigned i = 0; i < c->n; i++) {
		if (c->kinds[i].xid == xid) {
			c->kinds[i].count++;
			c->kinds[i].last = time > c->kinds[i].last ? time : c->kinds[i].last;
			return;
		}
		if (c->kinds[i].last < c->kinds[oldest].last)
			oldest = i;
	}
	if (c->n < LS_XID_KINDS)
		oldest = c->n++;
	c->kinds[oldest] = (struct ls_xid_count){xid, 1, time};
}
