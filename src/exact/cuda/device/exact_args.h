/* What the kernels of an exact product share with the host: sizes and device addresses,
 * passed by value. C and CUDA alike. The host owns the memory. The kernels run one after
 * another: the largest magnitude of each line (exact_tops), its whole numbers as bytes
 * (exact_cut), for both sides; then the products (exact_gemm). */
#ifndef LS_EXACT_CUDA_ARGS_H
#define LS_EXACT_CUDA_ARGS_H

#include "exact/grid.h"

enum {
	LS_EXACT_TILE_M = 128, /* of the output, for a block of threads */
	LS_EXACT_TILE_N = 64,
	LS_EXACT_TILE_K = 64, /* bytes of a line in a stage of the pipeline */
	LS_EXACT_THREADS = 256,
	/* lines and depth of what a block cuts at a time */
	LS_EXACT_CUT_LINES = 32,
	LS_EXACT_CUT_DEPTH = 128,
	/* depth whose sums of three digit products fit 32 bits: 3 · 255² · 2^14 < 2^32,
	 * and with the signs of the digits below 2^31 */
	LS_EXACT_CHUNK = 1 << 14
};

enum { LS_EXACT_IS_F32, LS_EXACT_IS_BF16, LS_EXACT_IS_F16 };

/* A matrix in device memory; strides in elements. */
struct ls_exact_place {
	uint64_t at; /* 0: none */
	int64_t row, column, batch;
	int type;
};

/* One side: rows of a, or columns of b. Byte d of whole number (line, depth) is
 * digits[((d * batches + batch) * pad_lines + line) * pad_depth + depth], the lowest
 * first; the last is signed, the others are not. */
struct ls_exact_lines {
	struct ls_exact_place x; /* row: from line to line; column: along the depth */
	int64_t lines, depth, batches, pad_lines, pad_depth;
	uint32_t *top; /* batches × lines; zero before exact_tops */
	uint8_t *digits;
	int bits;
};

struct ls_exact_gemm {
	int64_t m, n, batches;
	int64_t from, depth, pad_depth; /* the digits [from, from + depth) of each line */
	const uint8_t *a, *b;
	int64_t a_plane, b_plane, a_batch, b_batch; /* bytes; a batch of 0: one for all */
	const uint32_t *top_a, *top_b;
	int64_t top_a_batch, top_b_batch;
	struct ls_exact_place x, y, out, c, bias; /* x and y: the sides, for what is not finite */
	int64_t k;                                /* the whole depth */
	/* Two words for each element, where the depth takes several launches, else
	 * NULL. */
	int64_t *high, *low;
	int first, last; /* of those launches */
	float alpha, beta;
	int bits, stages; /* of the pipeline: 1, 2 or 4 */
};

#endif
