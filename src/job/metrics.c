#include "job/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "job/sql.h"

json_t *ls_metric_to_json(double value)
{
	if (isnan(value))
		return json_string("nan");
	if (isinf(value))
		return json_string(value > 0 ? "inf" : "-inf");
	return json_real(value);
}

double ls_metric_of_json(const json_t *v, bool *ret_is)
{
	const char *text = json_string_value(v);
	*ret_is = true;
	if (json_is_number(v))
		return json_number_value(v);
	if (text && strcmp(text, "inf") == 0)
		return INFINITY;
	if (text && strcmp(text, "-inf") == 0)
		return -INFINITY;
	*ret_is = text && strcmp(text, "nan") == 0;
	return NAN;
}

static json_t *real_of(sqlite3_stmt *st, int column)
{
	bool is_null = sqlite3_column_type(st, column) == SQLITE_NULL;
	return ls_metric_to_json(is_null ? NAN : sqlite3_column_double(st, column));
}

static void attach_one(sqlite3_stmt *st, json_t *by_id)
{
	char id[32];
	snprintf(id, sizeof id, "%lld", (long long)sqlite3_column_int64(st, 0));
	json_t *row = json_object_get(by_id, id);
	const char *name = (const char *)sqlite3_column_text(st, 1);
	if (!row || !name)
		return;
	json_object_set_new(json_object_get(row, "metrics"), name,
			    json_pack("{s:I,s:I,s:o,s:o,s:o}", "points",
				      sqlite3_column_int64(st, 2), "step",
				      sqlite3_column_int64(st, 3), "last", real_of(st, 4), "least",
				      real_of(st, 5), "most", real_of(st, 6)));
}

int ls_metrics_attach(struct ls_store *s, json_t *rows, struct ls_err *err)
{
	json_t *by_id = json_object(), *row;
	size_t i;
	json_array_foreach(rows, i, row)
	{
		char id[32];
		snprintf(id, sizeof id, "%lld", (long long)ls_col_int(row, "id", 0));
		json_object_set_new(row, "metrics", json_object());
		json_object_set(by_id, id, row);
	}
	sqlite3_stmt *st = NULL;
	int64_t only =
		json_array_size(rows) == 1 ? ls_col_int(json_array_get(rows, 0), "id", 0) : 0;
	int rc = ls_sql_open(
		s, &st, err,
		"SELECT g.experiment, g.name, g.n, g.step, m.value, g.least, g.most FROM ("
		" SELECT experiment, attempt, name, count(*) AS n, max(step) AS step,"
		" min(value) FILTER (WHERE abs(value) < 9e999) AS least,"
		" max(value) FILTER (WHERE abs(value) < 9e999) AS most"
		" FROM metric WHERE ?1 = 0 OR experiment = ?1 GROUP BY experiment, attempt, name) g"
		" JOIN experiment e ON e.id = g.experiment AND e.attempt = g.attempt"
		" JOIN metric m USING(experiment, attempt, name, step)"
		" ORDER BY g.experiment, g.name",
		"i", only);
	while (!rc && (rc = ls_sql_next(s, st, err)) > 0) {
		attach_one(st, by_id);
		rc = 0;
	}
	ls_sql_done(st);
	json_decref(by_id);
	return rc < 0 ? rc : 0;
}

const json_t *ls_metric_value(const json_t *row, const char *name)
{
	static const char *const ends[][2] = {{":min", "least"}, {":max", "most"}};
	const json_t *metrics = json_object_get(row, "metrics"),
		     *m = json_object_get(metrics, name);
	if (m)
		return json_object_get(m, "last");
	for (size_t i = 0; i < 2; i++) {
		if (!ls_str_ends(name, ends[i][0]))
			continue;
		char *base = ls_xstrndup(name, strlen(name) - strlen(ends[i][0]));
		m = json_object_get(metrics, base);
		free(base);
		if (m)
			return json_object_get(m, ends[i][1]);
	}
	return NULL;
}

int ls_metric_curve(struct ls_store *s, const json_t *row, const char *name, double **ret_steps,
		    double **ret_values, size_t *ret_n, struct ls_err *err)
{
	sqlite3_stmt *st = NULL;
	double *x = NULL, *y = NULL;
	size_t n = 0, cap_x = 0, cap_y = 0;
	int rc = ls_sql_open(s, &st, err,
			     "SELECT step, value FROM metric WHERE experiment = ? AND attempt = ?"
			     " AND name = ? ORDER BY step",
			     "iis", ls_col_int(row, "id", 0), ls_col_int(row, "attempt", 0), name);
	while (!rc && (rc = ls_sql_next(s, st, err)) > 0) {
		bool is_null = sqlite3_column_type(st, 1) == SQLITE_NULL;
		x = ls_grow(x, n, &cap_x, sizeof *x);
		y = ls_grow(y, n, &cap_y, sizeof *y);
		x[n] = (double)sqlite3_column_int64(st, 0);
		y[n++] = is_null ? NAN : sqlite3_column_double(st, 1);
		rc = 0;
	}
	ls_sql_done(st);
	if (rc) {
		free(x);
		free(y);
		return rc;
	}
	*ret_steps = x;
	*ret_values = y;
	*ret_n = n;
	return 0;
}
