#include "job/slurm_send.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/mem.h"
#include "job/event.h"
#include "job/experiment.h"
#include "job/queue.h"
#include "job/slurm_script.h"
#include "job/slurm_tool.h"
#include "job/sql.h"

enum { ARRAY_MOST = 1000 }; /* Slurm's own default is 1001 */

/* --- the lock --- */

int ls_slurm_lock(struct ls_store *s, bool wait, int *ret_fd, struct ls_err *err)
{
	char *path = ls_queue_lock(s, "slurm");
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666), rc = 0;
	if (fd < 0)
		rc = ls_err_errno(err, path, "make");
	else if (flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB)) == 0)
		*ret_fd = fd;
	else {
		close(fd);
		*ret_fd = -1;
	}
	free(path);
	return rc;
}

void ls_slurm_unlock(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* --- dropping --- */

int ls_slurm_drop(struct ls_store *s, const json_t *row, const char *why, struct ls_err *err)
{
	int rc = ls_sql_run(s, err,
			    "UPDATE experiment SET state = 'cancelled', reason = ?, cancel = 0 "
			    "WHERE id = ? AND state = 'queued'",
			    "si", why, ls_col_int(row, "id", 0));
	if (rc <= 0)
		return rc;
	return ls_event(s, ls_col_text(row, "uuid"), "cancelled", 0, NULL, why, err);
}

static int drop_all(struct ls_store *s, const json_t *rows, const char *why, struct ls_err *err)
{
	const json_t *row;
	size_t i;
	int rc = ls_tx_begin(s, err);
	if (rc)
		return rc;
	json_array_foreach(rows, i, row) rc = rc ? rc : ls_slurm_drop(s, row, why, err);
	return ls_tx_end(s, rc, err);
}

/* --- what a command wants: submissions of one or more experiments --- */

/* Members of a submission: "rows", "options", "after" (names), "uuid", "log" (path of
 * Slurm's messages below the project, without suffix), "job". */

/* Names of what an experiment comes after and that is not done. */
static int after_of(struct ls_store *s, const json_t *row, json_t **ret, struct ls_err *err)
{
	return ls_sql_all(s, ret, err,
			  "SELECT name, state, engine, job, task FROM dependency JOIN experiment e "
			  "ON e.id = after LEFT JOIN slurm ON slurm.experiment = e.id WHERE "
			  "dependency.experiment = ? AND state <> 'done' ORDER BY e.id",
			  "i", ls_col_int(row, "id", 0));
}

/* Experiments whose keys are equal may be tasks of one array; NULL: one that has no
 * group. */
static char *key_of(const json_t *row, const json_t *after)
{
	if (!ls_col_text(row, "group"))
		return NULL;
	static const char *const same[] = {"group",      "num_gpus", "partition",
					   "slurm",      "slots",    "soft_limit",
					   "hard_limit", "grace",    "requeue"};
	json_t *key = json_pack("{s:[]}", "after");
	for (size_t k = 0; k < sizeof same / sizeof *same; k++)
		json_object_set(key, same[k], json_object_get(row, same[k]));
	const json_t *a;
	size_t i;
	json_array_foreach(after, i, a)
		json_array_append(json_object_get(key, "after"), json_object_get(a, "name"));
	char *text = json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(key);
	return text;
}

static json_t *find_array(json_t *subs, const char *key)
{
	json_t *sub;
	size_t i;
	json_array_foreach(subs, i, sub)
	{
		const char *has = ls_col_text(sub, "key");
		if (key && has && strcmp(has, key) == 0 &&
		    json_array_size(json_object_get(sub, "rows")) < ARRAY_MOST)
			return sub;
	}
	return NULL;
}

static json_t *new_submission(const json_t *row, const char *key)
{
	char uuid[LS_UUID_TEXT];
	ls_uuid(uuid);
	return json_pack("{s:[],s:O,s:s?,s:s}", "rows", "options", json_object_get(row, "slurm"),
			 "key", key, "uuid", uuid);
}

static int group(struct ls_store *s, const json_t *rows, json_t *subs, struct ls_err *err)
{
	json_t *row, *after = NULL;
	size_t i;
	int rc = 0;
	json_array_foreach((json_t *)(uintptr_t)rows, i, row)
	{
		rc = after_of(s, row, &after, err);
		if (rc)
			return rc;
		char *key = key_of(row, after);
		json_t *sub = find_array(subs, key);
		if (!sub) {
			sub = new_submission(row, key);
			json_array_append_new(subs, sub);
		}
		json_array_append(json_object_get(sub, "rows"), row);
		free(key);
		json_decref(after);
	}
	return 0;
}

/* The script lies in the run folder of the experiment, or in one with the group's name.
 */
static void name_script(json_t *sub)
{
	const json_t *rows = json_object_get(sub, "rows"), *row = json_array_get(rows, 0);
	const char *folder = ls_col_text(row, json_array_size(rows) > 1 ? "group" : "name");
	json_object_set_new(sub, "log",
			    json_sprintf("runs/%s/job-%.8s", folder, ls_col_text(sub, "uuid")));
}

/* --- sbatch --- */

static int write_script(struct ls_store *s, json_t *sub, const char *self, const char *dependency,
			json_t **ret_words, struct ls_err *err)
{
	const struct ls_slurm_script w = {.rows = json_object_get(sub, "rows"),
					  .options = json_object_get(sub, "options"),
					  .uuid = ls_col_text(sub, "uuid"),
					  .project = ls_store_root(s),
					  .log = ls_col_text(sub, "log"),
					  .dependency = dependency,
					  .self = self};
	struct ls_str text = {0};
	char *path = ls_xasprintf("%s/%s.sh", w.project, w.log);
	char *folder = ls_file_folder(path);
	int rc = ls_slurm_script(&w, &text, err);
	if (!rc)
		rc = ls_folder_make(folder, err);
	if (!rc)
		rc = ls_file_write_atomic(path, text.s, text.len, err);
	if (!rc)
		rc = ls_slurm_words(&w, ret_words, err);
	ls_str_done(&text);
	free(folder);
	free(path);
	return rc;
}

/* The options are on the command line, too: there they win over SBATCH_… variables. */
static int sbatch(struct ls_store *s, const json_t *sub, const json_t *words, const char *how,
		  char **ret, struct ls_err *err)
{
	char *path = ls_xasprintf("%s/%s.sh", ls_store_root(s), ls_col_text(sub, "log"));
	size_t n = json_array_size(words);
	const char **argv = ls_xalloc((n + 4) * sizeof *argv);
	argv[0] = "sbatch";
	argv[1] = how;
	for (size_t i = 0; i < n; i++)
		argv[i + 2] = json_string_value(json_array_get(words, i));
	argv[n + 2] = path;
	int rc = ls_slurm_ask(argv, ret, err);
	free(argv);
	free(path);
	return rc;
}

/* A folder that an experiment of the same name has left would be taken for this one's. */
static int check_folders(struct ls_store *s, const json_t *sub, struct ls_err *err)
{
	const json_t *row;
	size_t i;
	json_array_foreach(json_object_get(sub, "rows"), i, row)
	{
		char *path = ls_xasprintf("%s/runs/%s/attempt-%lld", ls_store_root(s),
					  ls_col_text(row, "name"),
					  (long long)ls_col_int(row, "attempt", 0) + 1);
		int rc = ls_file_exists(path)
				 ? ls_err_set(err, LS_EINPUT,
					      "%s is there already, from another experiment of "
					      "that name: move it away",
					      path)
				 : 0;
		free(path);
		if (rc)
			return rc;
	}
	return 0;
}

static const char *first_name(const json_t *sub)
{
	return ls_col_text(json_array_get(json_object_get(sub, "rows"), 0), "name");
}

static int test(struct ls_store *s, json_t *sub, const char *self, struct ls_err *err)
{
	json_t *words = NULL;
	char *said = NULL;
	int rc = check_folders(s, sub, err);
	if (!rc)
		rc = write_script(s, sub, self, NULL, &words, err);
	if (!rc)
		rc = sbatch(s, sub, words, "--test-only", &said, err);
	if (rc == LS_EUNKNOWN)
		ls_err_prefix(err, "%s", first_name(sub));
	json_decref(words);
	free(said);
	return rc;
}

/* --- dependencies --- */

/* "afterok:12:13_2". *ret_later: it comes after one of the same command that is not sent
 * yet. */
static int dependency_of(struct ls_store *s, const json_t *sub, struct ls_str *ret, bool *ret_later,
			 struct ls_err *err)
{
	const json_t *row = json_array_get(json_object_get(sub, "rows"), 0), *a;
	json_t *after = NULL;
	size_t i;
	int rc = after_of(s, row, &after, err);
	json_array_foreach(after, i, a)
	{
		const char *name = ls_col_text(a, "name"), *state = ls_col_text(a, "state");
		const char *engine = ls_col_text(a, "engine");
		int64_t job = ls_col_int(a, "job", 0), task = ls_col_int(a, "task", -1);
		bool alive = strcmp(state, "queued") == 0 || strcmp(state, "running") == 0;
		if (!alive || !engine || strcmp(engine, "slurm") != 0)
			rc = ls_err_set(err, LS_EINPUT,
					"%s comes after %s, which is %s%s: Slurm can only wait for "
					"its own jobs",
					ls_col_text(row, "name"), name, state,
					alive ? " on the local engine" : "");
		else if (job)
			ls_str_addf(ret, "%s:%lld", ret->len ? "" : "afterok", (long long)job);
		else
			*ret_later = true;
		if (!rc && job && task >= 0)
			ls_str_addf(ret, "_%lld", (long long)task);
	}
	json_decref(after);
	return rc;
}

/* --- sending --- */

static int mark(struct ls_store *s, const json_t *sub, struct ls_err *err)
{
	const json_t *rows = json_object_get(sub, "rows"), *row;
	char at[LS_MOMENT_TEXT];
	size_t i;
	int rc = 0;
	ls_moment(at);
	json_array_foreach(rows, i, row)
	{
		char *script = ls_xasprintf("%s.sh", ls_col_text(sub, "log"));
		rc = ls_sql_run(s, err,
				"UPDATE slurm SET uuid = ?, task = ?, script = ?, sent = ?, job = "
				"NULL, missing = NULL WHERE experiment = ?",
				"sissi", ls_col_text(sub, "uuid"),
				json_array_size(rows) > 1 ? (int64_t)i : (int64_t)-1, script, at,
				ls_col_int(row, "id", 0));
		free(script);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* In one transaction, before the first sbatch: from now on jobs may exist. */
static int mark_all(struct ls_store *s, const json_t *subs, struct ls_err *err)
{
	const json_t *sub;
	size_t i;
	int rc = ls_tx_begin(s, err);
	if (rc)
		return rc;
	json_array_foreach(subs, i, sub) rc = rc ? rc : mark(s, sub, err);
	return ls_tx_end(s, rc, err);
}

static int keep_job(struct ls_store *s, json_t *sub, const char *said, struct ls_err *err)
{
	char *end;
	long long job = strtoll(said, &end, 10); /* "12", or "12;cluster" */
	if (job < 1 || (*end != '\n' && *end != ';'))
		return ls_err_set(err, LS_EUNKNOWN, "sbatch: \"%.100s\" has no job id", said);
	json_object_set_new(sub, "job", json_integer(job));
	int rc = ls_sql_run(s, err, "UPDATE slurm SET job = ? WHERE uuid = ?", "is", (int64_t)job,
			    ls_col_text(sub, "uuid"));
	return rc < 0 ? rc : 0;
}

/* *ret_sent: false when it has to wait for another one. */
static int send_one(struct ls_store *s, json_t *sub, const char *self, bool *ret_sent,
		    struct ls_err *err)
{
	struct ls_str dependency = {0};
	json_t *words = NULL;
	char *said = NULL;
	bool later = false;
	int rc = dependency_of(s, sub, &dependency, &later, err);
	if (!rc && !later) {
		rc = write_script(s, sub, self, dependency.s, &words, err);
		if (!rc)
			rc = sbatch(s, sub, words, "--parsable", &said, err);
		if (rc == LS_EUNKNOWN)
			ls_err_prefix(err, "%s", first_name(sub));
		if (!rc)
			rc = keep_job(s, sub, said, err);
		*ret_sent = !rc;
	}
	free(said);
	json_decref(words);
	ls_str_done(&dependency);
	return rc;
}

/* In rounds: what comes after others of the same command is sent after them. */
static int send_all(struct ls_store *s, json_t *subs, const char *self, struct ls_err *err)
{
	size_t left = json_array_size(subs), before, i;
	json_t *sub;
	int rc = 0;
	do {
		before = left;
		json_array_foreach(subs, i, sub)
		{
			bool sent = false;
			if (!rc && !json_object_get(sub, "job"))
				rc = send_one(s, sub, self, &sent, err);
			left -= sent;
		}
	} while (!rc && left && left < before);
	if (!rc && left)
		rc = ls_err_set(err, LS_EINPUT,
				"experiments wait for each other, or for a submission that was "
				"cut off: `lockstep exp explain` says more");
	return rc;
}

/* What was sent of a command that failed is taken back; other scripts are of no use. */
static void take_back(struct ls_store *s, const json_t *subs)
{
	const json_t *sub;
	size_t i;
	json_array_foreach(subs, i, sub)
	{
		char id[32], *said = NULL;
		snprintf(id, sizeof id, "%lld", (long long)ls_col_int(sub, "job", 0));
		char *path = ls_xasprintf("%s/%s.sh", ls_store_root(s), ls_col_text(sub, "log"));
		char *folder = ls_file_folder(path);
		if (ls_col_int(sub, "job", 0)) {
			ls_slurm_ask((const char *[]){"scancel", id, NULL}, &said, NULL);
		} else {
			unlink(path);
			rmdir(folder); /* where nothing else is in it */
		}
		free(folder);
		free(path);
		free(said);
	}
}

/* One command's experiments, all or none. */
static int send_batch(struct ls_store *s, const json_t *rows, const char *self, struct ls_err *err)
{
	json_t *subs = json_array(), *sub;
	struct ls_err why = {0};
	size_t i;
	int rc = group(s, rows, subs, &why);
	json_array_foreach(subs, i, sub) name_script(sub);
	json_array_foreach(subs, i, sub) rc = rc ? rc : test(s, sub, self, &why);
	if (!rc)
		rc = mark_all(s, subs, &why);
	if (!rc)
		rc = send_all(s, subs, self, &why);
	if (rc) {
		take_back(s, subs);
		rc = drop_all(s, rows, why.msg, err);
	}
	json_decref(subs);
	return rc;
}

static int wanted(struct ls_store *s, const char *batch, json_t **ret, struct ls_err *err)
{
	json_t *list = NULL, *entry, *row, *rows = json_array();
	size_t i;
	int rc = ls_sql_all(s, &list, err,
			    "SELECT name, options AS json_options FROM slurm JOIN experiment e ON "
			    "e.id = experiment WHERE state = 'queued' AND engine = 'slurm' AND "
			    "slurm.uuid IS NULL AND cancel = 0 AND batch = ? ORDER BY queued",
			    "s", batch);
	json_array_foreach(list, i, entry)
	{
		row = NULL;
		rc = rc ? rc : ls_experiment_get(s, ls_col_text(entry, "name"), &row, err);
		if (!rc) {
			json_object_set(row, "slurm", json_object_get(entry, "options"));
			json_array_append_new(rows, row);
		}
	}
	json_decref(list);
	if (rc)
		json_decref(rows);
	else
		*ret = rows;
	return rc;
}

int ls_slurm_send(struct ls_store *s, const char *self, struct ls_err *err)
{
	json_t *batches = NULL, *b, *rows;
	size_t i;
	int rc = ls_sql_all(s, &batches, err,
			    "SELECT batch, min(queued) FROM slurm JOIN experiment e ON e.id = "
			    "experiment WHERE state = 'queued' AND engine = 'slurm' AND slurm.uuid "
			    "IS NULL AND cancel = 0 GROUP BY batch ORDER BY 2",
			    "");
	json_array_foreach(batches, i, b)
	{
		rows = NULL;
		rc = rc ? rc : wanted(s, ls_col_text(b, "batch"), &rows, err);
		if (!rc)
			rc = send_batch(s, rows, self, err);
		json_decref(rows);
	}
	json_decref(batches);
	return rc;
}
