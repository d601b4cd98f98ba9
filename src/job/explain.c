#include "job/explain.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "job/queue.h"
#include "job/slurm_explain.h"
#include "job/sql.h"

static void add(json_t *reasons, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(json_t *reasons, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	json_array_append_new(reasons, ls_json_lossy(text));
}

static int explain_after(struct ls_store *s, const json_t *row, json_t *reasons, struct ls_err *err)
{
	json_t *rows = NULL, *a;
	size_t i;
	int rc = ls_sql_all(s, &rows, err,
			    "SELECT name, state FROM dependency JOIN experiment e ON e.id = after "
			    "WHERE experiment = ? AND state <> 'done' ORDER BY e.id",
			    "i", ls_col_int(row, "id", 0));
	json_array_foreach(rows, i, a)
	{
		const char *name = ls_col_text(a, "name"), *state = ls_col_text(a, "state");
		bool over = strcmp(state, "failed") == 0 || strcmp(state, "dead") == 0 ||
			    strcmp(state, "cancelled") == 0;
		if (over)
			add(reasons, "it comes after %s, which is %s: `lockstep exp retry %s`",
			    name, state, name);
		else if (strcmp(state, "new") == 0)
			add(reasons,
			    "it comes after %s, which was not submitted: `lockstep exp submit %s`",
			    name, name);
		else
			add(reasons, "it comes after %s, which is %s", name, state);
	}
	json_decref(rows);
	return rc;
}

/* What the workers have, and who is before it. */
static int explain_place(struct ls_store *s, const json_t *row, const json_t *workers,
			 json_t *reasons, struct ls_err *err)
{
	int64_t gpus = ls_col_int(row, "num_gpus", 0), slots = ls_col_int(row, "slots", 1);
	int64_t most = 0, before = 0;
	const json_t *w;
	size_t i;
	json_array_foreach(workers, i, w)
	{
		int64_t has = gpus ? (int64_t)json_array_size(json_object_get(w, "gpus"))
				   : ls_col_int(w, "slots", 0);
		most = has > most ? has : most;
	}
	int64_t needs = gpus ? gpus : slots;
	const char *what = gpus ? "GPUs" : "processors";
	if (needs > most) {
		add(reasons,
		    "it needs %lld %s, and the worker with the most has %lld; `lockstep worker "
		    "--%s …` says what it may use",
		    (long long)needs, what, (long long)most, gpus ? "gpus" : "cpus");
		return 0;
	}
	int rc = ls_sql_number(s, 0, &before, err,
			       "SELECT count(*) FROM experiment WHERE state = 'queued' AND engine "
			       "= 'local' AND (num_gpus > 0) = (?1 > 0) AND (priority > ?2 OR "
			       "(priority = ?2 AND queued < ?3))",
			       "iii", gpus, ls_col_int(row, "priority", 0),
			       ls_col_int(row, "queued", 0));
	if (!rc && before > 0)
		add(reasons, "%lld experiment%s before it in the queue", (long long)before,
		    before == 1 ? " is" : "s are");
	if (!rc)
		add(reasons, "it waits for %lld of %lld %s that others use", (long long)needs,
		    (long long)most, what);
	return rc;
}

static int explain_queued(struct ls_store *s, const json_t *row, json_t *reasons,
			  struct ls_err *err)
{
	json_t *workers = NULL;
	size_t had = json_array_size(reasons);
	const char *reason = ls_col_text(row, "reason");
	if (strcmp(ls_col_text(row, "engine"), "slurm") == 0)
		return ls_slurm_explain(s, row, reasons, err);
	if (reason)
		add(reasons, "its last attempt was %s", reason);
	int rc = explain_after(s, row, reasons, err);
	if (rc || json_array_size(reasons) > had + (reason ? 1 : 0))
		return rc;
	rc = ls_queue_workers(s, &workers, err);
	if (!rc && json_array_size(workers) == 0)
		add(reasons, "no worker is running here: `lockstep worker` starts one");
	else if (!rc)
		rc = explain_place(s, row, workers, reasons, err);
	json_decref(workers);
	return rc;
}

int ls_explain(struct ls_store *s, const json_t *row, json_t *reasons, struct ls_err *err)
{
	const char *state = ls_col_text(row, "state"), *name = ls_col_text(row, "name");
	const char *reason = ls_col_text(row, "reason");
	if (strcmp(state, "queued") == 0)
		return explain_queued(s, row, reasons, err);
	if (strcmp(state, "new") == 0)
		add(reasons, "it was not submitted: `lockstep exp submit %s`", name);
	else if (strcmp(state, "running") != 0 && strcmp(state, "done") != 0)
		add(reasons,
		    "%s; `lockstep exp logs %s` has its output, `lockstep exp retry %s` "
		    "tries again",
		    reason ? reason : state, name, name);
	return 0;
}
