#include "job/experiment.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "job/command.h"
#include "job/event.h"
#include "job/rule.h"
#include "job/sql.h"
#include "job/store_internal.h"

/* --- placeholders --- */

static void put_number(json_t *values, const char *name, const json_t *row, const char *column)
{
	const json_t *v = json_object_get(row, column);
	char text[32];
	if (!json_is_integer(v))
		return;
	snprintf(text, sizeof text, "%lld", (long long)json_integer_value(v));
	json_object_set_new(values, name, json_string(text));
}

static void put_text(json_t *values, const char *name, const char *text)
{
	if (text)
		json_object_set_new(values, name, ls_json_lossy(text));
}

json_t *ls_experiment_values(const json_t *row, const char *out, const char *previous,
			     int64_t attempt)
{
	static const char *const numbers[][2] = {
		{"seed", "seed"},
		{"batch", "batch_size"},
		{"batch_size", "batch_size"},
		{"accum", "accumulation"},
		{"accumulation", "accumulation"},
		{"num_gpus", "num_gpus"},
		{"global_batch", "global_batch"},
		{"samples", "samples"},
		{"warmup_steps", "warmup_steps"},
		{"total_steps", "total_steps"},
		{"level", "level"},
	};
	json_t *values = json_object(), *number = json_pack("{s:I}", "n", (json_int_t)attempt);
	json_object_update(values, json_object_get(row, "settings"));
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		put_number(values, numbers[i][0], row, numbers[i][1]);
	put_text(values, "name", ls_col_text(row, "name"));
	put_text(values, "partition", ls_col_text(row, "partition"));
	put_text(values, "precision", ls_col_text(row, "precision"));
	put_text(values, "out", out);
	put_text(values, "previous", previous ? previous : "");
	put_number(values, "attempt", number, "n");
	json_decref(number);
	return values;
}

const char *ls_experiment_value(void *values, const char *name)
{
	return ls_col_text(values, name);
}

/* --- making --- */

static int check_name(const char *name, struct ls_err *err)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	enum { MOST = 100 };
	if (name && *name && strlen(name) <= MOST && name[strspn(name, letters)] == 0 &&
	    !strchr(".-", name[0]))
		return 0;
	return ls_err_set(err, LS_EINPUT,
			  "\"%.120s\" cannot be an experiment's name: it becomes a folder, so "
			  "letters, digits, '.', '_' and '-', at most %d, not beginning with '.' "
			  "or '-'",
			  name ? name : "", MOST);
}

static int check_command(const json_t *design, struct ls_err *err)
{
	json_t *values = ls_experiment_values(design, "OUT", "", 1);
	char **words = NULL;
	int rc = ls_command_words(json_object_get(design, "command"), ls_experiment_value, values,
				  &words, err);
	if (!rc && !words[0])
		rc = ls_err_set(
			err, LS_EINPUT,
			"there is no command to run: give it after --, or name a --template");
	ls_command_free(words);
	json_decref(values);
	return rc;
}

/* JSON text of a member, to be freed; NULL where it is missing. */
static char *member(const json_t *design, const char *key)
{
	const json_t *v = json_object_get(design, key);
	return v && !json_is_null(v)
		       ? json_dumps(v, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY)
		       : NULL;
}

/* The difference to the commit, once for all experiments that share it. */
static int keep_diff(struct ls_store *s, const char *text, char hex[LS_SHA256_HEX],
		     struct ls_err *err)
{
	ls_sha256(text, strlen(text), hex);
	int rc = ls_sql_run(s, err, "INSERT OR IGNORE INTO diff(sha256, text) VALUES(?, ?)", "ss",
			    hex, text);
	return rc < 0 ? rc : 0;
}

static int insert_row(struct ls_store *s, const json_t *d, const char *uuid, const char *diff,
		      struct ls_err *err)
{
	static const char *const texts[] = {"command", "settings", "harvest", "git", "environment"};
	char *json[5], at[LS_MOMENT_TEXT];
	for (size_t i = 0; i < 5; i++)
		json[i] = member(d, texts[i]);
	ls_moment(at);
	int rc = ls_sql_run(
		s, err,
		"INSERT INTO experiment(uuid, name, grp, description, template, partition,"
		" precision, command, settings, harvest, git, environment, diff, created, num_gpus,"
		" state) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ifnull(?, '{}'), ?, ?, ?, ?, ?, ?, 'new')",
		"ssssssssssssssi", uuid, ls_col_text(d, "name"), ls_col_text(d, "group"),
		ls_col_text(d, "description"), ls_col_text(d, "template"),
		ls_col_text(d, "partition"), ls_col_text(d, "precision"), json[0], json[1], json[2],
		json[3], json[4], diff, at, ls_col_int(d, "num_gpus", 0));
	for (size_t i = 0; i < 5; i++)
		free(json[i]);
	return rc < 0 ? rc : 0;
}

