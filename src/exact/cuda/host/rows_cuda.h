/* Operations on rows on a CUDA device: the bits of ls_rows_cpu. Memory is the device's
 * and the caller's. Launches return at once. The context is taken (context.h). */
#ifndef LS_EXACT_CUDA_ROWS_CUDA_H
#define LS_EXACT_CUDA_ROWS_CUDA_H

#include "exact/cuda/host/context.h"
#include "exact/rows.h"

int ls_rows_cuda(struct ls_exact_context *c, const struct ls_rows *r, void *stream,
		 struct ls_err *err);

#endif
