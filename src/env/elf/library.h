/* CUDA's libraries on disk: where the loader would find one, and which version a file is. Nothing
 * is loaded to find them. Texts are the caller's to free. Any thread. */
#ifndef LS_ENV_ELF_LIBRARY_H
#define LS_ENV_ELF_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* The libraries that doctor reports: "cudart", "cudnn", "cublas", "nccl", "nvrtc", "cupti"; NULL
 * past the last. */
const char *ls_library_name(size_t i);

struct ls_found_library {
	char *path; /* without the root prefix */
	char *how; /* "LD_LIBRARY_PATH", "/etc/ld.so.cache", "default folder", "RPATH", "RUNPATH" */
};

/* The file that the loader would take for lib<which>.so.N of any N, the highest N of the first
 * place that has one. */
bool ls_library_find(const char *root, const char *ld_library_path, const char *which,
		     struct ls_found_library *ret);
/* The same for the library that one file needs, in the order of ld.so: the RPATH of the file and of
 * the program (neither where the file has a RUNPATH), LD_LIBRARY_PATH, the file's RUNPATH, the
 * cache, the default folders. file and program are paths; the program may be one that is no ELF
 * file. 1: found; 0: nowhere, *ret_needed (the caller's) tells its name; -1: file is not ELF, or
 * needs no such library. */
int ls_library_link(const char *root, const char *file, const char *program,
		    const char *ld_library_path, const char *which, struct ls_found_library *ret,
		    char **ret_needed);
void ls_library_done(struct ls_found_library *lib);

/* lib<which>.so.N (or lib<which>-HASH.so.N) in one folder, highest N; NULL when it has none. */
char *ls_library_in_folder(const char *root, const char *dir, const char *which);

/* The file's version from its name, its neighbours or the header beside it; with ask, also by
 * loading it and calling its version function. *ret_source tells which. NULL when nothing tells. */
char *ls_library_version(const char *root, const char *which, const char *path, bool ask,
			 char **ret_source);

#endif
