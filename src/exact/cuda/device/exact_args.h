/* What the kernels of an exact product share with the host: sizes and device addresses,
 * passed by value. C and CUDA alike. The host owns the memory. The kernels run one after
 * another: the largest magnitude of each line (exact_tops; exact_cut itself where a line's
 * elements follow each other), the lines' whole numbers as bytes (exact_cut), both for
 * both sides at once; then the products (exact_gemm). */
#ifndef LS_EXACT_CUDA_ARGS_H
#define LS_EXACT_CUDA_ARGS_H

#include "exact/grid.h"

/* The digits of a side lie in blocks of 64 lines by 128 bytes of depth, for each digit, so
 * that a block is what a tensor core reads from shared memory: the eight 16 bytes of line
 * l are exchanged by xor with l % 8. */
enum {
	LS_EXACT_BLOCK_LINES = 64,
	LS_EXACT_BLOCK_DEPTH = 128,
	LS_EXACT_BLOCK = LS_EXACT_BLOCK_LINES * LS_EXACT_BLOCK_DEPTH, /* bytes */
	LS_EXACT_PAD = 64 /* zeros follow a line up to a multiple of so many */
};

enum {
	LS_EXACT_TILE_M = 128, /* of the output, for a block of threads */
	LS_EXACT_TILE_N = 64,
	LS_EXACT_TILE_K = 64, /* bytes of a line in a stage of the pipeline */
	LS_EXACT_THREADS = 256,
	/* exact_gemm_90a: a block of threads stays and takes one tile after another */
	LS_EXACT_WIDE_FINE = 64, /* columns of a tile */
	LS_EXACT_WIDE_COARSE = 128,
	LS_EXACT_WIDE_THREADS = 384,
	LS_EXACT_WIDE_STAGES = 3,
	/* what a block of threads cuts at a time, or finds the largest of */
	LS_EXACT_KEPT = 8, /* groups of four elements that a thread keeps */
	LS_EXACT_TOPS_DEPTH = 256,
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

/* One side: rows of a, or columns of b. On the fine grid all three digits are signed, in
 * [-128, 127]; on the coarse one the lower of two is not, as 2^15 - 1 would not fit. */
struct ls_exact_lines {
	struct ls_exact_place x; /* row: from line to line; column: along the depth */
	int64_t lines, depth, batches;
	int64_t line_blocks, depth_blocks; /* of a batch's digits */
	uint32_t *top;                     /* batches × lines; zero before exact_tops */
	uint8_t *digits;
	int bits;
	int across;  /* lines lie side by side, so that exact_tops has to run first */
	int vectors; /* four neighbouring elements are one aligned load */
};

struct ls_exact_gemm {
	int64_t m, n, batches;
	int64_t from, depth;  /* the digits [from, from + depth) of each line */
	int64_t depth_blocks; /* of a line, of both sides */
	const uint8_t *a, *b;
	int64_t a_batch, b_batch; /* bytes; a batch of 0: one for all */
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
	int pairs;        /* two neighbouring elements of out are one aligned store */
};

#endif
