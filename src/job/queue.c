/* What people ask for: submit, retry, cancel, counts. claim.c has what workers do. */
#include "job/queue.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "job/event.h"
#include "job/experiment.h"
#include "job/sql.h"

char *ls_queue_lock(struct ls_store *s, const char *name)
{
	char *below = ls_xasprintf("locks/%s", name), *path = ls_store_file(s, below);
	free(below);
	return path;
}

typedef int change(struct ls_store *s, const json_t *row, const void *how, struct ls_err *err);

/* One change of each in one transaction. */
static int for_each(struct ls_store *s, const json_t *names, change *do_it, const void *how,
		    struct ls_err *err)
{
	const json_t *name;
	size_t i;
	int rc = 0;
	json_array_foreach(names, i, name)
	{
		json_t *row = NULL;
		rc = rc ? rc : ls_experiment_get(s, json_string_value(name), &row, err);
		rc = rc ? rc : do_it(s, row, how, err);
		json_decref(row);
	}
	return rc;
}

static int for_names(struct ls_store *s, const char *const *names, size_t n, change *do_it,
		     const void *how, struct ls_err *err)
{
	json_t *list = json_array();
	int rc = ls_tx_begin(s, err);
	if (!rc) {
		for (size_t i = 0; !rc && i < n; i++)
			rc = ls_experiment_resolve(s, names[i], list, err);
		rc = rc ? rc : for_each(s, list, do_it, how, err);
		rc = ls_tx_end(s, rc, err);
	}
	json_decref(list);
	if (!rc)
		ls_store_wake(s);
	return rc;
}

/* --- submit --- */

static bool is(const json_t *row, const char *state)
{
	return strcmp(ls_col_text(row, "state"), state) == 0;
}

/* Into the queue, at its end: the number of the event is the place. */
static int enqueue(struct ls_store *s, const json_t *row, const char *detail, struct ls_err *err)
{
	int rc = ls_event(s, ls_col_text(row, "uuid"), "submitted", 0, NULL, detail, err);
	if (rc)
		return rc;
	rc = ls_sql_run(s, err,
			"UPDATE experiment SET state = 'queued', reason = NULL, cancel = 0, tries "
			"= 0, queued = last_insert_rowid() WHERE id = ?",
			"i", ls_col_int(row, "id", 0));
	return rc < 0 ? rc : 0;
}

/* batch: experiments of one command are given to Slurm all or none. */
static int want_slurm(struct ls_store *s, const json_t *row, const struct ls_submit *how,
		      struct ls_err *err)
{
	char *options = json_dumps(how->slurm, JSON_COMPACT | JSON_SORT_KEYS);
	int rc = ls_sql_run(s, err,
			    "INSERT OR REPLACE INTO slurm(experiment, options, batch) VALUES(?, ?, "
			    "?)",
			    "iss", ls_col_int(row, "id", 0), options, how->batch);
	free(options);
	return rc;
}

static int submit_one(struct ls_store *s, const json_t *row, const void *ctx, struct ls_err *err)
{
	const struct ls_submit *how = ctx;
	const char *name = ls_col_text(row, "name");
	if (!is(row, "new") && !is(row, "cancelled"))
		return is(row, "queued") || is(row, "running")
			       ? ls_err_set(err, LS_EINPUT, "%s is %s already", name,
					    ls_col_text(row, "state"))
			       : ls_err_set(
					 err, LS_EINPUT,
					 "%s is %s already; `lockstep exp retry %s` runs it again",
					 name, ls_col_text(row, "state"), name);
	int rc = ls_sql_run(s, err,
			    "UPDATE experiment SET engine = ?, priority = ?, retries = ?, slots = "
			    "?, soft_limit = nullif(?, -1), hard_limit = nullif(?, -1), grace = "
			    "nullif(?, -1), requeue = ? WHERE id = ?",
			    "siiidddii", how->engine, how->priority, how->retries, how->slots,
			    how->soft, how->hard, how->grace, (int64_t)how->requeue,
			    ls_col_int(row, "id", 0));
	if (rc >= 0 && how->slurm)
		rc = want_slurm(s, row, how, err);
	return rc < 0 ? rc : enqueue(s, row, how->engine, err);
}

