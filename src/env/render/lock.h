/* A lock: which file of each package is meant, by its hashes. Read from the report of
 * `pip install --dry-run --report`, or from a requirements.txt with --hash. The lock owns
 * its texts (ls_lock_free, NULL is fine). No state; any thread. */
#ifndef LS_ENV_RENDER_LOCK_H
#define LS_ENV_RENDER_LOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "env/spec/spec.h"

enum { LS_LOCK_LIMIT = 64 << 20 }; /* bytes that a file may have */

struct ls_locked {
	char *name;    /* normalised: lower case, dashes */
	char *version; /* exactly this */
	char *marker;  /* where it is wanted ("sys_platform == 'win32'"), or "" */
	char **hashes; /* "sha256:…", at least one */
	size_t n_hashes, cap_hashes;
};

struct ls_lock {
	char *path;
	char *python, *machine;  /* for which it was made, or NULL: the file does not say */
	struct ls_locked *items; /* in the order of names; each name once */
	size_t n, cap;
};

int ls_lock_parse(const char *text, size_t len, const char *path, struct ls_lock **ret,
		  struct ls_err *err);
void ls_lock_free(struct ls_lock *lock);
const struct ls_locked *ls_lock_find(const struct ls_lock *lock, const char *name); /* or NULL */

/* Asks pip of that interpreter what it would install for the spec. It reads the index's
 * metadata and starts nothing that it downloads. LS_EUNKNOWN when pip has no answer, as
 * without a network. */
int ls_lock_ask_pip(const struct ls_spec *spec, const char *python, struct ls_lock **ret,
		    struct ls_err *err);

#endif
