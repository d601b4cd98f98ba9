#include "compare/compare.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "compare/compare_internal.h"
#include "tensor/tf_checkpoint.h"

enum { DEPTH_LIMIT = 64, FILE_LIMIT = 1 << 20 };

/* One thing in a folder: a file, a group of shards under the name of the whole, or a link
 * that leads out. */
struct entry {
	char *name;  /* relative */
	char *path;  /* what to open */
	char *link;  /* the target of a link that is not followed, else NULL */
	char *whole; /* an index of shards: the name that it gets, else NULL */
	char *key;   /* what it is paired by */
};

struct listing {
	const char *root;
	char *real; /* root without links */
	struct entry *items;
	size_t n, cap;
	struct ls_err *err;
};

static void listing_done(struct listing *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->items[i].name);
		free(l->items[i].path);
		free(l->items[i].link);
		free(l->items[i].key);
	}
	free(l->items);
	free(l->real);
}

static int by_entry_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* The link's target where it leads out of the folder or nowhere; NULL when it may be
 * followed. */
static char *outward(const struct listing *l, const char *path)
{
	char *real = realpath(path, NULL), target[4096];
	size_t n = strlen(l->real);
	struct stat st;
	bool inside = real && strncmp(real, l->real, n) == 0 && real[n] == '/' &&
		      stat(real, &st) == 0 && S_ISREG(st.st_mode);
	free(real);
	if (inside)
		return NULL;
	ssize_t len = readlink(path, target, sizeof target - 1);
	target[len > 0 ? len : 0] = 0;
	return ls_xstrdup(target);
}

static int add_entry(struct listing *l, const char *relative, char *path_take, char *link_take)
{
	if (l->n == FILE_LIMIT) {
		free(path_take);
		free(link_take);
		return ls_err_set(l->err, LS_EINPUT, "%s: more than %d files", l->root, FILE_LIMIT);
	}
	l->items = ls_grow(l->items, l->n, &l->cap, sizeof *l->items);
	l->items[l->n++] = (struct entry){ls_xstrdup(relative), path_take, link_take, NULL, NULL};
	return 0;
}

static int list_folder(struct listing *l, const char *relative, int depth);

static int list_one(struct listing *l, const char *relative, int depth)
{
	char *path = ls_xasprintf("%s/%s", l->root, relative);
	struct stat st;
	if (lstat(path, &st) < 0) {
		int rc = ls_err_errno(l->err, path, "look at");
		free(path);
		return rc;
	}
	if (S_ISDIR(st.st_mode)) {
		free(path);
		return list_folder(l, relative, depth + 1);
	}
	if (S_ISLNK(st.st_mode))
		return add_entry(l, relative, path, outward(l, path));
	if (S_ISREG(st.st_mode))
		return add_entry(l, relative, path, NULL);
	free(path); /* sockets, devices and pipes are not what a run leaves */
	return 0;
}

static int list_folder(struct listing *l, const char *relative, int depth)
{
	char *path = *relative ? ls_xasprintf("%s/%s", l->root, relative) : ls_xstrdup(l->root);
	DIR *d = depth < DEPTH_LIMIT ? opendir(path) : NULL;
	int rc = 0;
	if (!d)
		rc = depth < DEPTH_LIMIT
			     ? ls_err_errno(l->err, path, "open")
			     : ls_err_set(l->err, LS_EINPUT, "%s: folders nested deeper than %d",
					  path, DEPTH_LIMIT);
	for (struct dirent *e; rc == 0 && (e = readdir(d));) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		char *name = *relative ? ls_xasprintf("%s/%s", relative, e->d_name)
				       : ls_xstrdup(e->d_name);
		rc = list_one(l, name, depth);
		free(name);
	}
	if (d)
		closedir(d);
	free(path);
	return rc;
}

static struct entry *find_entry(struct listing *l, const char *name)
{
	struct entry key = {.name = (char *)(uintptr_t)name};
	return bsearch(&key, l->items, l->n, sizeof key, by_entry_name);
}

