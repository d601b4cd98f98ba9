/* ld.so as far as it can be foretold from files: which shared libraries a process would
 * have after some dlopen calls, which file each comes from, and which are found nowhere.
 * Nothing is loaded. Symbol versions and what a library opens by itself are not looked
 * at. The loader owns what it hands out. One thread at a time an object. */
#ifndef LS_ENV_ELF_LOADER_H
#define LS_ENV_ELF_LOADER_H

#include <stdbool.h>
#include <stddef.h>

/* What ld.so reads of the environment, and the machine's prefix. NULL: not set. */
struct ls_loader_env {
	const char *root, *library_path, *preload;
};

struct ls_loaded {
	const char *path; /* without the root prefix */
	const char *how;  /* "LD_PRELOAD", "RPATH", "LD_LIBRARY_PATH", "RUNPATH",
			     "/etc/ld.so.cache", "default folder", "dlopen", "program" */
	const char *by;   /* path of the file that needs it, or NULL */
};

struct ls_loader;

/* program: the executable, which may be one that cannot be read. Its own libraries and
 * those of LD_PRELOAD are in. */
struct ls_loader *ls_loader_new(const struct ls_loader_env *env, const char *program);
void ls_loader_free(struct ls_loader *l);

/* As dlopen(path): that file and, breadth first, all that it needs. False when it is no
 * ELF file. Libraries that are found nowhere are added to the missing ones. */
bool ls_loader_open(struct ls_loader *l, const char *path);

/* Takes back every open since the mark, as when dlopen fails. */
struct ls_loader_mark {
	size_t loaded, missing;
};
struct ls_loader_mark ls_loader_mark(const struct ls_loader *l);
void ls_loader_undo(struct ls_loader *l, struct ls_loader_mark mark);

size_t ls_loader_count(const struct ls_loader *l);
struct ls_loaded ls_loader_at(const struct ls_loader *l, size_t i);
size_t ls_loader_missing(const struct ls_loader *l);
/* The i-th library that is found nowhere; *ret_by: the file that needs it. */
const char *ls_loader_missing_at(const struct ls_loader *l, size_t i, const char **ret_by);

#endif
