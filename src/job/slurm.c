#include "job/slurm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "job/event.h"
#include "job/experiment.h"
#include "job/harvest.h"
#include "job/slurm_folder.h"
#include "job/slurm_judge.h"
#include "job/slurm_script.h"
#include "job/slurm_send.h"
#include "job/slurm_tool.h"
#include "job/sql.h"

/* --- submitting --- */

/* Of what a command submitted, *ret as in the header. The first that was refused is the
 * error. */
static int sent_of(struct ls_store *s, const json_t *names, json_t **ret, struct ls_err *err)
{
	json_t *list = json_array(), *row;
	const json_t *name;
	size_t i;
	int rc = 0;
	json_array_foreach(names, i, name)
	{
		row = NULL;
		rc = rc ? rc
			: ls_sql_one(s, &row, err,
				     "SELECT name, state, reason, script, job || CASE WHEN task < "
				     "0 THEN '' ELSE '_' || task END AS job FROM experiment e JOIN "
				     "slurm ON experiment = e.id WHERE name = ?",
				     "s", json_string_value(name));
		if (!rc && row && strcmp(ls_col_text(row, "state"), "cancelled") == 0)
			rc = ls_err_set(err, LS_EINPUT, "nothing was submitted: %s",
					ls_col_text(row, "reason"));
		if (row)
			json_array_append_new(list, row);
	}
	if (rc)
		json_decref(list);
	else
		*ret = list;
	return rc;
}

static int send_locked(struct ls_store *s, const char *self, struct ls_err *err)
{
	int lock = -1, rc = ls_slurm_lock(s, true, &lock, err);
	if (!rc)
		rc = ls_slurm_send(s, self, err);
	ls_slurm_unlock(lock);
	return rc;
}

int ls_slurm_submit(struct ls_store *s, const char *const *names, size_t n,
		    const struct ls_submit *how, const char *self, json_t **ret, struct ls_err *err)
{
	char batch[LS_UUID_TEXT];
	struct ls_submit slurm = *how;
	json_t *all = json_array();
	ls_uuid(batch);
	slurm.engine = "slurm";
	slurm.batch = batch;
	int rc = ls_slurm_options_check(how->slurm, err);
	if (!rc && !ls_slurm_installed())
		rc = ls_err_set(err, LS_EUNKNOWN,
				"sbatch is not on PATH: there is no Slurm on this machine");
	for (size_t i = 0; !rc && i < n; i++)
		rc = ls_experiment_resolve(s, names[i], all, err);
	if (!rc)
		rc = ls_queue_submit(s, names, n, &slurm, err);
	if (!rc)
		rc = send_locked(s, self, err);
	if (!rc)
		rc = sent_of(s, all, ret, err);
	json_decref(all);
	return rc;
}

int ls_slurm_resubmit(struct ls_store *s, const json_t *names, const char *self, struct ls_err *err)
{
	json_t *sent = NULL, *slurm = json_array(), *row;
	const json_t *name;
	size_t i;
	int rc = 0;
	json_array_foreach(names, i, name)
	{
		row = NULL;
		rc = rc ? rc : ls_experiment_get(s, json_string_value(name), &row, err);
		const char *engine = ls_col_text(row, "engine");
		if (engine && strcmp(engine, "slurm") == 0)
			json_array_append(slurm, (json_t *)(uintptr_t)name);
		json_decref(row);
	}
	if (!rc && json_array_size(slurm) > 0) {
		rc = send_locked(s, self, err);
		rc = rc ? rc : sent_of(s, slurm, &sent, err);
	}
	json_decref(sent);
	json_decref(slurm);
	return rc;
}

/* --- refreshing --- */

struct look {
	struct ls_store *s;
	struct ls_slurm_jobs jobs;
	bool answered;
	bool alone; /* the lock is held: nobody is submitting */
	double now; /* seconds since 1970 */
};

