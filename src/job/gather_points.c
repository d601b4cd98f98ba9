#include "job/gather_points.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "job/metric_file.h"
#include "job/rule.h"
#include "run/folder.h"

void ls_points_files_done(struct ls_points_files *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->items[i].shown);
		ls_points_done(&f->items[i].points);
	}
	free(f->items);
	free(f->values);
	*f = (struct ls_points_files){0};
}

/* Takes the points; a file without any is forgotten. */
static void add_file(struct ls_points_files *f, const char *shown, struct ls_points *points)
{
	if (points->n == 0) {
		ls_points_done(points);
		return;
	}
	f->items = ls_grow(f->items, f->n, &f->cap, sizeof *f->items);
	f->items[f->n++] = (struct ls_points_file){ls_xstrdup(shown), *points};
}

static void note_cut(json_t *notes, const char *shown)
{
	char *text = ls_xasprintf("%s ends within a record, which is left out", shown);
	json_array_append_new(notes, ls_json_lossy(text));
	free(text);
}

/* --- reading --- */

static bool wanted(const json_t *rules, const char *path)
{
	const json_t *rule;
	size_t i;
	json_array_foreach(rules, i, rule)
	{
		if (ls_rule_matches(json_string_value(rule), path))
			return ls_metric_kind_of(path) != LS_METRIC_NONE;
	}
	return false;
}

static int read_files(const char *out, const json_t *rules, bool ended, struct ls_points_files *f,
		      json_t *notes, struct ls_err *err)
{
	struct ls_tree tree;
	if (!ls_file_exists(out))
		return 0;
	int rc = ls_tree_read(out, &tree, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < tree.n && !rc; i++) {
		const char *path = tree.items[i].path;
		if (tree.items[i].link || !wanted(rules, path))
			continue;
		struct ls_points points = {0};
		bool cut = false;
		char *full = ls_xasprintf("%s/%s", out, path);
		rc = ls_metric_file_read(full, path, ended, &points, &cut, err);
		free(full);
		if (cut)
			note_cut(notes, path);
		add_file(f, path, &points);
	}
	ls_tree_done(&tree);
	return rc;
}

static int read_printed(const char *folder, const json_t *rules, bool ended,
			struct ls_points_files *f, struct ls_err *err)
{
	const json_t *rule;
	size_t i;
	int rc = 0;
	struct ls_map map;
	struct ls_points points = {0};
	char *log = ls_xasprintf("%s/output.log", folder);
	bool there = ls_file_exists(log) && !(rc = ls_file_map(log, &map, err));
	json_array_foreach(rules, i, rule)
	{
		const char *pattern = ls_rule_printed(json_string_value(rule));
		if (!there || !pattern || rc)
			continue;
		const char *text = (const char *)map.data;
		const char *last = ended ? NULL : memrchr(text, '\n', map.len);
		size_t len = ended ? map.len : last ? (size_t)(last - text) : 0;
		rc = ls_metric_printed(text, len, pattern, &points, err);
	}
	if (there)
		ls_file_unmap(&map);
	free(log);
	add_file(f, "stdout", &points);
	return rc;
}

/* --- one name in several files --- */

/* The folder that a file lies in, without those above: "validation". Into ret, cut to its
 * size. */
static void folder_of(const struct ls_points_file *f, char *ret, size_t size)
{
	const char *end = strrchr(f->shown, '/'), *start = end;
	while (start && start > f->shown && start[-1] != '/')
		start--;
	snprintf(ret, size, "%.*s", end ? (int)(end - start) : 0, start ? start : "");
}

static bool same_folder(const struct ls_points_file *a, const struct ls_points_file *b)
{
	const char *x = strrchr(a->shown, '/'), *y = strrchr(b->shown, '/');
	size_t n = x ? (size_t)(x - a->shown) : 0, m = y ? (size_t)(y - b->shown) : 0;
	return n == m && memcmp(a->shown, b->shown, n) == 0;
}

/* Marks the names that another folder's file has, too. */
static void mark_shared(const struct ls_points_files *f, size_t i, bool *shared)
{
	const struct ls_points *p = &f->items[i].points;
	for (size_t k = 0; k < p->n_names; k++)
		for (size_t j = 0; j < f->n && !shared[k]; j++)
			shared[k] = !same_folder(&f->items[i], &f->items[j]) &&
				    json_object_get(f->items[j].points.by_name, p->names[k]);
}