/* Marks what lies beside the .metadata of a distributed checkpoint. */
static void drop_distcp(struct listing *l, const struct entry *metadata)
{
	size_t folder = strlen(metadata->name) - strlen(".metadata");
	for (size_t i = 0; i < l->n; i++) {
		struct entry *e = &l->items[i];
		if (e->link || strncmp(e->name, metadata->name, folder) != 0 ||
		    strchr(e->name + folder, '/') || !ls_str_ends(e->name, ".distcp"))
			continue;
		free(e->path);
		e->path = NULL;
	}
}

static bool is_metadata(const struct entry *e)
{
	const char *slash = strrchr(e->name, '/');
	return !e->link && strcmp(slash ? slash + 1 : e->name, ".metadata") == 0;
}

/* Marks a shard as part of another entry. */
static void drop(struct listing *l, char *name_take)
{
	struct entry *e = find_entry(l, name_take);
	if (e && e->path && !e->link) {
		free(e->path);
		e->path = NULL;
	}
	free(name_take);
}

/* Marks the shards of a TensorFlow checkpoint, which lie beside NAME.index. */
static void drop_tf_shards(struct listing *l, const struct entry *index)
{
	struct ls_map map;
	if (ls_file_map(index->path, &map, NULL))
		return;
	size_t n = ls_tf_shards(&map), stem = strlen(index->name) - strlen(".index");
	ls_file_unmap(&map);
	for (size_t i = 0; i < n; i++)
		drop(l, ls_tf_shard_name(index->name, stem, i, n));
}

/* Marks the shards that an index names: they are compared under the name of the whole. */
static void drop_shards(struct listing *l, const struct entry *index)
{
	json_t *v = NULL, *weights, *shard;
	const char *key, *slash = strrchr(index->name, '/');
	if (ls_json_load(index->path, &v, NULL))
		return;
	weights = json_object_get(v, "weight_map");
	json_object_foreach(weights, key, shard)
	{
		if (!json_is_string(shard))
			continue;
		drop(l, ls_xasprintf("%.*s%s", slash ? (int)(slash + 1 - index->name) : 0,
				     index->name, json_string_value(shard)));
	}
	json_decref(v);
}

/* model.safetensors.index.json and its shards become one entry, model.safetensors, unless
 * that is there itself. */
static void group_shards(struct listing *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct entry *e = &l->items[i];
		if (is_metadata(e))
			drop_distcp(l, e);
		if (!e->link && e->path && ls_str_ends(e->name, ".index"))
			drop_tf_shards(l, e);
		if (e->link || (!ls_str_ends(e->name, ".safetensors.index.json") &&
				!ls_str_ends(e->name, ".bin.index.json")))
			continue;
		char *whole = ls_xstrndup(e->name, strlen(e->name) - strlen(".index.json"));
		if (!find_entry(l, whole)) {
			drop_shards(l, e);
			e->whole = whole;
		} else {
			free(whole);
		}
	}
	size_t kept = 0;
	for (size_t i = 0; i < l->n; i++) {
		struct entry e = l->items[i];
		if (e.whole || !e.path)
			free(e.name);
		if (e.whole)
			e.name = e.whole;
		e.whole = NULL;
		if (e.path)
			l->items[kept++] = e;
	}
	l->n = kept;
	qsort(l->items, l->n, sizeof *l->items, by_entry_name);
}

static int list(struct listing *l, const char *root, struct ls_err *err)
{
	*l = (struct listing){.root = root, .real = realpath(root, NULL), .err = err};
	if (!l->real)
		return ls_err_errno(err, root, "open");
	int rc = list_folder(l, "", 0);
	if (rc)
		return rc;
	if (l->n) {
		qsort(l->items, l->n, sizeof *l->items, by_entry_name);
		group_shards(l);
	}
	return 0;
}

static struct ls_cmp_file *add_file(struct ls_comparison *c, const char *name)
{
	c->files = ls_grow(c->files, c->n_files, &c->cap_files, sizeof *c->files);
	struct ls_cmp_file *f = &c->files[c->n_files++];
	*f = (struct ls_cmp_file){.name = ls_xstrdup(name), .format = "bytes"};
	return f;
}

