#include "run/folder.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/folder.h"
#include "base/mem.h"
#include "base/str.h"

int ls_folder_make_numbered(const char *out, char **ret, struct ls_err *err)
{
	int rc = ls_folder_make(out, err);
	for (int i = 1; rc == 0 && i < 100000; i++) {
		char *dir = ls_xasprintf("%s/%03d", out, i);
		if (mkdir(dir, 0777) == 0) {
			*ret = realpath(dir, NULL);
			free(dir);
			return *ret ? 0 : ls_err_errno(err, out, "resolve");
		}
		if (errno != EEXIST)
			rc = ls_err_errno(err, dir, "make the folder");
		free(dir);
	}
	return rc ? rc : ls_err_set(err, LS_EIO, "%s: no free number for a new folder", out);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static FTS *open_walk(const char *path)
{
	char *roots[] = {(char *)(uintptr_t)path, NULL};
	return fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
}

void ls_folder_remove(const char *path)
{
	FTS *walk = open_walk(path);
	if (!walk)
		return;
	for (FTSENT *e; (e = fts_read(walk));) {
		if (e->fts_info == FTS_DP || e->fts_info == FTS_DNR)
			rmdir(e->fts_accpath);
		else if (e->fts_info != FTS_D)
			unlink(e->fts_accpath);
	}
	fts_close(walk);
}

static bool is_ours(const FTSENT *e)
{
	return e->fts_level == 1 && (strcmp(e->fts_name, "run_manifest.json") == 0 ||
				     strcmp(e->fts_name, "run_trace") == 0 ||
				     ls_str_starts(e->fts_name, "run_manifest.json.tmp.") ||
				     ls_str_starts(e->fts_name, ".lockstep."));
}

static void add_entry(struct ls_tree *tree, const FTSENT *e)
{
	const struct stat *st = e->fts_statp;
	tree->items = ls_grow(tree->items, tree->n, &tree->cap, sizeof *tree->items);
	tree->items[tree->n++] = (struct ls_tree_entry){
		.path = ls_xstrdup(e->fts_path + strlen(tree->root) + 1),
		.link = e->fts_info == FTS_SL || e->fts_info == FTS_SLNONE,
		.size = st->st_size,
		.mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
		.ctime_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec,
		.inode = st->st_ino,
	};
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct ls_tree_entry *)a)->path,
		      ((const struct ls_tree_entry *)b)->path);
}

int ls_tree_read(const char *root, struct ls_tree *ret, struct ls_err *err)
{
	struct ls_tree tree = {.root = ls_xstrdup(root)};
	FTS *walk = open_walk(root);
	if (!walk) {
		free(tree.root);
		return ls_err_errno(err, root, "list the folder");
	}
	for (FTSENT *e; (e = fts_read(walk));) {
		if (is_ours(e))
			fts_set(walk, e, FTS_SKIP);
		else if (e->fts_info == FTS_F || e->fts_info == FTS_SL || e->fts_info == FTS_SLNONE)
			add_entry(&tree, e);
	}
	fts_close(walk);
	if (tree.n)
		qsort(tree.items, tree.n, sizeof *tree.items, by_path);
	*ret = tree;
	return 0;
}

void ls_tree_done(struct ls_tree *tree)
{
	for (size_t i = 0; i < tree->n; i++)
		free(tree->items[i].path);
	free(tree->items);
	free(tree->root);
	*tree = (struct ls_tree){0};
}

static bool unchanged(const struct ls_tree *before, const struct ls_tree_entry *now)
{
	const struct ls_tree_entry *old =
		before->n ? bsearch(now, before->items, before->n, sizeof *before->items, by_path)
			  : NULL;
	return old && old->link == now->link && old->size == now->size &&
	       old->mtime_ns == now->mtime_ns && old->ctime_ns == now->ctime_ns &&
	       old->inode == now->inode;
}

static json_t *entry_json(const char *root, const struct ls_tree_entry *e)
{
	char *full = ls_xasprintf("%s/%s", root, e->path), hex[LS_SHA256_HEX];
	json_t *o = json_object();
	struct ls_err err;
	json_object_set_new(o, "path", ls_json_lossy(e->path));
	if (e->link) {
		char target[4096];
		ssize_t n = readlink(full, target, sizeof target - 1);
		target[n > 0 ? n : 0] = 0;
		json_object_set_new(o, "link", ls_json_lossy(target));
	} else if (ls_sha256_file(full, hex, &err) == 0) {
		json_object_set_new(o, "bytes", json_integer(e->size));
		json_object_set_new(o, "sha256", json_string(hex));
	} else {
		json_object_set_new(o, "unknown", ls_json_lossy(err.msg));
	}
	free(full);
	return o;
}

json_t *ls_tree_written(const struct ls_tree *before, const struct ls_tree *after)
{
	json_t *list = json_array();
	for (size_t i = 0; i < after->n; i++)
		if (!unchanged(before, &after->items[i]))
			json_array_append_new(list, entry_json(after->root, &after->items[i]));
	return list;
}

/* Where the folder out lies within root, as "runs/a/", or NULL. */
static char *within(const char *root, const char *out)
{
	char *real = realpath(root, NULL), *below = NULL;
	size_t n = real ? strlen(real) : 0;
	if (n && strncmp(out, real, n) == 0 && out[n] == '/')
		below = ls_xasprintf("%s/", out + n + 1);
	free(real);
	return below;
}

static int digest_tree(const char *path, const char *out, int64_t *ret_bytes,
		       char hex[LS_SHA256_HEX], struct ls_err *err)
{
	struct ls_tree tree;
	int rc = ls_tree_read(path, &tree, err);
	if (rc)
		return rc;
	struct ls_sha256 *all = ls_sha256_new();
	char *own = within(path, out);
	for (size_t i = 0; i < tree.n && rc == 0; i++) {
		if (own && ls_str_starts(tree.items[i].path, own))
			continue;
		char *full = ls_xasprintf("%s/%s", path, tree.items[i].path), one[LS_SHA256_HEX];
		if (tree.items[i].link)
			snprintf(one, sizeof one, "link");
		else
			rc = ls_sha256_file(full, one, err);
		ls_sha256_add(all, tree.items[i].path, strlen(tree.items[i].path) + 1);
		ls_sha256_add(all, one, rc == 0 ? strlen(one) : 0);
		*ret_bytes += tree.items[i].size;
		free(full);
	}
	free(own);
	ls_sha256_final(all, hex);
	ls_tree_done(&tree);
	return rc;
}

int ls_folder_digest(const char *path, const char *out, json_t **ret, struct ls_err *err)
{
	struct stat st;
	char hex[LS_SHA256_HEX];
	int64_t bytes = 0;
	if (stat(path, &st) < 0)
		return ls_err_errno(err, path, "read the input");
	int rc;
	if (S_ISDIR(st.st_mode)) {
		rc = digest_tree(path, out, &bytes, hex, err);
	} else {
		bytes = st.st_size;
		rc = ls_sha256_file(path, hex, err);
	}
	if (rc)
		return rc;
	*ret = json_pack("{s:o,s:b,s:I,s:s}", "path", ls_json_lossy(path), "folder",
			 S_ISDIR(st.st_mode), "bytes", (json_int_t)bytes, "sha256", hex);
	return 0;
}
