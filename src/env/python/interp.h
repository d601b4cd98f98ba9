/* The Python interpreter that would run: found on PATH or named, followed through venvs,
 * conda, pyenv shims and Debian's layout to its version and its site folders, without
 * starting it. Paths are without the root prefix. ls_interp_free frees all and accepts
 * NULL. Read-only afterwards; any thread. */
#ifndef LS_ENV_PYTHON_INTERP_H
#define LS_ENV_PYTHON_INTERP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "env/python/site.h"

struct ls_interp {
	char *path; /* the program to start: as named or found, shims replaced by what they lead to
		     */
	char *shim; /* the pyenv shim that led here, or NULL */
	const char *kind;  /* "venv", "conda", "pyenv", "system" (the distribution's) or "plain" */
	char *prefix;      /* sys.prefix */
	char *base;        /* sys.base_prefix */
	char *minor;       /* "3.11", or NULL */
	char *version;     /* "3.11.7", or NULL */
	char *source;      /* what told the version */
	char *cfg_version; /* what pyvenv.cfg says, or NULL */
	struct ls_sites sites;
};

/* python NULL: the first python3 or python on PATH. LS_ENOENT when there is none. env:
 * "NAME=value", NULL-terminated. */
int ls_interp_find(const char *root, const char *const *env, const char *python,
		   struct ls_interp **ret, struct ls_err *err);
void ls_interp_free(struct ls_interp *py);

#endif
