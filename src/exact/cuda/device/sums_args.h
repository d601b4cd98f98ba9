/* What the kernels of frequent sums (exact_sums.cu) share with the host. C and CUDA
 * alike. */
#ifndef LS_EXACT_CUDA_SUMS_ARGS_H
#define LS_EXACT_CUDA_SUMS_ARGS_H

#include "exact/sums.h"

enum { LS_SUMS_THREADS = 256, LS_SUMS_ACROSS = 128 /* outputs of a block, side by side */ };

struct ls_sums {
	const float *x; /* aligned to 16 bytes; step too is a multiple of four elements */
	struct ls_sum_state *state; /* of each output */
	int64_t kept, reduced;
	int64_t step; /* outputs side by side: from element to element, else from output to output
		       */
	int64_t part; /* outputs side by side: elements of a block */
	int square;   /* squares are summed */
};

#endif
