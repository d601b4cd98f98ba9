#include "job/harvest.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "job/event.h"
#include "job/gather_points.h"
#include "job/rule.h"
#include "job/sql.h"
#include "run/manifest.h"

/* --- manifests --- */

static int keep_artifacts(struct ls_store *s, const json_t *row, const json_t *manifest,
			  struct ls_err *err)
{
	const json_t *f;
	size_t i;
	int rc = 0;
	json_array_foreach(json_object_get(manifest, "outputs"), i, f)
	{
		if (!ls_col_text(f, "sha256"))
			continue;
		rc = ls_sql_run(s, err,
				"INSERT OR REPLACE INTO artifact(experiment, attempt, path, bytes, "
				"sha256) VALUES(?, ?, ?, ?, ?)",
				"iisis", ls_col_int(row, "id", 0), ls_col_int(row, "attempt", 0),
				ls_col_text(f, "path"), ls_col_int(f, "bytes", 0),
				ls_col_text(f, "sha256"));
		if (rc < 0)
			return rc;
	}
	return 0;
}

int ls_harvest_manifest(struct ls_store *s, const json_t *row, struct ls_err *err)
{
	char *path = ls_xasprintf("%s/%s/out/run_manifest.json", ls_store_root(s),
				  ls_col_text(row, "folder"));
	json_t *m = NULL;
	int rc = 0;
	if (ls_file_exists(path) && !(rc = ls_manifest_load(path, &m, err)) &&
	    !(rc = ls_tx_begin(s, err))) {
		char *text = json_dumps(m, JSON_COMPACT);
		rc = ls_sql_run(
			s, err,
			"UPDATE attempt SET manifest = ? WHERE experiment = ? AND number = ?",
			"sii", text, ls_col_int(row, "id", 0), ls_col_int(row, "attempt", 0));
		free(text);
		if (rc >= 0)
			rc = keep_artifacts(s, row, m, err);
		rc = ls_tx_end(s, rc, err);
	}
	json_decref(m);
	free(path);
	return rc;
}

/* --- metrics --- */

static int write_values(struct ls_store *s, const json_t *attempt, const struct ls_points_files *f,
			size_t *changed, struct ls_err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = ls_sql_open(s, &st, err,
			     "INSERT INTO metric(experiment, attempt, name, step, value, source)"
			     " VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET value ="
			     " excluded.value, source = excluded.source"
			     " WHERE value IS NOT excluded.value",
			     "ii", ls_col_int(attempt, "id", 0), ls_col_int(attempt, "attempt", 0));
	for (size_t i = 0; i < f->n_values && !rc; i++) {
		const struct ls_value *v = &f->values[i];
		sqlite3_bind_text(st, 3, v->name, -1, SQLITE_STATIC);
		sqlite3_bind_int64(st, 4, v->step);
		sqlite3_bind_double(st, 5, v->value); /* NaN becomes NULL */
		sqlite3_bind_text(st, 6, f->items[v->file].shown, -1, SQLITE_STATIC);
		rc = ls_sql_next(s, st, err);
		*changed += rc ? 0 : (size_t)sqlite3_changes(sqlite3_db_handle(st));
		sqlite3_reset(st);
	}
	ls_sql_done(st);
	return rc;
}

/* One attempt in one transaction; its history says so only where something is new. */
static int keep_points(struct ls_store *s, const char *uuid, const json_t *attempt,
		       const struct ls_points_files *f, size_t *ret_changed, struct ls_err *err)
{
	size_t changed = 0;
	if (f->n == 0)
		return 0;
	int rc = ls_tx_begin(s, err);
	if (rc)
		return rc;
	rc = write_values(s, attempt, f, &changed, err);
	if (!rc && changed) {
		char *text = ls_xasprintf("%zu values", changed);
		rc = ls_event(s, uuid, "harvested", ls_col_int(attempt, "attempt", 0), NULL, text,
			      err);
		free(text);
	}
	rc = ls_tx_end(s, rc, err);
	if (!rc)
		*ret_changed += changed;
	return rc;
}

static void count(const struct ls_points_files *f, json_t *names, struct ls_harvested *h)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct ls_points *p = &f->items[i].points;
		for (size_t k = 0; k < p->n_names; k++)
			json_object_set_new(names, p->names[k], json_true());
	}
	h->values += f->n_values;
	h->files += f->n;
	h->metrics = json_object_size(names);
	h->attempts++;
}

static int one_attempt(struct ls_store *s, const json_t *row, const json_t *attempt,
		       const json_t *rules, json_t *names, struct ls_harvested *h,
		       struct ls_err *err)
{
	struct ls_points_files files = {0};
	char *folder = ls_xasprintf("%s/%s", ls_store_root(s), ls_col_text(attempt, "folder"));
	int rc = ls_harvest_manifest(s, attempt, err);
	if (!rc)
		rc = ls_points_gather(folder, rules, ls_col_text(attempt, "ended") != NULL, &files,
				      h->notes, err);
	if (!rc)
		rc = keep_points(s, ls_col_text(row, "uuid"), attempt, &files, &h->changed, err);
	if (!rc)
		count(&files, names, h);
	else
		ls_err_prefix(err, "%s: attempt %lld", ls_col_text(row, "name"),
			      (long long)ls_col_int(attempt, "attempt", 0));
	ls_points_files_done(&files);
	free(folder);
	return rc;
}

int ls_harvest(struct ls_store *s, const json_t *row, const json_t *rules, struct ls_harvested *ret,
	       struct ls_err *err)
{
	const json_t *own = json_object_get(row, "harvest");
	json_t *use = json_incref((json_t *)(uintptr_t)(rules ? rules : own)), *attempts = NULL, *a;
	struct ls_harvested h = {0};
	size_t i;
	if (json_array_size(use) == 0) {
		json_decref(use);
		use = ls_rules_usual();
	}
	int rc = ls_rules_check(use, err);
	if (!rc)
		rc = ls_sql_all(s, &attempts, err,
				"SELECT experiment AS id, number AS attempt, folder, ended FROM "
				"attempt WHERE experiment = ? ORDER BY number",
				"i", ls_col_int(row, "id", 0));
	json_t *names = json_object();
	h.notes = json_array();
	json_array_foreach(attempts, i, a) if (!rc) rc =
		one_attempt(s, row, a, use, names, &h, err);
	json_decref(names);
	json_decref(attempts);
	json_decref(use);
	if (rc)
		json_decref(h.notes);
	else
		*ret = h;
	return rc;
}