#define ACTIVE                                                                                     \
	"SELECT e.id, e.uuid, name, state, reason, attempt, cancel, owner, s.uuid AS submission, " \
	"task, job, missing, CASE WHEN task < 0 THEN name ELSE grp END AS job_name, "              \
	"CAST(strftime('%s', sent) AS INTEGER) AS sent_s FROM experiment e JOIN slurm s ON "       \
	"s.experiment = e.id WHERE engine = "                                                      \
	"'slurm' AND state IN ('queued', 'running')"

static char *folder_of(struct ls_store *s, const json_t *row, int64_t attempt)
{
	return ls_xasprintf("%s/runs/%s/attempt-%lld", ls_store_root(s), ls_col_text(row, "name"),
			    (long long)attempt);
}

/* Whether the folder of the attempt behind the current one is there. New reference or
 * NULL. */
static json_t *next_start(struct ls_store *s, const json_t *row)
{
	char *folder = folder_of(s, row, ls_col_int(row, "attempt", 0) + 1);
	json_t *start = ls_slurm_start(folder, ls_col_text(row, "submission"));
	free(folder);
	return start;
}

static bool is_running(const json_t *row)
{
	return strcmp(ls_col_text(row, "state"), "running") == 0;
}

/* "0,1" as Slurm numbers them on the node, into ["0", "1"]. */
static json_t *gpus_of(const json_t *start)
{
	const char *text = ls_col_text(start, "gpus");
	char *copy = ls_xstrdup(text ? text : ""), *save = NULL;
	json_t *list = json_array();
	for (char *t = strtok_r(copy, ",", &save); t; t = strtok_r(NULL, ",", &save))
		json_array_append_new(list, ls_json_lossy(t));
	free(copy);
	return list;
}

/* A moment that a job recorded, as the store writes moments. */
static int set_moment(struct ls_store *s, const json_t *row, const char *column, int64_t seconds,
		      struct ls_err *err)
{
	if (seconds <= 0)
		return 0;
	char *sql = ls_xasprintf("UPDATE attempt SET %s = strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ', ?, "
				 "'unixepoch') WHERE experiment = ? AND number = ?",
				 column);
	int rc = ls_sql_run(s, err, sql, "iii", seconds, ls_col_int(row, "id", 0),
			    ls_col_int(row, "attempt", 0));
	free(sql);
	return rc < 0 ? rc : 0;
}

/* "12" or "12_3", as Slurm's programs take it. */
static char *job_of(const json_t *row)
{
	int64_t task = ls_col_int(row, "task", -1);
	long long job = (long long)ls_col_int(row, "job", 0);
	return task < 0 ? ls_xasprintf("%lld", job)
			: ls_xasprintf("%lld_%lld", job, (long long)task);
}

static char *owner_of(const json_t *row)
{
	char *job = job_of(row), *owner = ls_xasprintf("slurm:%s", job);
	free(job);
	return owner;
}

/* --- what a verdict does, inside a transaction --- */

static int begin(struct look *l, json_t *row, const json_t *start, struct ls_err *err)
{
	char *owner = owner_of(row);
	json_object_set_new(row, "gpus", gpus_of(start));
	int rc = ls_queue_begin(l->s, owner, 0, row, err);
	if (!rc)
		rc = set_moment(l->s, row, "started", ls_col_int(start, "started", 0), err);
	free(owner);
	return rc;
}

/* What the script does not measure is unknown, and not 0. */
static int forget_usage(struct ls_store *s, const json_t *row, struct ls_err *err)
{
	int rc = ls_sql_run(s, err,
			    "UPDATE attempt SET user = NULL, system = NULL, peak_rss = NULL WHERE "
			    "experiment = ? AND number = ?",
			    "ii", ls_col_int(row, "id", 0), ls_col_int(row, "attempt", 0));
	return rc < 0 ? rc : 0;
}

static int end(struct look *l, const json_t *row, const struct ls_slurm_verdict *v,
	       const struct ls_slurm_end *record, struct ls_err *err)
{
	struct ls_verdict plain = {.outcome = v->outcome,
				   .state = v->what == LS_SLURM_REQUEUED ? "queued" : v->state};
	char *owner = owner_of(row);
	snprintf(plain.why, sizeof plain.why, "%s", v->why);
	int rc = ls_queue_end(l->s, owner, row, &record->end, &plain, err);
	if (!rc)
		rc = forget_usage(l->s, row, err);
	if (!rc)
		rc = set_moment(l->s, row, "ended", record->ended, err);
	free(owner);
	return rc;
}