static void put_folder_before(struct ls_points_file *f, const bool *shared)
{
	char folder[200];
	folder_of(f, folder, sizeof folder);
	for (size_t k = 0; k < f->points.n_names && *folder; k++) {
		if (!shared[k])
			continue;
		struct ls_str name = {0};
		ls_str_add_printable(&name, folder);
		ls_str_addf(&name, "/%s", f->points.names[k]);
		free(f->points.names[k]);
		f->points.names[k] = ls_str_take(&name);
	}
}

static void tell_apart(struct ls_points_files *f)
{
	bool **shared = ls_xalloc((f->n + 1) * sizeof *shared);
	for (size_t i = 0; i < f->n; i++) {
		shared[i] = ls_xalloc((f->items[i].points.n_names + 1) * sizeof **shared);
		mark_shared(f, i, shared[i]);
	}
	for (size_t i = 0; i < f->n; i++) {
		put_folder_before(&f->items[i], shared[i]);
		free(shared[i]);
	}
	free(shared);
}

/* --- two files that disagree --- */

static int by_place(const void *a, const void *b)
{
	const struct ls_value *x = a, *y = b;
	int c = strcmp(x->name, y->name);
	if (!c)
		c = (x->step > y->step) - (x->step < y->step);
	return c ? c : (x->order > y->order) - (x->order < y->order);
}

static bool same(double a, double b)
{
	return a == b || (a != a && b != b);
}

static int disagree(const struct ls_points_files *f, const struct ls_value *a,
		    const struct ls_value *b, struct ls_err *err)
{
	return ls_err_set(err, LS_EINPUT,
			  "%s at step %lld is %.9g in %s and %.9g in %s; say which file is meant "
			  "with --rule %s",
			  a->name, (long long)a->step, a->value, f->items[a->file].shown, b->value,
			  f->items[b->file].shown, f->items[a->file].shown);
}

static int all_values(const struct ls_points_files *f, struct ls_value **ret, size_t *ret_n,
		      struct ls_err *err)
{
	size_t n = 0, at = 0;
	for (size_t i = 0; i < f->n; i++)
		n += f->items[i].points.n;
	struct ls_value *v = ls_alloc_array(n + 1, sizeof *v);
	if (!v)
		return ls_err_set(err, LS_ENOMEM, "no memory for %zu values", n);
	for (size_t i = 0; i < f->n; i++)
		for (size_t k = 0; k < f->items[i].points.n; k++, at++) {
			const struct ls_point *p = &f->items[i].points.items[k];
			v[at] = (struct ls_value){f->items[i].points.names[p->name], p->step,
						  p->value, i, at};
		}
	qsort(v, n, sizeof *v, by_place);
	*ret = v;
	*ret_n = n;
	return 0;
}

/* Within one folder the later file goes on from the earlier one, as after a resume. */
static int settle(struct ls_points_files *f, struct ls_err *err)
{
	struct ls_value *v = NULL;
	size_t n = 0, kept = 0;
	int rc = all_values(f, &v, &n, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < n && !rc; i++) {
		struct ls_value *last = kept ? &v[kept - 1] : NULL;
		bool again = last && last->step == v[i].step && strcmp(last->name, v[i].name) == 0;
		if (again && !same(last->value, v[i].value) &&
		    !same_folder(&f->items[last->file], &f->items[v[i].file]))
			rc = disagree(f, last, &v[i], err);
		v[again ? kept - 1 : kept] = v[i];
		kept += !again;
	}
	f->values = v;
	f->n_values = kept;
	return rc;
}

int ls_points_gather(const char *folder, const json_t *rules, bool ended,
		     struct ls_points_files *ret, json_t *notes, struct ls_err *err)
{
	struct ls_points_files f = {0};
	char *out = ls_xasprintf("%s/out", folder);
	int rc = read_files(out, rules, ended, &f, notes, err);
	if (!rc)
		rc = read_printed(folder, rules, ended, &f, err);
	if (!rc) {
		tell_apart(&f);
		rc = settle(&f, err);
	}
	if (rc)
		ls_points_files_done(&f);
	else
		*ret = f;
	free(out);
	return rc;
}
