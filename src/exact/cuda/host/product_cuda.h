/* The exact product on a CUDA device: the bits of exact/product.h. The caller owns the
 * matrices, which are in device memory, and the scratch memory, and frees the object
 * before the device. Launches are in stream order and return at once. One thread at a
 * time an object. */
#ifndef LS_EXACT_CUDA_PRODUCT_CUDA_H
#define LS_EXACT_CUDA_PRODUCT_CUDA_H

#include "base/err.h"
#include "exact/product.h"
#include "gpu/driver.h"
#include "gpu/kernels.h"

struct ls_exact_cuda;

int ls_exact_cuda_new(struct ls_gpu *gpu, const struct ls_kernels_conf *conf,
		      struct ls_exact_cuda **ret, struct ls_err *err);
void ls_exact_cuda_free(struct ls_exact_cuda *c);

/* Bytes of scratch memory that a product needs. */
uint64_t ls_exact_cuda_scratch(const struct ls_exact_product *p);
/* scratch: so many bytes of device memory, aligned to 256, until the stream has passed
 * the product. */
int ls_exact_cuda_product(struct ls_exact_cuda *c, const struct ls_exact_product *p,
			  ls_cu_ptr scratch, ls_cu_stream s, struct ls_err *err);

#endif