static void count_beyond(struct ls_comparison *c, struct ls_cmp_file *f)
{
	for (size_t i = 0; i < f->n_items; i++) {
		const struct ls_cmp_item *item = &f->items[i];
		if (item->own)
			continue;
		f->beyond += !item->within;
		c->tensors_beyond += item->kind == LS_CMP_TENSOR && !item->within;
		c->values_beyond += item->kind == LS_CMP_VALUE && !item->within;
		c->columns_beyond += item->kind == LS_CMP_COLUMN && !item->within;
	}
	c->beyond += f->beyond;
}

static void count_file(struct ls_comparison *c, struct ls_cmp_file *f)
{
	count_beyond(c, f);
	c->tensors += f->tensors;
	c->tensors_differ += f->tensors_differ;
	c->values += f->values;
	c->values_differ += f->values_differ;
	c->columns += f->columns;
	c->columns_differ += f->columns_differ;
	c->files_differ += f->differs;
	c->differs |= f->differs;
	c->unread += f->unread;
	c->own += f->own;
}

/* A link that leads out is compared by its text. */
static void compare_links(struct ls_cmp_file *f, const struct entry *a, const struct entry *b)
{
	f->format = "link";
	f->whole = true;
	f->values = 1;
	if (a->link && b->link && strcmp(a->link, b->link) == 0)
		return;
	struct ls_cmp_item *item =
		ls_cmp_add(f, LS_CMP_VALUE, LS_CMP_DIFFERS, "link (not followed)");
	item->a = ls_xstrdup(a->link ? a->link : "a file");
	item->b = ls_xstrdup(b->link ? b->link : "a file");
	f->values_differ = 1;
}

static int compare_entry(struct ls_comparison *c, const struct entry *a, const struct entry *b,
			 const struct ls_cmp_options *opt, struct ls_err *err)
{
	assert(a || b);
	const char *name = (a ? a : b)->name;
	if (ls_cmp_ignored(opt, name)) {
		c->ignored++;
		return 0;
	}
	struct ls_cmp_file *f = add_file(c, name);
	int rc = 0;
	if (a && b && strcmp(a->name, b->name) != 0) {
		f->name_b = ls_xstrdup(b->name);
		f->own++;
	}
	if (!a || !b)
		ls_cmp_add(f, LS_CMP_FILE, a ? LS_CMP_ONLY_A : LS_CMP_ONLY_B, name);
	else if (a->link || b->link)
		compare_links(f, a, b);
	else
		rc = ls_cmp_file(a->path, b->path, false, opt, f, err);
	count_file(c, f);
	return rc;
}

static int by_key(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->key, y->key);
	return order ? order : strcmp(x->name, y->name);
}

/* TensorBoard's files are named by time, host and process; those of one folder are paired
 * in their order. */
static char *events_key(const char *name)
{
	static const char mark[] = "events.out.tfevents.";
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	if (!ls_str_starts(base, mark))
		return ls_xstrdup(name);
	return ls_xasprintf("%.*s%s*%s", (int)(base - name), name, mark,
			    ls_str_ends(name, ".v2") ? ".v2" : "");
}

/* Names without what names the run, for the entries that the other side does not have
 * under the same name; the others keep theirs. Twins are told apart by their order. */
static void find_keys(struct listing *l, struct listing *other, const struct ls_own_run *run)
{
	for (size_t i = 0; i < l->n; i++) {
		struct entry *e = &l->items[i];
		bool alone = !find_entry(other, e->name);
		e->key = !alone ? ls_xstrdup(e->name)
			 : run  ? ls_own_name(run, e->name)
				: events_key(e->name);
	}
}

/* Sorts by keys; of twins the second gets another one. */
static void sort_by_key(struct listing *l)
{
	size_t twin = 0;
	if (l->n)
		qsort(l->items, l->n, sizeof *l->items, by_key);
	for (size_t i = 1; i < l->n; i++) {
		bool same = strcmp(l->items[i].key, l->items[i - 1 - twin].key) == 0;
		twin = same ? twin + 1 : 0;
		if (!same)
			continue;
		char *key = ls_xasprintf("%s\001#%06zu", l->items[i].key, twin);
		free(l->items[i].key);
		l->items[i].key = key;
	}
	if (l->n)
		qsort(l->items, l->n, sizeof *l->items, by_key);
}

