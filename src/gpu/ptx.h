/* Cuts a PTX module down to the kernels that are wanted, because the driver's compiler
 * takes long for large ones. All inputs are borrowed, the result is the caller's. No
 * state; any thread. */
#ifndef LS_GPU_PTX_H
#define LS_GPU_PTX_H

#include <stddef.h>

#include "base/err.h"

/* text without the kernels (.entry) that are not among names, which ends with NULL. All
 * else stays as it was, in its order. A NUL follows the result and is not counted.
 * Only the form that nvcc and NVRTC write is understood: an .entry that begins its line,
 * with a body of balanced braces, outside of comments and strings. LS_EINPUT: the text
 * has another form, or parts that refer to code by label (debug sections); compile it
 * whole. LS_EINTERNAL: there is no kernel of a wanted name. */
int ls_ptx_cut(const char *text, size_t len, const char *const *names, char **ret, size_t *ret_len,
	       struct ls_err *err);

#endif
