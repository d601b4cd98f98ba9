/* Device memory that lives as long as the engine. */
#include <string.h>

#include "fm/cuda/host/cuda_internal.h"

ls_cu_ptr ls_cuda_ptr(const void *device)
{
	return (ls_cu_ptr)(uintptr_t)device;
}

uint64_t ls_cuda_rounded(uint64_t bytes)
{
	return (bytes + 255) / 256 * 256 + 256;
}

int ls_cuda_alloc(struct ls_fm_cuda *c, uint64_t bytes, const char *what, void *ret,
		  struct ls_err *err)
{
	ls_cu_ptr p;
	bytes = ls_cuda_rounded(bytes);
	c->allocated += bytes;
	if (c->counting)
		return 0;
	if (c->n_allocs == LS_CUDA_MAX_ALLOCS)
		return ls_err_set(err, LS_EINTERNAL, "too many allocations on the GPU");
	int rc = ls_gpu_alloc(c->gpu, bytes, what, &p, err);
	if (rc)
		return rc;
	c->allocs[c->n_allocs++] = p;
	rc = ls_gpu_fill(c->gpu, c->main, p, 0, bytes, err);
	void *device = (void *)(uintptr_t)p;
	memcpy(ret, &device, sizeof device);
	return rc;
}

int ls_cuda_upload(struct ls_fm_cuda *c, const void *from, uint64_t bytes, const void *to,
		   struct ls_err *err)
{
	return ls_gpu_upload(c->gpu, c->main, ls_cuda_ptr(to), from, bytes, err);
}
