/* NVIDIA's run-time compiler (libnvrtc), opened at run time: CUDA C++ source in memory to
 * PTX or machine code. The caller frees what it gets. One thread at a time an object. */
#ifndef LS_GPU_NVRTC_H
#define LS_GPU_NVRTC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/dl.h"
#include "base/embed.h"
#include "base/err.h"

/* The options that the numerics contract needs, for NVRTC and nvcc alike; cmake/gpu.cmake
 * has the same list. NULL ends. / */
extern const char *const ls_gpu_options[];

struct _nvrtcProgram; /* NVRTC's own tag */

/* X(member, symbol, arguments): those that return a status. */
#define LS_NVRTC_FUNCTIONS(X)                                                                      \
	X(version, nvrtcVersion, (int *, int *))                                                   \
	X(n_archs, nvrtcGetNumSupportedArchs, (int *))                                             \
	X(archs, nvrtcGetSupportedArchs, (int *))                                                  \
	X(create, nvrtcCreateProgram,                                                              \
	  (struct _nvrtcProgram **, const char *, const char *, int, const char *const *,          \
	   const char *const *))                                                                   \
	X(destroy, nvrtcDestroyProgram, (struct _nvrtcProgram **))                                 \
	X(compile, nvrtcCompileProgram, (struct _nvrtcProgram *, int, const char *const *))        \
	X(ptx_size, nvrtcGetPTXSize, (struct _nvrtcProgram *, size_t *))                           \
	X(ptx, nvrtcGetPTX, (struct _nvrtcProgram *, char *))                                      \
	X(cubin_size, nvrtcGetCUBINSize, (struct _nvrtcProgram *, size_t *))                       \
	X(cubin, nvrtcGetCUBIN, (struct _nvrtcProgram *, char *))                                  \
	X(log_size, nvrtcGetProgramLogSize, (struct _nvrtcProgram *, size_t *))                    \
	X(log, nvrtcGetProgramLog, (struct _nvrtcProgram *, char *))

struct ls_nvrtc;

/* Opens the first of libraries (NULL-terminated paths or sonames) that works. LS_EUNKNOWN
 * when none does. */
int ls_nvrtc_open(const char *const *libraries, struct ls_nvrtc **ret, struct ls_err *err);
void ls_nvrtc_close(struct ls_nvrtc *rtc);
const char *ls_nvrtc_path(const struct ls_nvrtc *rtc);
int ls_nvrtc_version(const struct ls_nvrtc *rtc); /* 13000 for 13.0 */

/* The newest architecture it compiles for that is not newer than cc (90 for 9.0), or cc
 * 0: the oldest it knows. LS_EUNKNOWN when there is none. */
int ls_nvrtc_arch(const struct ls_nvrtc *rtc, int cc, int *ret_arch, struct ls_err *err);

/* Compiles source, called name in messages. files: what it may include, by name; a NULL
 * name ends them. machine_code: a cubin for sm_<arch>, else PTX for compute_<arch> (a NUL
 * follows, not counted in *ret_len). LS_EUNKNOWN with the first error of the compiler's
 * log when it does not compile. */
int ls_nvrtc_compile(struct ls_nvrtc *rtc, const char *name, const char *source,
		     const struct ls_blob *files, int arch, bool machine_code, char **ret,
		     size_t *ret_len, struct ls_err *err);

/* The places where NVRTC is usually found: the loader's path, the toolkit's folders under
 * root ("" for /), and the copy that comes with PyTorch under each of prefixes (a virtual
 * environment, "/usr", …), which ends with NULL. Returns a NULL-terminated list for
 * ls_nvrtc_open, freed with ls_nvrtc_places_free. */
char **ls_nvrtc_places(const char *root, const char *const *prefixes);
void ls_nvrtc_places_free(char **places);

#endif
