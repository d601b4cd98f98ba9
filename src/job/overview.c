#include "job/overview.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "job/gather_points.h"
#include "job/metrics.h"
#include "job/queue.h"
#include "job/rule.h"
#include "job/sql.h"

static const double window_s = 86400;
enum { LIVE = 16 }; /* running experiments whose files are read */

/* --- what a running attempt has written so far --- */

static bool runs(const json_t *row)
{
	const char *state = ls_col_text(row, "state");
	return state && strcmp(state, "running") == 0 && ls_col_text(row, "folder");
}

/* False where it cannot be read, or not yet. */
static bool gather(struct ls_store *s, const json_t *row, struct ls_points_files *ret)
{
	struct ls_err unused = {0};
	json_t *own = json_object_get(row, "harvest"), *notes = json_array();
	json_t *rules = json_array_size(own) ? json_incref(own) : ls_rules_usual();
	char *folder = ls_xasprintf("%s/%s", ls_store_root(s), ls_col_text(row, "folder"));
	int rc = ls_rules_check(rules, &unused);
	if (!rc)
		rc = ls_points_gather(folder, rules, false, ret, notes, &unused);
	free(folder);
	json_decref(rules);
	json_decref(notes);
	return rc == 0;
}

/* Values i to end have one name. */
static json_t *summary(const struct ls_value *v, size_t i, size_t end)
{
	double least = NAN, most = NAN;
	for (size_t k = i; k < end; k++)
		if (isfinite(v[k].value)) {
			least = fmin(least, v[k].value);
			most = fmax(most, v[k].value);
		}
	return json_pack("{s:I,s:I,s:o,s:o,s:o}", "points", (json_int_t)(end - i), "step",
			 (json_int_t)v[end - 1].step, "last", ls_metric_to_json(v[end - 1].value),
			 "least", ls_metric_to_json(least), "most", ls_metric_to_json(most));
}

static size_t end_of_name(const struct ls_points_files *f, size_t i)
{
	size_t end = i;
	while (end < f->n_values && strcmp(f->values[end].name, f->values[i].name) == 0)
		end++;
	return end;
}

static void attach_live(struct ls_store *s, json_t *row)
{
	struct ls_points_files f = {0};
	json_t *metrics = json_object_get(row, "metrics");
	if (gather(s, row, &f))
		for (size_t i = 0, end; i < f.n_values; i = end) {
			end = end_of_name(&f, i);
			json_object_set_new(metrics, f.values[i].name, summary(f.values, i, end));
		}
	ls_points_files_done(&f);
}

/* Of n points about `most`, evenly, and the last one. */
static bool is_shown(size_t k, size_t n, size_t most)
{
	return k % (1 + n / most) == 0 || k == n - 1;
}

static void add_point(json_t *points, double step, double value)
{
	json_array_append_new(points,
			      json_pack("[I,o]", (json_int_t)step, ls_metric_to_json(value)));
}

/* NULL: it has not written the metric. */
static json_t *live_curve(struct ls_store *s, const json_t *row, const char *metric, size_t most)
{
	struct ls_points_files f = {0};
	json_t *points = NULL;
	size_t i = 0, end = 0;
	if (gather(s, row, &f))
		while (i < f.n_values && strcmp(f.values[i].name, metric) != 0)
			i++;
	if (i < f.n_values) {
		points = json_array();
		end = end_of_name(&f, i);
	}
	for (size_t k = i; k < end; k++)
		if (is_shown(k - i, end - i, most))
			add_point(points, (double)f.values[k].step, f.values[k].value);
	ls_points_files_done(&f);
	return points;
}

/* --- the store --- */

/* One by one, because all of them at once reads the metrics of the whole store. */
static int attach(struct ls_store *s, const json_t *rows, struct ls_err *err)
{
	json_t *row;
	size_t i, live = 0;
	int rc = 0;
	json_array_foreach(rows, i, row)
	{
		json_t *one = rc ? NULL : json_pack("[O]", row);
		if (one)
			rc = ls_metrics_attach(s, one, err);
		json_decref(one);
		if (!rc && runs(row) && live++ < LIVE)
			attach_live(s, row);
		json_object_del(row, "id");
		json_object_del(row, "folder");
		json_object_del(row, "harvest");
	}
	return rc;
}

static int list(struct ls_store *s, size_t most, json_t **ret, struct ls_err *err)
{
	int rc = ls_sql_all(
		s, ret, err,
		"SELECT e.id, e.name, e.grp AS \"group\", e.state, e.reason, e.engine, e.partition,"
		" e.num_gpus, e.global_batch, e.seed, e.attempt, e.priority, e.gpus AS json_gpus,"
		" e.harvest AS json_harvest, e.created, a.folder, a.started, a.ended, a.wall"
		" FROM experiment e"
		" LEFT JOIN attempt a ON a.experiment = e.id AND a.number = e.attempt"
		" ORDER BY CASE e.state WHEN 'running' THEN 0 WHEN 'queued' THEN 1 ELSE 2 END,"
		" CASE e.state WHEN 'queued' THEN -e.priority ELSE 0 END,"
		" CASE e.state WHEN 'queued' THEN e.queued ELSE 0 END, e.id DESC LIMIT ?",
		"i", (int64_t)most);
	if (rc)
		return rc;
	rc = attach(s, *ret, err);
	if (rc)
		json_decref(*ret);
	return rc;
}

int ls_overview(struct ls_store *s, size_t most, json_t **ret, struct ls_err *err)
{
	json_t *counts = NULL, *workers = NULL, *rows = NULL;
	int rc = ls_queue_counts(s, window_s, &counts, err);
	if (!rc)
		rc = ls_queue_workers(s, &workers, err);
	if (!rc)
		rc = list(s, most, &rows, err);
	if (!rc)
		*ret = json_pack("{s:O,s:O,s:O}", "counts", counts, "workers", workers,
				 "experiments", rows);
	if (!rc)
		json_decref(rows);
	json_decref(workers);
	json_decref(counts);
	return rc;
}

static int stored_curve(struct ls_store *s, const json_t *row, const char *metric, size_t most,
			json_t **ret, struct ls_err *err)
{
	double *steps, *values;
	size_t n;
	int rc = ls_metric_curve(s, row, metric, &steps, &values, &n, err);
	if (rc)
		return rc;
	*ret = json_array();
	for (size_t k = 0; k < n; k++)
		if (is_shown(k, n, most))
			add_point(*ret, steps[k], values[k]);
	free(steps);
	free(values);
	return 0;
}

int ls_overview_curve(struct ls_store *s, const char *name, const char *metric, size_t most,
		      json_t **ret, struct ls_err *err)
{
	json_t *row = NULL, *points = NULL;
	int rc = ls_sql_one(s, &row, err,
			    "SELECT e.id, e.attempt, e.state, e.harvest AS json_harvest, a.folder"
			    " FROM experiment e LEFT JOIN attempt a"
			    " ON a.experiment = e.id AND a.number = e.attempt WHERE e.name = ?",
			    "s", name);
	if (!rc && !row)
		rc = ls_err_set(err, LS_EINPUT, "there is no such experiment");
	if (!rc && runs(row))
		points = live_curve(s, row, metric, most);
	if (!rc && !points)
		rc = stored_curve(s, row, metric, most, &points, err);
	json_decref(row);
	if (!rc)
		*ret = json_pack("{s:s,s:s,s:o}", "experiment", name, "metric", metric, "points",
				 points);
	return rc;
}
