/* The inner loops of reductions, compiled once an instruction set (cpu/reduce_kern.c).
 * All builds give the same bits: terms are IEEE operations without contraction, and sums
 * are integers. Owns nothing; any thread. */
#ifndef LS_EXACT_CPU_REDUCE_KERN_H
#define LS_EXACT_CPU_REDUCE_KERN_H

#include "exact/cpu/kern.h"
#include "exact/reduce.h"

enum { LS_REDUCE_WIDTH = 256 };

/* Up to LS_REDUCE_WIDTH outputs side by side. */
struct ls_reduce_block {
	uint64_t sum[2][LS_REDUCE_WIDTH];
	double scale[2][LS_REDUCE_WIDTH], pivot[LS_REDUCE_WIDTH];
	uint32_t top[2][LS_REDUCE_WIDTH], flags[LS_REDUCE_WIDTH];
};

/* n elements of each operand; n <= LS_REDUCE_WIDTH */
struct ls_reduce_elements {
	int n;
	int64_t index; /* of the first, for the index of an extreme */
	float v[LS_TERM_OPERANDS][LS_REDUCE_WIDTH];
};

struct ls_reduce_kern {
	/* n elements, `stride` apart, as floats */
	void (*fetch)(const void *at, int type, int64_t stride, int n, float *ret);
	/* of one output: all elements */
	void (*bounds)(const struct ls_reduce *r, const struct ls_reduce_elements *e,
		       struct ls_sum_state *s);
	void (*sums)(const struct ls_reduce *r, const struct ls_reduce_elements *e,
		     const struct ls_grids *g, struct ls_sum_state *s);
	/* of outputs side by side: an element each */
	void (*bounds_across)(const struct ls_reduce *r, const struct ls_reduce_elements *e,
			      struct ls_reduce_block *b);
	void (*sums_across)(const struct ls_reduce *r, const struct ls_reduce_elements *e,
			    struct ls_reduce_block *b);
	void (*map)(const struct ls_reduce *r, const struct ls_reduce_elements *e, double *ret);
};

#endif
