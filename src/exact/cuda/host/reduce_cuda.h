/* Reductions on a CUDA device: the bits of ls_reduce_cpu. Memory is the device's and the
 * caller's; scratch too, until the stream has passed. Launches return at once. The
 * context is taken (cuda/host/context.h). */
#ifndef LS_EXACT_CUDA_REDUCE_CUDA_H
#define LS_EXACT_CUDA_REDUCE_CUDA_H

#include "exact/cuda/host/context.h"
#include "exact/reduce.h"

/* Bytes of scratch memory, aligned to 256. */
size_t ls_reduce_cuda_scratch(const struct ls_reduce *r);
int ls_reduce_cuda(struct ls_exact_context *c, const struct ls_reduce *r, void *scratch,
		   void *stream, struct ls_err *err);

#endif
