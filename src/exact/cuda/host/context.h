/* The kernels of exact operations, kept once for each CUDA context: that of the caller,
 * which is current in its thread. Contexts are kept until ls_exact_contexts_free. Any
 * thread may take one; a taken context is its until ls_exact_context_give. */
#ifndef LS_EXACT_CUDA_CONTEXT_H
#define LS_EXACT_CUDA_CONTEXT_H

#include "base/err.h"
#include "exact/cuda/host/product_cuda.h"
#include "gpu/driver.h"

struct ls_exact_context;

/* cache: a folder for compiled kernels, or NULL; that of a context's first use counts. */
int ls_exact_context_take(const char *cache, struct ls_exact_context **ret, struct ls_err *err);
void ls_exact_context_give(struct ls_exact_context *c);
void ls_exact_contexts_free(void);

struct ls_gpu *ls_exact_context_gpu(const struct ls_exact_context *c);

/* Launches a kernel of a .cu file (module: its name without folder and suffix), which is
 * loaded at its first use. module and kernel are strings that stay. */
int ls_exact_context_launch(struct ls_exact_context *c, void *stream, const char *module,
			    const char *kernel, const struct ls_gpu_shape *shape, void **args,
			    struct ls_err *err);
/* So many blocks of `threads` threads as do `work` items when each thread takes `each`,
 * and not more than the device runs at a time a few times over. */
unsigned ls_exact_context_blocks(const struct ls_exact_context *c, int64_t work, unsigned threads,
				 unsigned each);

int ls_exact_context_product(struct ls_exact_context *c, struct ls_exact_cuda **ret,
			     struct ls_err *err);

#endif
