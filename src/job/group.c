#include "job/group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "job/cells.h"
#include "job/experiment.h"
#include "job/metrics.h"
#include "job/row.h"
#include "job/sql.h"

static bool is_done(const json_t *row)
{
	return strcmp(ls_col_text(row, "state"), "done") == 0;
}

/* --- members --- */

static void keep_prefixed(json_t *rows, const char *name)
{
	for (size_t i = json_array_size(rows); i-- > 0;)
		if (!ls_str_starts(ls_col_text(json_array_get(rows, i), "name"), name))
			json_array_remove(rows, i);
}

static int members(struct ls_store *s, const char *name, json_t **ret, struct ls_err *err)
{
	json_t *rows = NULL;
	int rc = ls_experiment_list(s, NULL, NULL, name, &rows, err);
	if (!rc && json_array_size(rows) == 0) {
		json_decref(rows);
		rc = ls_experiment_list(s, NULL, NULL, NULL, &rows, err);
		if (!rc)
			keep_prefixed(rows, name);
	}
	if (!rc && json_array_size(rows) == 0)
		rc = ls_err_set(err, LS_EINPUT,
				"there is no group %s, and no experiment's name begins with it; "
				"`lockstep exp list` has all",
				name);
	if (!rc)
		rc = ls_metrics_attach(s, rows, err);
	if (rc)
		json_decref(rows);
	else
		*ret = rows;
	return rc;
}

static int attach_artifacts(struct ls_store *s, json_t *rows, struct ls_err *err)
{
	json_t *row, *list;
	size_t i;
	int rc = 0;
	json_array_foreach(rows, i, row)
	{
		rc = rc ? rc
			: ls_sql_all(s, &list, err,
				     "SELECT path, sha256 FROM artifact WHERE experiment = ? AND"
				     " attempt = ? ORDER BY path",
				     "ii", ls_col_int(row, "id", 0), ls_col_int(row, "attempt", 0));
		if (!rc)
			json_object_set_new(row, "artifacts", list);
	}
	return rc;
}

/* --- values --- */

/* Whether a run that was taken has the same seed and the same value. */
static bool repeats(const struct ls_group *g, const json_t *row, double value)
{
	const json_t *seed = json_object_get(row, "seed");
	for (size_t i = 0; i < g->n && json_is_integer(seed); i++)
		if (g->values[i] == value &&
		    json_equal(json_object_get(json_array_get(g->rows, i), "seed"), seed))
			return true;
	return false;
}

static void take_value(struct ls_group *g, json_t *row, const char *metric)
{
	bool is;
	const json_t *v = ls_metric_value(row, metric);
	double value = ls_metric_of_json(v, &is);
	if (!is_done(row)) {
		g->unfinished++;
	} else if (!v || !is) {
		g->without++;
	} else if (repeats(g, row, value)) {
		g->repeats++;
	} else {
		g->values[g->n++] = value;
		json_array_append(g->rows, row);
	}
}

int ls_group_read(struct ls_store *s, const char *name, const char *metric, struct ls_group *ret,
		  struct ls_err *err)
{
	struct ls_group g = {.rows = json_array()};
	json_t *rows = NULL, *row;
	size_t i;
	int rc = members(s, name, &rows, err);
	if (!rc) {
		g.name = ls_xstrdup(name);
		g.values = ls_xalloc((json_array_size(rows) + 1) * sizeof *g.values);
		json_array_foreach(rows, i, row) take_value(&g, row, metric);
		rc = attach_artifacts(s, g.rows, err);
	}
	if (!rc)
		rc = ls_stats_describe(g.values, g.n, &g.stats, err);
	json_decref(rows);
	if (rc)
		ls_group_done(&g);
	else
		*ret = g;
	return rc;
}

void ls_group_done(struct ls_group *g)
{
	free(g->name);
	free(g->values);
	json_decref(g->rows);
	*g = (struct ls_group){0};
}

int ls_group_metrics(struct ls_store *s, const char *name, json_t **ret, struct ls_err *err)
{
	json_t *rows = NULL, *names = NULL, *row, *list = json_array(), *v;
	const char *key;
	void *next;
	size_t i;
	int rc = members(s, name, &rows, err);
	json_array_foreach(rows, i, row)
	{
		const json_t *metrics = json_object_get(row, "metrics");
		if (!is_done(row))
			continue;
		if (!names)
			names = json_copy((json_t *)(uintptr_t)metrics);
		json_object_foreach_safe(names, next, key, v) if (!json_object_get(metrics, key))
			json_object_del(names, key);
	}
	json_object_foreach(names, key, v) json_array_append_new(list, json_string(key));
	json_decref(rows);
	json_decref(names);
	if (rc)
		json_decref(list);
	else
		*ret = list;
	return rc;
}