/* Numbers that may be unknown. */
static int insert_numbers(struct ls_store *s, const json_t *d, const char *uuid, struct ls_err *err)
{
	static const char *const names[] = {"batch_size", "accumulation", "global_batch",
					    "samples",    "warmup_steps", "total_steps",
					    "seed",       "level"};
	int rc = 0;
	for (size_t i = 0; rc >= 0 && i < sizeof names / sizeof *names; i++) {
		const json_t *v = json_object_get(d, names[i]);
		char *sql = ls_xasprintf("UPDATE experiment SET %s = ? WHERE uuid = ?", names[i]);
		if (json_is_integer(v))
			rc = ls_sql_run(s, err, sql, "is", (int64_t)json_integer_value(v), uuid);
		free(sql);
	}
	return rc < 0 ? rc : 0;
}

static int insert_lists(struct ls_store *s, const json_t *d, const char *uuid, struct ls_err *err)
{
	const json_t *v;
	size_t i;
	int rc = 0;
	json_array_foreach(json_object_get(d, "after"), i, v)
	{
		rc = ls_sql_run(s, err,
				"INSERT OR IGNORE INTO dependency SELECT e.id, a.id FROM experiment"
				" e, experiment a WHERE e.uuid = ? AND a.name = ?",
				"ss", uuid, json_string_value(v));
		if (rc == 0)
			rc = ls_err_set(err, LS_EINPUT, "--after %s: there is no such experiment",
					json_string_value(v));
		if (rc < 0)
			return rc;
	}
	char at[LS_MOMENT_TEXT];
	ls_moment(at);
	json_array_foreach(json_object_get(d, "notes"), i, v)
	{
		rc = ls_sql_run(s, err,
				"INSERT INTO note(experiment, at, text) SELECT id, ?, ? FROM"
				" experiment WHERE uuid = ?",
				"sss", at, json_string_value(v), uuid);
		if (rc < 0)
			return rc;
	}
	json_array_foreach(json_object_get(d, "tags"), i, v)
	{
		rc = ls_sql_run(s, err,
				"INSERT OR IGNORE INTO tag SELECT id, ? FROM experiment WHERE uuid "
				"= ?",
				"ss", json_string_value(v), uuid);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int refuse_twice(struct ls_store *s, const char *name, struct ls_err *err)
{
	int64_t n = 0;
	int rc = ls_sql_number(s, 0, &n, err, "SELECT count(*) FROM experiment WHERE name = ?", "s",
			       name);
	if (rc || n == 0)
		return rc;
	return ls_err_set(err, LS_EINPUT,
			  "there is an experiment %s already; names are given once (`lockstep exp "
			  "rm %s` removes it)",
			  name, name);
}

static int add_one(struct ls_store *s, const json_t *d, const char *diff, struct ls_err *err)
{
	const char *name = ls_col_text(d, "name");
	char uuid[LS_UUID_TEXT];
	ls_uuid(uuid);
	int rc = check_name(name, err);
	if (!rc)
		rc = check_command(d, err);
	if (!rc)
		rc = ls_rules_check(json_object_get(d, "harvest"), err);
	if (!rc)
		rc = refuse_twice(s, name, err);
	if (!rc)
		rc = insert_row(s, d, uuid, diff, err);
	if (!rc)
		rc = insert_numbers(s, d, uuid, err);
	if (!rc)
		rc = insert_lists(s, d, uuid, err);
	return rc ? rc : ls_event(s, uuid, "created", 0, NULL, name, err);
}

int ls_experiment_new(struct ls_store *s, const json_t *designs, const char *diff,
		      struct ls_err *err)
{
	const json_t *d;
	size_t i;
	char hex[LS_SHA256_HEX];
	int rc = ls_tx_begin(s, err);
	if (rc)
		return rc;
	if (diff)
		rc = keep_diff(s, diff, hex, err);
	json_array_foreach(designs, i, d) if (!rc) rc = add_one(s, d, diff ? hex : NULL, err);
	return ls_tx_end(s, rc, err);
}

/* --- looking --- */

#define COLUMNS                                                                                    \
	"e.id, uuid, name, grp AS \"group\", description, template, command AS json_command,"      \
	" partition, num_gpus, batch_size, accumulation, global_batch, samples, warmup_steps,"     \
	" total_steps, precision, seed, level, settings AS json_settings, harvest AS "             \
	"json_harvest,"                                                                            \
	" git AS json_git, diff, environment AS json_environment, created, state, reason, engine," \
	" priority, queued, retries, attempt, tries, soft_limit, hard_limit, grace, requeue,"      \
	" cancel, owner, gpus,"                                                                    \
	" (SELECT started FROM attempt WHERE experiment = e.id AND number = e.attempt) AS "        \
	"started,"                                                                                 \
	" (SELECT ended FROM attempt WHERE experiment = e.id AND number = e.attempt) AS ended,"    \
	" (SELECT wall FROM attempt WHERE experiment = e.id AND number = e.attempt) AS wall"

/* The name that was most likely meant. */
static void advise_name(struct ls_store *s, const char *name, struct ls_err *err)
{
	json_t *rows = NULL, *row;
	size_t i;
	if (ls_sql_all(s, &rows, NULL, "SELECT name FROM experiment LIMIT 10000", ""))
		return;
	const char **names = ls_xalloc((json_array_size(rows) + 1) * sizeof *names);
	json_array_foreach(rows, i, row) names[i] = ls_col_text(row, "name");
	const char *near = ls_str_nearest(name, names);
	if (near)
		ls_err_set(err, LS_EINPUT, "there is no experiment %s (did you mean %s?)", name,
			   near);
	free(names);
	json_decref(rows);
}

int ls_experiment_get(struct ls_store *s, const char *name, json_t **ret, struct ls_err *err)
{
	json_t *row = NULL;
	int rc = ls_sql_one(s, &row, err, "SELECT " COLUMNS " FROM experiment e WHERE name = ?",
			    "s", name);
	if (rc)
		return rc;
	if (!row) {
		ls_err_set(err, LS_EINPUT, "there is no experiment %s; `lockstep exp list` has all",
			   name);
		advise_name(s, name, err);
		return LS_EINPUT;
	}
	*ret = row;
	return 0;
}

int ls_experiment_resolve(struct ls_store *s, const char *name, json_t *to, struct ls_err *err)
{
	json_t *rows = NULL, *row = NULL;
	int rc = ls_sql_all(s, &rows, err,
			    "SELECT name FROM experiment WHERE name = ?1 OR (grp = ?1 AND NOT "
			    "EXISTS (SELECT 1 FROM experiment WHERE name = ?1)) ORDER BY id",
			    "s", name);
	if (rc)
		return rc;
	if (json_array_size(rows) == 0) /* for its message */
		rc = ls_experiment_get(s, name, &row, err);
	size_t i;
	json_array_foreach(rows, i, row) json_array_append(to, json_object_get(row, "name"));
	json_decref(rows);
	return rc;
}

int ls_experiment_list(struct ls_store *s, const char *state, const char *tag, const char *group,
		       json_t **ret, struct ls_err *err)
{
	return ls_sql_all(s, ret, err,
			  "SELECT " COLUMNS " FROM experiment e WHERE"
			  " (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR EXISTS (SELECT 1 FROM tag"
			  " WHERE experiment = e.id AND tag = ?2)) AND (?3 IS NULL OR grp = ?3)"
			  " ORDER BY e.id",
			  "sss", state, tag, group);
}

int ls_experiment_more(struct ls_store *s, const json_t *row, json_t **ret, struct ls_err *err)
{
	static const char *const parts[][2] = {
		{"notes", "SELECT at, text FROM note WHERE experiment = ? ORDER BY id"},
		{"tags", "SELECT tag FROM tag WHERE experiment = ? ORDER BY tag"},
		{"after", "SELECT name, state FROM dependency JOIN experiment e ON e.id = after"
			  " WHERE experiment = ? ORDER BY e.id"},
		{"attempts",
		 "SELECT number, token, folder, started, ended, outcome, status, signal, wall,"
		 " user, system, peak_rss, gpus, manifest AS json_manifest FROM attempt"
		 " WHERE experiment = ? ORDER BY number"},
		{"slurm",
		 "SELECT job || CASE WHEN task < 0 THEN '' ELSE '_' || task END AS job,"
		 " script, sent, uuid, options AS json_options FROM slurm WHERE experiment = ?"},
		{"artifacts", "SELECT attempt, path, bytes, sha256 FROM artifact WHERE experiment ="
			      " ? ORDER BY attempt, path"},
	};
	int64_t id = ls_col_int(row, "id", 0);
	json_t *more = json_object(), *list = NULL;
	int rc = 0;
	for (size_t i = 0; !rc && i < sizeof parts / sizeof *parts; i++) {
		rc = ls_sql_all(s, &list, err, parts[i][1], "i", id);
		if (!rc)
			json_object_set_new(more, parts[i][0], list);
	}
	if (!rc)
		rc = ls_event_list(s, ls_col_text(row, "uuid"), &list, err);
	if (!rc) {
		json_object_set_new(more, "history", list);
		*ret = more;
	} else {
		json_decref(more);
	}
	return rc;
}

/* --- small changes --- */

/* A transaction around one change of one experiment. */
static int begin_on(struct ls_store *s, const char *name, json_t **ret, struct ls_err *err)
{
	int rc = ls_tx_begin(s, err);
	if (rc)
		return rc;
	rc = ls_experiment_get(s, name, ret, err);
	return rc ? ls_tx_end(s, rc, err) : 0;
}

int ls_experiment_note(struct ls_store *s, const char *name, const char *text, struct ls_err *err)
{
	json_t *row = NULL;
	char at[LS_MOMENT_TEXT];
	int rc = begin_on(s, name, &row, err);
	if (rc)
		return rc;
	ls_moment(at);
	rc = ls_sql_run(s, err, "INSERT INTO note(experiment, at, text) VALUES(?, ?, ?)", "iss",
			ls_col_int(row, "id", 0), at, text);
	if (rc >= 0)
		rc = ls_event(s, ls_col_text(row, "uuid"), "noted", 0, NULL, text, err);
	json_decref(row);
	return ls_tx_end(s, rc, err);
}

int ls_experiment_tag(struct ls_store *s, const char *name, const char *tag, bool remove,
		      struct ls_err *err)
{
	json_t *row = NULL;
	int rc = begin_on(s, name, &row, err);
	if (rc)
		return rc;
	rc = ls_sql_run(s, err,
			remove ? "DELETE FROM tag WHERE experiment = ? AND tag = ?"
			       : "INSERT OR IGNORE INTO tag(experiment, tag) VALUES(?, ?)",
			"is", ls_col_int(row, "id", 0), tag);
	if (rc > 0)
		rc = ls_event(s, ls_col_text(row, "uuid"), remove ? "untagged" : "tagged", 0, NULL,
			      tag, err);
	json_decref(row);
	return ls_tx_end(s, rc, err);
}

static int may_remove(struct ls_store *s, const json_t *row, struct ls_err *err)
{
	const char *name = ls_col_text(row, "name"), *state = ls_col_text(row, "state");
	if (strcmp(state, "queued") == 0 || strcmp(state, "running") == 0)
		return ls_err_set(err, LS_EINPUT, "%s is %s: `lockstep exp cancel %s` first", name,
				  state, name);
	json_t *other = NULL;
	int rc = ls_sql_one(s, &other, err,
			    "SELECT name FROM dependency JOIN experiment e ON e.id = experiment"
			    " WHERE after = ?",
			    "i", ls_col_int(row, "id", 0));
	if (!rc && other)
		rc = ls_err_set(err, LS_EINPUT, "%s: %s comes after it; remove that first", name,
				ls_col_text(other, "name"));
	json_decref(other);
	return rc;
}

int ls_experiment_remove(struct ls_store *s, const char *name, struct ls_err *err)
{
	json_t *row = NULL;
	int rc = begin_on(s, name, &row, err);
	if (rc)
		return rc;
	rc = may_remove(s, row, err);
	if (!rc)
		rc = ls_event(s, ls_col_text(row, "uuid"), "removed", 0, NULL, name, err);
	if (!rc)
		rc = ls_sql_run(s, err, "DELETE FROM experiment WHERE id = ?", "i",
				ls_col_int(row, "id", 0));
	json_decref(row);
	return ls_tx_end(s, rc, err);
}

int ls_experiment_diff(struct ls_store *s, const json_t *row, char **ret, struct ls_err *err)
{
	const char *hex = ls_col_text(row, "diff");
	sqlite3_stmt *st = NULL;
	int rc = ls_sql_open(s, &st, err, "SELECT text FROM diff WHERE sha256 = ?", "s", hex);
	if (!rc && (rc = ls_sql_next(s, st, err)) >= 0) {
		const char *text = rc > 0 ? (const char *)sqlite3_column_text(st, 0) : NULL;
		*ret = ls_xstrdup(text ? text : "");
		rc = 0;
	}
	ls_sql_done(st);
	return rc;
}
