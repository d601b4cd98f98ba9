#include "run/seed_metric.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/folder.h"

/* FILE and NAME of "FILE:NAME"; file is "" where only a name was given. Both owned. */
struct wanted {
	char *file, *name;
};

static bool metric_file(const char *path)
{
	return ls_str_ends(path, ".json") || ls_str_ends(path, ".jsonl") ||
	       ls_str_ends(path, ".csv") || ls_str_ends(path, ".tsv") ||
	       ls_str_ends(path, ".ndjson");
}

static struct wanted split(const char *metric)
{
	for (const char *colon = metric; (colon = strchr(colon, ':')); colon++) {
		char *file = ls_xstrndup(metric, (size_t)(colon - metric));
		if (metric_file(file))
			return (struct wanted){file, ls_xstrdup(colon + 1)};
		free(file);
	}
	return (struct wanted){ls_xstrdup(""), ls_xstrdup(metric)};
}

static int find(const char *path, const char *name, struct ls_seed_metric_found *ret,
		struct ls_err *err)
{
	struct ls_map map;
	int rc = ls_file_map(path, &map, err);
	if (rc)
		return rc;
	const char *text = (const char *)map.data;
	if (ls_str_ends(path, ".csv") || ls_str_ends(path, ".tsv"))
		ls_seed_metric_csv(text, map.len, ls_str_ends(path, ".csv") ? ',' : '\t', name,
				   ret);
	else if (metric_file(path))
		ls_seed_metric_json(text, map.len, name, ret);
	else
		ls_seed_metric_log(text, map.len, name, ret);
	ls_file_unmap(&map);
	return 0;
}

static int judge(const char *path, const char *name, const struct ls_seed_metric_found *f,
		 struct ls_err *err)
{
	if (f->broken)
		return ls_err_set(err, LS_EINPUT,
				  "%s: %s stands in it, but the file is damaged or incomplete, so "
				  "that its last value is unknown",
				  path, name);
	if (f->ambiguous)
		return ls_err_set(err, LS_EINPUT,
				  "%s: several entries end in \"%s\"; name one with all its keys, "
				  "as in val/f1",
				  path, name);
	return 0;
}

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* A file's answer is taken; another file's must be the same. */
static int take(struct ls_seed_metric *m, const char *path, const char *shown, const char *name,
		struct ls_err *err)
{
	struct ls_seed_metric_found f;
	int rc = find(path, name, &f, err);
	if (rc || f.n == 0)
		return rc;
	rc = judge(path, name, &f, err);
	if (rc)
		return rc;
	if (m->source && !same(m->value, f.value))
		return ls_err_set(err, LS_EINPUT,
				  "%s is %.9g in %s and %.9g in %s; say which file is meant: "
				  "--metric %s:%s",
				  name, m->value, m->source, f.value, shown, shown, name);
	if (!m->source)
		m->source = ls_xasprintf("%s, line %zu", shown, f.line);
	m->value = f.value;
	return 0;
}

static int in_files(const char *out, const struct wanted *w, struct ls_seed_metric *m,
		    struct ls_err *err)
{
	struct ls_tree tree;
	int rc = ls_tree_read(out, &tree, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < tree.n && rc == 0; i++) {
		const struct ls_tree_entry *e = &tree.items[i];
		if (e->link || !metric_file(e->path) ||
		    (*w->file && fnmatch(w->file, e->path, 0) != 0))
			continue;
		char *path = ls_xasprintf("%s/%s", out, e->path);
		rc = take(m, path, e->path, w->name, err);
		free(path);
	}
	ls_tree_done(&tree);
	return rc;
}

int ls_seed_metric_read(const char *out, const char *log, const char *metric,
			struct ls_seed_metric *ret, struct ls_err *err)
{
	struct wanted w = split(metric);
	struct ls_seed_metric m = {0};
	int rc = *w.name ? 0
			 : ls_err_set(err, LS_EINPUT, "metric \"%s\": a name is missing", metric);
	if (rc == 0)
		rc = in_files(out, &w, &m, err);
	if (rc == 0 && !m.source && log && !*w.file)
		rc = take(&m, log, "its output", w.name, err);
	if (rc == 0 && !m.source)
		rc = ls_err_set(
			err, LS_EINPUT,
			"metric \"%s\": neither a .json, .jsonl, .csv or .tsv file under %s "
			"nor a line \"%s: NUMBER\" of the output has it",
			w.name, out, w.name);
	if (rc)
		ls_seed_metric_done(&m);
	else
		*ret = m;
	free(w.file);
	free(w.name);
	return rc;
}

void ls_seed_metric_done(struct ls_seed_metric *m)
{
	free(m->source);
	*m = (struct ls_seed_metric){0};
}
