/* The site folders of an interpreter, in the order of sys.path, and what lies in them. A
 * list owns its texts until ls_sites_done. Paths are without the root prefix. Read-only
 * once collected; any thread. */
#ifndef LS_ENV_PYTHON_SITE_H
#define LS_ENV_PYTHON_SITE_H

#include <stdbool.h>
#include <stddef.h>

struct ls_site {
	char *dir;
	char **names; /* what lies in it, sorted, NULL-terminated; NULL when it cannot be read */
};

struct ls_sites {
	struct ls_site *items;
	size_t n, cap;
	/* A .pth file with a line of Python that may add folders or import hooks, or
	 * NULL. Lines that are known to do neither (setuptools, virtualenv, namespace
	 * packages, editable installs) do not count. */
	char *program;
};

struct ls_site_layout {
	const char *prefix, *base; /* sys.prefix and sys.base_prefix */
	const char *minor;         /* "3.11"; NULL: unknown, only PYTHONPATH is collected */
	bool venv;                 /* prefix is a venv */
	bool system_site;          /* and sees the base installation's packages */
};

/* PYTHONPATH, the venv, the user's and the installation's folders, each with what its
 * .pth files add. env: "NAME=value", NULL-terminated. */
void ls_sites_collect(const char *root, const char *const *env, const struct ls_site_layout *layout,
		      struct ls_sites *ret);
void ls_sites_done(struct ls_sites *sites);

/* The first site folder that holds relative (a file or folder), as a whole path; NULL
 * when none does. The caller frees. */
char *ls_sites_file(const char *root, const struct ls_sites *sites, const char *relative);

#endif