/* --- digests --- */

static bool same_files(const json_t *a, const json_t *b)
{
	const json_t *x = json_object_get(a, "artifacts"), *y = json_object_get(b, "artifacts");
	return json_array_size(x) > 0 && json_equal(x, y);
}

static const json_t *of_seed(const struct ls_group *g, const json_t *seed)
{
	const json_t *row;
	size_t i;
	json_array_foreach(g->rows, i, row)
	{
		if (json_equal(json_object_get(row, "seed"), seed))
			return row;
	}
	return NULL;
}

bool ls_group_same(const struct ls_group *a, const struct ls_group *b)
{
	const json_t *row;
	size_t i;
	json_array_foreach(a->rows, i, row)
	{
		const json_t *seed = json_object_get(row, "seed");
		const json_t *other = json_is_integer(seed) ? of_seed(b, seed) : NULL;
		if (!other || !same_files(row, other))
			return false;
	}
	return a->n > 0 && a->n == b->n;
}

/* --- tables --- */

static char *mean_text(const json_t *rows, const char *column)
{
	struct ls_stats_group g;
	size_t n = 0, i;
	const json_t *row;
	bool is;
	double *values = ls_xalloc((json_array_size(rows) + 1) * sizeof *values);
	json_array_foreach(rows, i, row)
	{
		const json_t *v = is_done(row) ? ls_cell(row, column) : NULL;
		values[n] = ls_metric_of_json(v, &is);
		n += is && v;
	}
	int rc = ls_stats_describe(values, n, &g, NULL);
	free(values);
	if (rc || n == 0)
		return ls_xstrdup("");
	if (g.kind == LS_STATS_SPREAD)
		return ls_xasprintf("%.6g ± %.2g (%zu)", g.mean, g.sd, n);
	if (g.kind == LS_STATS_NOT_FINITE)
		return ls_xasprintf("%zu of %zu not finite", n - g.n_finite, n);
	return ls_xasprintf("%.6g (%zu)", g.mean, n);
}

/* The value that all rows share, or "*". */
static char *shared_text(const json_t *rows, const char *column)
{
	const json_t *row;
	size_t i;
	char *first = ls_cell_text(ls_cell(json_array_get(rows, 0), column), false);
	json_array_foreach(rows, i, row)
	{
		char *text = ls_cell_text(ls_cell(row, column), false);
		bool other = strcmp(text, first) != 0;
		free(text);
		if (other) {
			free(first);
			return ls_xstrdup("*");
		}
	}
	return first;
}

/* A metric, if it is one in any row: not a member and not a setting. */
static bool is_metric(const json_t *rows, const char *column)
{
	const json_t *row;
	size_t i;
	json_array_foreach(rows, i, row)
	{
		if (json_object_get(row, column))
			return false;
		if (ls_metric_value(row, ls_str_starts(column, "metric.") ? column + 7 : column))
			return true;
	}
	return false;
}

static json_t *table_row(const char *value, json_t *rows, const char *by,
			 const char *const *columns, size_t n)
{
	json_t *out = json_object(), *row;
	size_t i, done = 0;
	json_array_foreach(rows, i, row) done += is_done(row);
	json_object_set_new(out, by, ls_json_lossy(value));
	json_object_set_new(out, "runs", json_integer((json_int_t)json_array_size(rows)));
	json_object_set_new(out, "done", json_integer((json_int_t)done));
	for (i = 0; i < n; i++) {
		char *text = is_metric(rows, columns[i]) ? mean_text(rows, columns[i])
							 : shared_text(rows, columns[i]);
		if (!json_object_get(out, columns[i]))
			json_object_set_new(out, columns[i], ls_json_lossy(text));
		free(text);
	}
	return out;
}

json_t *ls_group_table(const json_t *rows, const char *by, const char *const *columns, size_t n)
{
	json_t *parts = json_object(), *table = json_array(), *row, *part;
	const char *value;
	size_t i;
	json_array_foreach(rows, i, row)
	{
		char *text = ls_cell_text(ls_cell(row, by), false);
		part = json_object_get(parts, text);
		if (!part) {
			part = json_array();
			json_object_set_new(parts, text, part);
		}
		json_array_append(part, row);
		free(text);
	}
	json_object_foreach(parts, value, part)
		json_array_append_new(table, table_row(value, part, by, columns, n));
	json_decref(parts);
	return table;
}
