/* From the dimensions of tensors to the walk of a reduction. Owns nothing; any thread. */
#ifndef LS_EXACT_REDUCE_PLAN_H
#define LS_EXACT_REDUCE_PLAN_H

#include <stdbool.h>

#include "base/err.h"
#include "exact/reduce.h"

enum { LS_REDUCE_AXES = 8 };

/* A dimension: its size, and how far apart its elements are in each operand and result. */
struct ls_reduce_axis {
	int64_t size, in[LS_TERM_OPERANDS], out[LS_REDUCE_OUTS];
	bool reduced;
};

/* Fills the sizes and strides of r, whose kind and operands are set. Dimensions that
 * follow each other become one; their order follows memory, except where an index is
 * asked for. n <= LS_REDUCE_AXES; LS_EINPUT: the dimensions do not fit. */
int ls_reduce_plan(struct ls_reduce *r, const struct ls_reduce_axis *axes, int n,
		   struct ls_err *err);

/* Outputs lie side by side in memory, rather than the elements of one. */
bool ls_reduce_is_across(const struct ls_reduce *r);

/* On the CPU; threads: 0 for one. isa as for ls_exact_product. */
int ls_reduce_cpu(const struct ls_reduce *r, int threads, const char *isa, struct ls_err *err);

#endif