/* It ended before its program began: an attempt without a folder. */
static int end_unbegun(struct look *l, json_t *row, const struct ls_slurm_verdict *v,
		       struct ls_err *err)
{
	struct ls_slurm_end none = {0};
	int rc = begin(l, row, NULL, err);
	return rc ? rc : end(l, row, v, &none, err);
}

/* Since when Slurm owes an answer. Without one the clock stands as it did. */
static int set_missing(struct look *l, const json_t *row, bool missing, struct ls_err *err)
{
	bool was = ls_col_real(row, "missing", -1) >= 0;
	if (!l->answered || missing == was)
		return 0;
	int rc = ls_sql_run(l->s, err,
			    "UPDATE slurm SET missing = nullif(?, -1) WHERE experiment = ?", "di",
			    missing ? l->now : -1.0, ls_col_int(row, "id", 0));
	return rc < 0 ? rc : 0;
}

static int note(struct look *l, const json_t *row, const struct ls_slurm_verdict *v,
		struct ls_err *err)
{
	const char *was = ls_col_text(row, "reason");
	char *job = job_of(row), *why = ls_xasprintf("Slurm job %s: %s", job, v->why);
	int rc = set_missing(l, row, v->missing, err);
	if (!rc && (!was || strcmp(was, why) != 0))
		rc = ls_sql_run(l->s, err, "UPDATE experiment SET reason = ? WHERE id = ?", "si",
				why, ls_col_int(row, "id", 0));
	free(job);
	free(why);
	return rc < 0 ? rc : 0;
}

/* --- one experiment --- */

/* old: the row before Slurm was asked. */
static void gather(struct look *l, const json_t *old, const json_t *row, const json_t *next,
		   struct ls_slurm_facts *f, struct ls_slurm_end *record)
{
	char *folder = folder_of(l->s, row, ls_col_int(row, "attempt", 0));
	double since = ls_col_real(row, "missing", -1);
	*record = (struct ls_slurm_end){0};
	*f = (struct ls_slurm_facts){.answered = l->answered,
				     .running = is_running(row),
				     .before = is_running(old) &&
					       ls_col_int(old, "attempt", 0) ==
						       ls_col_int(row, "attempt", 0),
				     .next = next != NULL,
				     .cancel = ls_col_int(row, "cancel", 0) != 0,
				     .missing_s = since >= 0 ? fmax(l->now - since, 0) : 0};
	f->job = ls_slurm_find(&l->jobs, ls_col_text(row, "submission"),
			       ls_col_int(row, "task", -1));
	if (f->running) {
		ls_slurm_end(folder, record);
		f->lease_s = ls_slurm_lease(folder);
	}
	f->end = record->end;
	f->again = record->again;
	free(folder);
}

/* *ret_more: it has changed and is to be looked at again. */
static int apply(struct look *l, json_t *row, const struct ls_slurm_verdict *v, const json_t *next,
		 const struct ls_slurm_end *record, bool *ret_more, struct ls_err *err)
{
	*ret_more = v->what == LS_SLURM_BEGINS || v->what == LS_SLURM_REQUEUED;
	switch (v->what) {
	case LS_SLURM_STAYS:
		return note(l, row, v, err);
	case LS_SLURM_BEGINS:
		return begin(l, row, next, err);
	case LS_SLURM_REQUEUED:
		return end(l, row, v, record, err);
	case LS_SLURM_ENDED:
		return is_running(row) ? end(l, row, v, record, err) : end_unbegun(l, row, v, err);
	case LS_SLURM_DROPPED:
		return ls_slurm_drop(l->s, row, v->why, err);
	}
	return 0;
}

