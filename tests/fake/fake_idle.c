/* Kernels of the exact product that do nothing: with the stand-in libcuda.so.1, a GPU
 * that computes wrongly. */
#include "fake_cuda.h"

#define IDLE(name)                                                                                 \
	fake_kernel_fn fake_kernel_##name;                                                         \
	__attribute__((visibility("default"))) void fake_kernel_##name(                            \
		const struct fake_launch *launch, void **args)                                     \
	{                                                                                          \
		(void)launch;                                                                      \
		(void)args;                                                                        \
	}

IDLE(exact_tops)
IDLE(exact_cut)
IDLE(exact_gemm_fine)
IDLE(exact_gemm_coarse)
