/* The stand-in for libcuda.so.1 (fake_cuda.c), as tests and host kernels see it: no GPU,
 * the same calls, host memory. Environment, read by cuInit, or set by fake_cuda_setup
 * from a test in the same process:
 * - LS_FAKE_CUDA: faults, comma-separated "FUNCTION:N:CODE": the N-th call of FUNCTION (0: every
 * call) fails with CODE; codes that lose a device stay. "sync:N:CODE" fails what the N-th
 * operation would run.
 * - LS_FAKE_CUDA_CONFIG: "devices=2 cc=75 cuda=12040 mem=1048576 order=shuffle lazy=0 sm=7
 * blocks=1", any of them; sm multiprocessors with at most so many blocks decide the grids
 * of launches.
 * - LS_FAKE_CUDA_KERNELS: a shared library with fake_kernel_… functions.
 * Work put into a stream runs as late as the API allows (lazy=1, the default), so that a
 * host buffer reused too early or a missing dependency shows. Fresh memory is filled with
 * 0xA5. A process that leaves anything allocated, frees it twice or frees what it does
 * not own, ends with status 97 and a list. One thread at a time. */
#ifndef LS_TESTS_FAKE_CUDA_H
#define LS_TESTS_FAKE_CUDA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum fake_order { FAKE_FORWARD, FAKE_REVERSE, FAKE_SHUFFLE };

struct fake_launch {
	unsigned grid[3], block[3], shared;
	enum fake_order order; /* in which a host kernel should take blocks, warps and threads */
	int cooperative;
};

/* A launch of kernel NAME calls the exported function fake_kernel_NAME, which must be of
 * this type.
 */
typedef void fake_kernel_fn(const struct fake_launch *launch, void **args);

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/* Members for dlsym: a test fetches these from the library it gave to ls_gpu_open. */
typedef void fake_cuda_setup_fn(const char *faults,
				const char *config); /* forgets counts; NULL: none, defaults */
typedef int
fake_cuda_live_fn(char *ret_list,
		  size_t size); /* what is allocated or was misused, one a line; forgets misuse */
typedef unsigned fake_cuda_calls_fn(const char *function); /* how often it was called since setup */
#endif

#endif
