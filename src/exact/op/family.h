/* What the table of exact operations (op/op.c) knows of a family of them: a file of this
 * folder with one table, and how its operations are checked and run. Constant data. A call
 * borrows all that it points to; any thread.
 *
 * A new operation: a row in its family's table, and its golden digest. A new family: a
 * file here with a struct ls_exact_family, and its name in the list of op.c. */
#ifndef LS_EXACT_OP_FAMILY_H
#define LS_EXACT_OP_FAMILY_H

#include <stdbool.h>

#include "base/err.h"
#include "exact/cuda/host/context.h"
#include "lockstep.h"

struct ls_exact_op_row {
	const char *name;
	/* Words: "a b >out [~c] [bias]". '>': written. '~': read, and may be the same
	 * tensor as a written one. Brackets: may be left out; what is left out in the
	 * middle has at NULL. */
	const char *tensors;
	const char *numbers; /* "alpha beta", or "" */
	int kind;            /* the family's own */
};

struct ls_exact_call {
	const struct ls_exact_op_row *row;
	const struct ls_exact_tensor *tensor;
	const double *number;
	size_t tensors, numbers;
	const struct ls_exact_where *where;
};

struct ls_exact_family {
	const struct ls_exact_op_row *rows; /* the last has no name */
	/* Types and shapes; counts, sizes and overlaps have been looked at. LS_EINPUT. */
	int (*check)(const struct ls_exact_call *c, struct ls_err *err);
	/* NULL: none is needed. Called after check. */
	int (*scratch)(const struct ls_exact_call *c, size_t *ret, struct ls_err *err);
	int (*cpu)(const struct ls_exact_call *c, struct ls_err *err);
	int (*cuda)(const struct ls_exact_call *c, struct ls_exact_context *cuda,
		    struct ls_err *err);
};

extern const struct ls_exact_family ls_exact_family_mm, ls_exact_family_elem, ls_exact_family_wide,
	ls_exact_family_reduce, ls_exact_family_rows, ls_exact_family_scatter, ls_exact_family_conv;

#endif
