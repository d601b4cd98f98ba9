/* The version that a CUDA library reports, through a function that needs neither GPU nor
 * driver. Nothing is owned; the library is opened for the call and closed again. Any
 * thread. */
#ifndef LS_GPU_LIBVER_H
#define LS_GPU_LIBVER_H

#include "base/err.h"

enum { LS_LIBVER_TEXT = 32 };

/* which: "cudart", "cudnn", "cublas", "nccl", "nvrtc", "cupti" or "cuda" (the driver's
 * library). ret_call names the function that answered. LS_EUNKNOWN when the library does
 * not load or does not report a version. */
int ls_libver_ask(const char *which, const char *file, char ret[LS_LIBVER_TEXT],
		  const char **ret_call, struct ls_err *err);

#endif