/* The row as it is now, under the write lock; NULL: no longer Slurm's business. */
static int reread(struct ls_store *s, const json_t *row, json_t **ret, struct ls_err *err)
{
	*ret = NULL;
	return ls_sql_one(s, ret, err, ACTIVE " AND e.id = ? AND submission IS ?", "is",
			  ls_col_int(row, "id", 0), ls_col_text(row, "submission"));
}

/* What `lockstep run` recorded, where a level was asked for. A damaged one is for `exp
 * harvest` to complain of. */
static void take_manifest(struct look *l, json_t *row)
{
	json_object_set_new(row, "folder",
			    json_sprintf("runs/%s/attempt-%lld", ls_col_text(row, "name"),
					 (long long)ls_col_int(row, "attempt", 0)));
	ls_harvest_manifest(l->s, row, NULL);
}

/* Inside a transaction. ended: rows of attempts that are over. */
static int settle_once(struct look *l, const json_t *old, json_t *ended, bool *ret_more,
		       struct ls_err *err)
{
	json_t *row = NULL;
	int rc = reread(l->s, old, &row, err);
	if (row) {
		json_t *next = next_start(l->s, row);
		struct ls_slurm_facts f;
		struct ls_slurm_end record;
		struct ls_slurm_verdict v;
		gather(l, old, row, next, &f, &record);
		ls_slurm_judge(&f, &v);
		rc = apply(l, row, &v, next, &record, ret_more, err);
		if (f.running && (v.what == LS_SLURM_ENDED || v.what == LS_SLURM_REQUEUED))
			json_array_append(ended, row);
		json_decref(next);
	}
	json_decref(row);
	return rc;
}

/* --- submissions that were cut off, and cancelled ones --- */

/* A job that Slurm lists with our uuid, and whose id the submitter did not live to write
 * down. */
static int keep_id(struct look *l, json_t *row, const struct ls_slurm_job *job, struct ls_err *err)
{
	int rc = ls_sql_run(l->s, err, "UPDATE slurm SET job = ? WHERE uuid = ?", "is", job->job,
			    job->uuid);
	json_object_set_new(row, "job", json_integer(job->job));
	return rc < 0 ? rc : 0;
}

/* Whether the row has a job to look for; else it is settled here, or left to its
 * submitter. */
static int find_job(struct look *l, json_t *row, bool *ret_has, struct ls_err *err)
{
	const char *submission = ls_col_text(row, "submission");
	*ret_has = false;
	if (!submission) /* to be sent, unless it was cancelled before that */
		return l->alone && ls_col_int(row, "cancel", 0)
			       ? ls_slurm_drop(l->s, row, "cancelled before it ran", err)
			       : 0;
	const struct ls_slurm_job *job =
		ls_slurm_find(&l->jobs, submission, ls_col_int(row, "task", -1));
	*ret_has = true;
	if (ls_col_int(row, "job", 0))
		return 0;
	if (job)
		return keep_id(l, row, job, err);
	json_t *next = next_start(l->s, row);
	*ret_has = next != NULL;
	json_decref(next);
	return !*ret_has && l->alone && l->answered
		       ? ls_slurm_drop(l->s, row, "its submission was cut off before Slurm had it",
				       err)
		       : 0;
}

/* Ends in Slurm what is cancelled here. *ret: whether there was any. */
static void scancel(struct look *l, const json_t *rows, bool *ret)
{
	const json_t *row;
	size_t i, n = 0;
	const char **argv = ls_xalloc((json_array_size(rows) + 2) * sizeof *argv);
	char *said = NULL;
	argv[n++] = "scancel";
	json_array_foreach(rows, i, row)
	{
		const char *uuid = ls_col_text(row, "submission");
		const struct ls_slurm_job *job =
			uuid ? ls_slurm_find(&l->jobs, uuid, ls_col_int(row, "task", -1)) : NULL;
		if (ls_col_int(row, "cancel", 0) && job && strcmp(job->state, "COMPLETING") != 0 &&
		    ls_slurm_class(job->state) != LS_SLURM_OVER)
			argv[n++] = job_of(row);
	}
	*ret = n > 1;
	if (n > 1)
		ls_slurm_ask(argv, &said, NULL);
	while (n > 1)
		free((char *)(uintptr_t)argv[--n]);
	free(said);
	free(argv);
}

