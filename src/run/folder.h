/* Folders of a run: make the next one, remove one, list the files that were written since
 * a snapshot. A tree owns its entries (ls_tree_done); paths in it are relative to its root.
 * One thread at a time an object. */
#ifndef LS_RUN_FOLDER_H
#define LS_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/json.h"

/* PATH/001, or the first number that is not taken; *ret without symbolic links, to be
 * freed. */
int ls_folder_make_numbered(const char *path, char **ret, struct ls_err *err);
void ls_folder_remove(const char *path); /* with all it holds; symbolic links are not followed */

struct ls_tree_entry {
	char *path;
	bool link;
	int64_t size;
	int64_t mtime_ns, ctime_ns;
	ino_t inode;
};

struct ls_tree {
	char *root;
	struct ls_tree_entry *items; /* regular files and symbolic links, sorted by path */
	size_t n, cap;
};

/* Leaves out what lockstep itself keeps there: run_manifest.json, run_trace/,
 * .lockstep.*. */
int ls_tree_read(const char *root, struct ls_tree *ret, struct ls_err *err);
void ls_tree_done(struct ls_tree *tree);
/* [{"path", "bytes", "sha256"} or {"path", "link"}] for entries of after that before has
 * not or has differently. */
json_t *ls_tree_written(const struct ls_tree *before, const struct ls_tree *after);
/* {"path", "bytes", "sha256"} of a declared input; a folder's digest is that of its
 * sorted list of digests, without what lies under the folder out, which may be inside of
 * it. */
int ls_folder_digest(const char *path, const char *out, json_t **ret, struct ls_err *err);

#endif