int ls_queue_submit(struct ls_store *s, const char *const *names, size_t n,
		    const struct ls_submit *how, struct ls_err *err)
{
	return for_names(s, names, n, submit_one, how, err);
}

/* --- retry --- */

struct retry {
	char batch[LS_UUID_TEXT];
	bool failed;
	const int64_t *seed;
};

static bool has_failed(const json_t *row)
{
	return is(row, "failed") || is(row, "dead") || is(row, "cancelled");
}

static int reseed(struct ls_store *s, const json_t *row, int64_t seed, struct ls_err *err)
{
	char detail[64];
	snprintf(detail, sizeof detail, "seed %lld", (long long)seed);
	int rc = ls_sql_run(s, err, "UPDATE experiment SET seed = ? WHERE id = ?", "ii", seed,
			    ls_col_int(row, "id", 0));
	return rc < 0 ? rc : ls_event(s, ls_col_text(row, "uuid"), "changed", 0, NULL, detail, err);
}

static int retry_one(struct ls_store *s, const json_t *row, const void *ctx, struct ls_err *err)
{
	const struct retry *r = ctx;
	if (!has_failed(row) && (r->failed || !is(row, "done")))
		return r->failed && is(row, "done")
			       ? 0
			       : ls_err_set(err, LS_EINPUT,
					    "%s is %s; only what has ended can be "
					    "tried again",
					    ls_col_text(row, "name"), ls_col_text(row, "state"));
	int rc = r->seed ? reseed(s, row, *r->seed, err) : 0;
	if (!rc)
		rc = ls_sql_run(s, err,
				"UPDATE slurm SET batch = ?, uuid = NULL, job = NULL, missing = "
				"NULL WHERE experiment = ?",
				"si", r->batch, ls_col_int(row, "id", 0));
	return rc < 0 ? rc : enqueue(s, row, "retry", err);
}

/* What a retry is about, as names. */
static int retry_names(struct ls_store *s, const char *const *names, size_t n, bool failed,
		       json_t *to, struct ls_err *err)
{
	json_t *all = json_array(), *name, *row = NULL;
	size_t i;
	int rc = 0;
	for (i = 0; !rc && i < n; i++)
		rc = ls_experiment_resolve(s, names[i], all, err);
	json_t *rows = NULL;
	if (!rc && n == 0)
		rc = ls_sql_all(s, &rows, err,
				"SELECT name FROM experiment WHERE state IN ('failed', 'dead', "
				"'cancelled') ORDER BY id",
				"");
	json_array_foreach(rows, i, row) json_array_append(all, json_object_get(row, "name"));
	json_decref(rows);
	json_array_foreach(all, i, name)
	{
		row = NULL;
		rc = rc ? rc : ls_experiment_get(s, json_string_value(name), &row, err);
		if (!rc && (!failed || has_failed(row)))
			json_array_append(to, name);
		json_decref(row);
	}
	json_decref(all);
	return rc;
}

int ls_queue_retry(struct ls_store *s, const char *const *names, size_t n, bool failed,
		   const int64_t *seed, json_t **ret, struct ls_err *err)
{
	struct retry how = {.failed = failed, .seed = seed};
	json_t *list = json_array();
	ls_uuid(how.batch);
	int rc = ls_tx_begin(s, err);
	if (!rc) {
		rc = retry_names(s, names, n, failed, list, err);
		rc = rc ? rc : for_each(s, list, retry_one, &how, err);
		rc = ls_tx_end(s, rc, err);
	}
	if (rc) {
		json_decref(list);
	} else {
		*ret = list;
		ls_store_wake(s);
	}
	return rc;
}

/* --- cancel --- */

struct named {
	const char *const *names;
	size_t n;
};

static bool is_among(const struct named *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->names[i], name) == 0)
			return true;
	return false;
}

