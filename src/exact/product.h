/* The exact product: out = alpha * (a b) + beta * c + bias, a batch of matrices at a
 * time, with the same bits on every device, for any tiling and any number of threads
 * (docs/NUMERICS.md, "Products"). The caller owns all memory; out may not overlap the
 * rest, except that it may be c with c's own strides. Any thread; calls share nothing. */
#ifndef LS_EXACT_PRODUCT_H
#define LS_EXACT_PRODUCT_H

#include <stdint.h>

#include "base/err.h"

/* F32, BF16 or F16. Strides count elements; a stride of 0 repeats. Transposed is a matter of
 * strides. */
struct ls_exact_matrix {
	void *at;
	int64_t row, column, batch;
	enum ls_exact_type type;
};

struct ls_exact_product {
	int64_t batch, m, n, k; /* a is m × k, b is k × n */
	struct ls_exact_matrix a, b, out;
	struct ls_exact_matrix c;    /* c.at NULL: beta is not used, and c is not read */
	struct ls_exact_matrix bias; /* bias.at NULL: none; usually with a row stride of 0 */
	float alpha, beta;
	int bits; /* LS_GRID_FINE or LS_GRID_COARSE */
};

#define LS_EXACT_MOST_K (1 << 20)

/* LS_EINPUT: sizes or a grid that are not defined. */
int ls_exact_check(const struct ls_exact_product *p, struct ls_err *err);

/* On the CPU; threads: 0 for one. isa: an instruction set by name (ls_exact_isas), or
 * NULL for the fastest of this processor. */
int ls_exact_product(const struct ls_exact_product *p, int threads, const char *isa,
		     struct ls_err *err);

/* The definition, an element at a time: what every other way is compared with. */
int ls_exact_plain(const struct ls_exact_product *p, struct ls_err *err);

/* The names of the instruction sets that this processor has, the fastest first, then
 * NULL. */
const char *const *ls_exact_isas(void);

#endif