/* --- the whole --- */

static int settle(struct look *l, json_t *row, json_t *ended, struct ls_err *err)
{
	bool more = true, has;
	int rc = find_job(l, row, &has, err);
	for (int i = 0; !rc && has && more && i < 1000; i++) {
		more = false;
		rc = settle_once(l, row, ended, &more, err);
	}
	return rc;
}

/* So many in one transaction: each costs a wait for the disk, and meanwhile nobody else
 * writes. */
enum { AT_ONCE = 100 };

static int settle_some(struct look *l, const json_t *rows, size_t from, struct ls_err *err)
{
	json_t *ended = json_array(), *row;
	size_t i;
	int rc = ls_tx_begin(l->s, err);
	if (!rc) {
		for (i = from; !rc && i < json_array_size(rows) && i < from + AT_ONCE; i++)
			rc = settle(l, json_array_get(rows, i), ended, err);
		rc = ls_tx_end(l->s, rc, err);
	}
	if (!rc)
		json_array_foreach(ended, i, row) take_manifest(l, row);
	json_decref(ended);
	return rc;
}

/* Jobs that squeue lists for some minutes after their end only: the accounting may know
 * them. */
static void ask_accounts(struct look *l, const json_t *rows)
{
	json_t *missing = json_array(), *row;
	size_t i;
	json_array_foreach((json_t *)(uintptr_t)rows, i, row)
	{
		const char *uuid = ls_col_text(row, "submission");
		if (uuid && ls_col_int(row, "job", 0) &&
		    !ls_slurm_find(&l->jobs, uuid, ls_col_int(row, "task", -1)))
			json_array_append(missing, row);
	}
	if (json_array_size(missing) > 0)
		ls_slurm_accounts(missing, &l->jobs);
	json_decref(missing);
}

static int look_once(struct look *l, bool *ret_cancelled, struct ls_slurm_news *news,
		     struct ls_err *err)
{
	json_t *rows = NULL;
	struct ls_err why = {0};
	/* first the store, then Slurm: a job in the store is one that Slurm has been
	 * given */
	int rc = ls_sql_all(l->s, &rows, err, ACTIVE " ORDER BY e.id", "");
	news->jobs = rc ? 0 : json_array_size(rows);
	if (!rc && news->jobs > 0) {
		l->answered = ls_slurm_jobs(&l->jobs, &why) == 0;
		news->answered = l->answered;
		snprintf(news->why, sizeof news->why, "%.500s", why.msg);
		if (l->answered)
			ask_accounts(l, rows);
	}
	for (size_t i = 0; !rc && i < json_array_size(rows); i += AT_ONCE)
		rc = settle_some(l, rows, i, err);
	if (!rc && news->jobs > 0 && l->answered)
		scancel(l, rows, ret_cancelled);
	json_decref(rows);
	ls_slurm_jobs_done(&l->jobs);
	return rc;
}

static int any_active(struct ls_store *s, int64_t *ret, struct ls_err *err)
{
	return ls_sql_number(s, 0, ret, err,
			     "SELECT count(*) FROM experiment WHERE engine = 'slurm' AND state IN "
			     "('queued', 'running')",
			     "");
}

int ls_slurm_refresh(struct ls_store *s, const char *self, struct ls_slurm_news *ret,
		     struct ls_err *err)
{
	struct look l = {.s = s, .now = (double)time(NULL)};
	int64_t n = 0;
	int lock = -1;
	bool cancelled = false;
	*ret = (struct ls_slurm_news){.answered = true};
	int rc = any_active(s, &n, err);
	if (rc || n == 0)
		return rc;
	rc = ls_slurm_lock(s, false, &lock, err);
	l.alone = lock >= 0;
	if (!rc && l.alone)
		rc = ls_slurm_send(s, self, err);
	if (!rc)
		rc = look_once(&l, &cancelled, ret, err);
	if (!rc && cancelled)
		rc = look_once(&l, &cancelled, ret, err);
	ls_slurm_unlock(lock);
	return rc;
}
