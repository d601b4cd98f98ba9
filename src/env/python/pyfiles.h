/* Three small files that Python installations leave: pyvenv.cfg, a distribution's
 * METADATA, torch/version.py. Each parser fills a struct whose texts the caller frees
 * with the matching _done; what a file does not say stays NULL. Texts need not end in NUL
 * and may hold anything. No state; any thread. */
#ifndef LS_ENV_PYTHON_PYFILES_H
#define LS_ENV_PYTHON_PYFILES_H

#include <stdbool.h>
#include <stddef.h>

struct ls_pyvenv {
	char *home;       /* folder of the base interpreter */
	char *version;    /* "3.11.2"; virtualenv and uv call it version_info */
	bool system_site; /* include-system-site-packages */
};

void ls_pyvenv_parse(const char *text, size_t len, struct ls_pyvenv *ret);
void ls_pyvenv_done(struct ls_pyvenv *v);

struct ls_metadata {
	char *name, *version;
};

void ls_metadata_parse(const char *text, size_t len,
		       struct ls_metadata *ret); /* METADATA or PKG-INFO */
void ls_metadata_done(struct ls_metadata *m);
/* Calls see for each Requires-Dist; the line is NUL-terminated and lives for the call. */
void ls_metadata_requirements(const char *text, size_t len,
			      void (*see)(void *arg, const char *line), void *arg);

struct ls_torch_file {
	char *version, *cuda, *git, *hip;
	bool cuda_is_none; /* the file says None: a build without CUDA */
};

void ls_torch_file_parse(const char *text, size_t len,
			 struct ls_torch_file *ret); /* torch/version.py */
void ls_torch_file_done(struct ls_torch_file *t);

/* The version text that a CPython binary carries for its major.minor ("3.11" ->
 * "3.11.2"); NULL when it has none. */
char *ls_python_in_binary(const void *bytes, size_t len, const char *minor);

#endif