static void pair_names(struct listing *a, struct listing *b, const struct ls_own *own)
{
	find_keys(a, b, own ? &own->a : NULL);
	find_keys(b, a, own ? &own->b : NULL);
	sort_by_key(a);
	sort_by_key(b);
}

static int compare_folders(struct ls_comparison *c, const struct ls_cmp_options *opt,
			   struct ls_err *err)
{
	struct listing a = {0}, b = {0};
	int rc = list(&a, c->a, err);
	if (rc == 0)
		rc = list(&b, c->b, err);
	if (rc == 0)
		pair_names(&a, &b, opt->own);
	for (size_t i = 0, j = 0; rc == 0 && (i < a.n || j < b.n);) {
		int order = i == a.n ? 1 : j == b.n ? -1 : strcmp(a.items[i].key, b.items[j].key);
		rc = compare_entry(c, order <= 0 ? &a.items[i] : NULL,
				   order >= 0 ? &b.items[j] : NULL, opt, err);
		i += order <= 0;
		j += order >= 0;
	}
	listing_done(&a);
	listing_done(&b);
	if (rc == 0 && c->n_files == 0 && c->ignored == 0)
		return ls_err_set(
			err, LS_EINPUT,
			"%s and %s: both folders are empty, so there is nothing to compare", c->a,
			c->b);
	return rc;
}

static int compare_two_files(struct ls_comparison *c, const struct ls_cmp_options *opt,
			     struct ls_err *err)
{
	struct ls_cmp_file *f = add_file(c, "");
	int rc = ls_cmp_file(c->a, c->b, true, opt, f, err);
	if (rc == 0)
		count_file(c, f);
	return rc;
}

/* What is left out cannot be called identical: something must have been compared. */
static int check_compared(struct ls_comparison *c, struct ls_err *err)
{
	uint64_t ignored = c->ignored;
	for (size_t i = 0; i < c->n_files; i++) {
		const struct ls_cmp_file *f = &c->files[i];
		ignored += f->ignored;
		if (f->whole || f->differs || f->ignored == 0 || f->tensors || f->values ||
		    f->columns)
			return 0;
	}
	if (ignored == 0)
		return 0;
	return ls_err_set(err, LS_EINPUT,
			  "%s and %s: every name in them is ignored, so nothing was compared; use "
			  "narrower patterns with --ignore",
			  c->a, c->b);
}

static int is_folder(const char *path, bool *ret, struct ls_err *err)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return ls_err_errno(err, path, "open");
	*ret = S_ISDIR(st.st_mode);
	return 0;
}

int ls_compare(const char *a, const char *b, const struct ls_cmp_options *opt,
	       struct ls_comparison **ret, struct ls_err *err)
{
	bool folder_a = false, folder_b = false;
	int rc = is_folder(a, &folder_a, err);
	if (rc == 0)
		rc = is_folder(b, &folder_b, err);
	if (rc)
		return rc;
	if (folder_a != folder_b)
		return ls_err_set(err, LS_EINPUT, "%s is a %s, %s a %s: give two of a kind", a,
				  folder_a ? "folder" : "file", b, folder_b ? "folder" : "file");
	struct ls_comparison *c = ls_xalloc(sizeof *c);
	c->a = ls_xstrdup(a);
	c->b = ls_xstrdup(b);
	c->folders = folder_a;
	if (opt->n_tolerance)
		c->tolerance = ls_xstrdup(opt->tolerance_text ? opt->tolerance_text : "");
	rc = folder_a ? compare_folders(c, opt, err) : compare_two_files(c, opt, err);
	if (rc == 0)
		rc = check_compared(c, err);
	c->undecided = !c->differs && c->unread;
	c->differs |= c->undecided;
	if (rc)
		ls_comparison_free(c);
	else
		*ret = c;
	return rc;
}

void ls_cmp_file_done(struct ls_cmp_file *f)
{
	ls_cmp_items_done(f);
	free(f->items);
	free(f->name);
	free(f->name_b);
	free(f->note);
	*f = (struct ls_cmp_file){0};
}

void ls_comparison_free(struct ls_comparison *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_files; i++)
		ls_cmp_file_done(&c->files[i]);
	free(c->files);
	free(c->tolerance);
	free(c->a);
	free(c->b);
	free(c);
}
