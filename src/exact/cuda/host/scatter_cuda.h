/* Order-free scatter on a CUDA device: the bits of ls_scatter_cpu. Memory is the device's
 * and the caller's; scratch too, until the stream has passed. Launches return at once, so
 * that an index that is no place is told by results that are all NaN. The context is taken
 * (context.h). */
#ifndef LS_EXACT_CUDA_SCATTER_CUDA_H
#define LS_EXACT_CUDA_SCATTER_CUDA_H

#include "exact/cuda/host/context.h"
#include "exact/scatter.h"

/* Bytes of scratch memory, aligned to 256. */
size_t ls_scatter_cuda_scratch(const struct ls_scatter *s);
/* LS_EINPUT: 2^32 items or more. */
int ls_scatter_cuda(struct ls_exact_context *c, const struct ls_scatter *s, void *scratch,
		    void *stream, struct ls_err *err);

#endif
