#include "job/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "job/cells.h"
#include "job/metrics.h"
#include "job/sql.h"

/* --- one row an experiment --- */

static const char *const columns[] = {
	"exp_id",       "group",        "state",     "partition", "num_gpus", "batch_size",
	"accumulation", "global_batch", "precision", "seed",      "samples",  "warmup_steps",
	"total_steps",  "level",        "attempt",   "template",  "engine",   "description",
	"created",      "started",      "ended",     "wall",      "uuid",     NULL};

static void add_fixed(json_t *flat, const json_t *row)
{
	for (size_t i = 0; columns[i]; i++) {
		json_t *v = (json_t *)(uintptr_t)ls_cell(row, columns[i]);
		json_object_set_new(flat, columns[i], v ? json_incref(v) : json_null());
	}
	const json_t *git = json_object_get(row, "git"), *dirty = json_object_get(git, "dirty");
	const char *commit = ls_col_text(git, "commit");
	json_object_set_new(flat, "commit", commit ? json_string(commit) : json_null());
	json_object_set_new(flat, "dirty",
			    dirty ? json_incref((json_t *)(uintptr_t)dirty) : json_null());
}

/* All keys that any row's object `member` has, each with the name of its column. */
static json_t *keys_of(const json_t *rows, const char *member, const json_t *taken,
		       const char *prefix)
{
	json_t *keys = json_object(), *row, *v;
	const char *key;
	size_t i;
	json_array_foreach(rows, i, row) json_object_foreach(json_object_get(row, member), key, v)
	{
		bool clash = json_object_get(taken, key) != NULL;
		json_object_set_new(keys, key, json_sprintf("%s%s", clash ? prefix : "", key));
	}
	return keys;
}

static void add_keys(json_t *flat, const json_t *row, const json_t *keys, const char *prefix)
{
	const char *key;
	json_t *column;
	json_object_foreach((json_t *)(uintptr_t)keys, key, column)
	{
		char *path = ls_xasprintf("%s%s", prefix, key);
		json_t *v = (json_t *)(uintptr_t)ls_cell(row, path);
		json_object_set_new(flat, json_string_value(column),
				    v ? json_incref(v) : json_null());
		free(path);
	}
}

/* Names that are in use: the fixed columns and those of `more`. */
static json_t *taken_by(const json_t *more)
{
	json_t *taken = json_pack("{s:b,s:b}", "commit", 1, "dirty", 1), *v;
	const char *key;
	for (size_t i = 0; columns[i]; i++)
		json_object_set_new(taken, columns[i], json_true());
	json_object_foreach((json_t *)(uintptr_t)more, key, v)
		json_object_set_new(taken, json_string_value(v), json_true());
	return taken;
}

json_t *ls_export_rows(const json_t *rows)
{
	json_t *taken = taken_by(NULL), *list = json_array(), *row;
	json_t *metrics = keys_of(rows, "metrics", taken, "metric.");
	json_decref(taken);
	taken = taken_by(metrics);
	json_t *settings = keys_of(rows, "settings", taken, "set.");
	size_t i;
	json_array_foreach(rows, i, row)
	{
		json_t *flat = json_object();
		add_fixed(flat, row);
		add_keys(flat, row, metrics, "metric.");
		add_keys(flat, row, settings, "set.");
		json_array_append_new(list, flat);
	}
	json_decref(taken);
	json_decref(metrics);
	json_decref(settings);
	return list;
}

/* --- one row a point --- */

static int add_curves(struct ls_store *s, const json_t *row, json_t *list, struct ls_err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = ls_sql_open(s, &st, err,
			     "SELECT name, step, value, source FROM metric WHERE experiment = ?"
			     " AND attempt = ? ORDER BY name, step",
			     "ii", ls_col_int(row, "id", 0), ls_col_int(row, "attempt", 0));
	while (!rc && (rc = ls_sql_next(s, st, err)) > 0) {
		bool is_null = sqlite3_column_type(st, 2) == SQLITE_NULL;
		double value = is_null ? NAN : sqlite3_column_double(st, 2);
		json_array_append_new(
			list, json_pack("{s:O,s:O?,s:O?,s:O,s:s,s:I,s:o,s:o}", "exp_id",
					json_object_get(row, "name"), "group",
					json_object_get(row, "group"), "seed",
					json_object_get(row, "seed"), "attempt",
					json_object_get(row, "attempt"), "metric",
					(const char *)sqlite3_column_text(st, 0), "step",
					sqlite3_column_int64(st, 1), "value",
					ls_metric_to_json(value), "source",
					ls_json_lossy((const char *)sqlite3_column_text(st, 3))));
		rc = 0;
	}
	ls_sql_done(st);
	return rc;
}

int ls_export_curves(struct ls_store *s, const json_t *rows, json_t **ret, struct ls_err *err)
{
	json_t *list = json_array(), *row;
	size_t i;
	int rc = 0;
	json_array_foreach(rows, i, row) if (!rc) rc = add_curves(s, row, list, err);
	if (rc)
		json_decref(list);
	else
		*ret = list;
	return rc;
}

/* --- CSV --- */

static void add_csv(struct ls_str *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		ls_str_add(out, text);
		return;
	}
	ls_str_add(out, "\"");
	for (const char *p = text; *p; p++) {
		if (*p == '"')
			ls_str_add(out, "\"");
		ls_str_add_bytes(out, p, 1);
	}
	ls_str_add(out, "\"");
}

static void add_line(struct ls_str *out, const json_t *object, bool heading)
{
	const char *key, *between = "";
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)object, key, v)
	{
		char *text = heading ? ls_xstrdup(key) : ls_cell_text(v, true);
		ls_str_add(out, between);
		add_csv(out, text);
		free(text);
		between = ",";
	}
	ls_str_add(out, "\n");
}

void ls_export_csv(const json_t *flat, struct ls_str *out)
{
	const json_t *row;
	size_t i;
	json_array_foreach(flat, i, row)
	{
		if (i == 0)
			add_line(out, row, true);
		add_line(out, row, false);
	}
}
