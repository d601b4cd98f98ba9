/* Exact convolutions on a CUDA device: the bits of exact/conv_plan.h. The caller owns the
 * tensors, which are in device memory, and the scratch memory. Launches are in stream
 * order and return at once. */
#ifndef LS_EXACT_CUDA_CONV_CUDA_H
#define LS_EXACT_CUDA_CONV_CUDA_H

#include "exact/conv_plan.h"
#include "exact/cuda/host/context.h"

/* Bytes of scratch memory, aligned to 256, that a convolution needs. */
size_t ls_conv_cuda_scratch(const struct ls_conv_plan *p);
int ls_conv_cuda(struct ls_exact_context *c, const struct ls_conv_plan *p, void *scratch,
		 void *stream, struct ls_err *err);

#endif
