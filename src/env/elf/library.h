/* CUDA's libraries on disk: where the loader would find one, and which version a file is.
 * Nothing is loaded to find them. Texts are the caller's to free. Any thread. */
#ifndef LS_ENV_ELF_LIBRARY_H
#define LS_ENV_ELF_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "env/elf/loader.h"

/* The libraries that doctor reports: "cudart", "cudnn", "cublas", "nccl", "nvrtc",
 * "cupti"; NULL past the last. */
const char *ls_library_name(size_t i);

struct ls_found_library {
	char *path; /* without the root prefix */
	char *how;  /* "LD_PRELOAD", "LD_LIBRARY_PATH", "/etc/ld.so.cache", "default folder" */
};

/* The file that the loader would give a program that asks for lib<which>.so.N of any N:
 * the highest N of the first place that has one. */
bool ls_library_find(const struct ls_loader_env *env, const char *which,
		     struct ls_found_library *ret);
void ls_library_done(struct ls_found_library *lib);

/* Is the file's name lib<which>.so.N, or lib<which>-HASH.so.N? path may have folders. */
bool ls_library_is(const char *path, const char *which);
/* lib<which>.so.N (or lib<which>-HASH.so.N) in one folder, highest N; NULL when it has
 * none. */
char *ls_library_in_folder(const char *root, const char *dir, const char *which);

/* The file's version from its name, its neighbours or the header beside it; with ask,
 * also by loading it and calling its version function. *ret_source tells which. NULL when
 * nothing tells. */
char *ls_library_version(const char *root, const char *which, const char *path, bool ask,
			 char **ret_source);

#endif