static int cancel_one(struct ls_store *s, const json_t *row, const void *how, struct ls_err *err)
{
	const char *uuid = ls_col_text(row, "uuid"), *name = ls_col_text(row, "name");
	int64_t id = ls_col_int(row, "id", 0);
	const char *engine = ls_col_text(row, "engine");
	bool slurm = engine && strcmp(engine, "slurm") == 0;
	int rc;
	if (is(row, "queued") && !slurm) {
		rc = ls_sql_run(s, err,
				"UPDATE experiment SET state = 'cancelled', reason = 'cancelled "
				"before it ran' WHERE id = ?",
				"i", id);
		return rc < 0 ? rc : ls_event(s, uuid, "cancelled", 0, NULL, NULL, err);
	}
	if (!is(row, "running") && !is(row, "queued") && !is_among(how, name))
		return 0; /* of a group, those that have ended are left out */
	if (!is(row, "running") && !is(row, "queued"))
		return ls_err_set(err, LS_EINPUT, "%s is %s: there is nothing to cancel", name,
				  ls_col_text(row, "state"));
	rc = ls_sql_run(s, err, "UPDATE experiment SET cancel = 1 WHERE id = ? AND cancel = 0", "i",
			id);
	if (rc <= 0)
		return rc;
	return ls_event(s, uuid, "cancelling", ls_col_int(row, "attempt", 0), NULL, NULL, err);
}

/* The supervisor is told at once, so that it works without a worker, too. */
static int stop_running(struct ls_store *s, struct ls_err *err)
{
	json_t *rows = NULL, *row;
	size_t i;
	int rc = ls_sql_all(s, &rows, err,
			    "SELECT token FROM experiment e JOIN attempt a ON a.experiment = e.id "
			    "AND a.number = e.attempt WHERE state = 'running' AND cancel = 1 AND "
			    "engine = 'local'",
			    "");
	if (rc)
		return rc;
	json_array_foreach(rows, i, row)
	{
		char *lock = ls_queue_lock(s, ls_col_text(row, "token"));
		ls_attempt_stop(lock);
		free(lock);
	}
	json_decref(rows);
	return 0;
}

int ls_queue_cancel(struct ls_store *s, const char *const *names, size_t n, struct ls_err *err)
{
	const struct named list = {names, n};
	int rc = for_names(s, names, n, cancel_one, &list, err);
	return rc ? rc : stop_running(s, err);
}

/* --- counts --- */

static int add_window(struct ls_store *s, double seconds, json_t *to, struct ls_err *err)
{
	json_t *row = NULL;
	int rc = ls_sql_one(s, &row, err,
			    "SELECT count(*) AS ended, ifnull(sum(outcome = 'done'), 0) AS done, "
			    "ifnull(sum(outcome = 'cancelled'), 0) AS cancelled FROM attempt WHERE "
			    "ended >= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' "
			    "|| ? || ' seconds')",
			    "d", seconds);
	if (!rc) {
		json_object_set_new(row, "seconds", json_real(seconds));
		json_object_set_new(to, "window", row);
	}
	return rc;
}

int ls_queue_counts(struct ls_store *s, double seconds, json_t **ret, struct ls_err *err)
{
	static const char *const states[] = {"new",    "queued",    "running", "done",
					     "failed", "cancelled", "dead"};
	json_t *rows = NULL, *row, *counts = json_object();
	size_t i;
	int rc = ls_sql_all(s, &rows, err,
			    "SELECT state, count(*) AS n FROM experiment GROUP BY state", "");
	for (i = 0; i < sizeof states / sizeof *states; i++)
		json_object_set_new(counts, states[i], json_integer(0));
	json_array_foreach(rows, i, row)
		json_object_set(counts, ls_col_text(row, "state"), json_object_get(row, "n"));
	json_decref(rows);
	if (!rc)
		rc = add_window(s, seconds, counts, err);
	if (rc)
		json_decref(counts);
	else
		*ret = counts;
	return rc;
}

int ls_queue_workers(struct ls_store *s, json_t **ret, struct ls_err *err)
{
	json_t *rows = NULL, *row, *alive = json_array();
	size_t i;
	int rc = ls_sql_all(s, &rows, err,
			    "SELECT uuid, pid, started, gpus AS json_gpus, slots FROM worker WHERE "
			    "ended IS NULL ORDER BY started",
			    "");
	json_array_foreach(rows, i, row)
	{
		char *lock = ls_queue_lock(s, ls_col_text(row, "uuid"));
		if (ls_attempt_alive(lock))
			json_array_append(alive, row);
		free(lock);
	}
	json_decref(rows);
	if (rc)
		json_decref(alive);
	else
		*ret = alive;
	return rc;
}
