#include "job/running.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "job/attempt.h"
#include "job/metric_file.h"
#include "job/queue.h"
#include "job/rule.h"
#include "job/slurm_folder.h"
#include "job/sql.h"
#include "run/folder.h"

/* Lines are added at the end of these, so that a reader can follow. */
static bool grows_by_lines(const char *path)
{
	enum ls_metric_kind kind = ls_metric_kind_of(path);
	return kind == LS_METRIC_LINES || kind == LS_METRIC_CSV || kind == LS_METRIC_TSV;
}

static void add_matching(const struct ls_tree *tree, const char *rule, json_t *files)
{
	for (size_t i = 0; i < tree->n && json_array_size(files) < LS_RUNNING_FILES; i++) {
		const struct ls_tree_entry *e = &tree->items[i];
		if (e->link || !ls_rule_matches(rule, e->path) || !grows_by_lines(e->path))
			continue;
		char *path = ls_xasprintf("%s/%s", tree->root, e->path);
		json_array_append_new(files, ls_json_lossy(path));
		free(path);
	}
}

static json_t *files_of(const char *folder, json_t *own)
{
	json_t *files = json_array(), *rule;
	json_t *rules = json_array_size(own) ? json_incref(own) : ls_rules_usual();
	char *out = ls_xasprintf("%s/out", folder);
	struct ls_tree tree = {0};
	struct ls_err unused = {0};
	size_t i;
	if (ls_file_exists(out) && ls_tree_read(out, &tree, &unused) == 0) {
		json_array_foreach(rules, i, rule)
			add_matching(&tree, json_string_value(rule), files);
		ls_tree_done(&tree);
	}
	free(out);
	json_decref(rules);
	return files;
}

/* Slurm's number of this attempt, which an element of an array has for itself. */
static json_t *job_of(const char *folder)
{
	json_t *start = ls_slurm_start(folder, NULL), *job = json_object_get(start, "job");
	json_t *ret = json_is_string(job) ? json_incref(job) : json_null();
	json_decref(start);
	return ret;
}

static void complete(struct ls_store *s, json_t *row)
{
	char *folder = ls_xasprintf("%s/%s", ls_store_root(s), ls_col_text(row, "folder"));
	char *lock = ls_queue_lock(s, ls_col_text(row, "token"));
	json_object_set_new(row, "supervisor", json_integer(ls_attempt_supervisor(lock)));
	json_object_set_new(row, "job", job_of(folder));
	json_object_set_new(row, "files", files_of(folder, json_object_get(row, "harvest")));
	json_object_del(row, "folder");
	json_object_del(row, "harvest");
	free(lock);
	free(folder);
}

int ls_running(struct ls_store *s, json_t **ret, struct ls_err *err)
{
	json_t *row;
	size_t i;
	int rc = ls_sql_all(s, ret, err,
			    "SELECT e.name, e.harvest AS json_harvest, a.token, a.folder"
			    " FROM experiment e JOIN attempt a"
			    " ON a.experiment = e.id AND a.number = e.attempt"
			    " WHERE e.state = 'running' ORDER BY e.id LIMIT ?",
			    "i", (int64_t)LS_RUNNING_MOST);
	if (rc)
		return rc;
	json_array_foreach(*ret, i, row) complete(s, row);
	return 0;
}
