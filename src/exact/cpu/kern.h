/* The parts of an exact product that are compiled once an instruction set (cpu/kern.c).
 * All builds give the same bits, for they add the same integers. Nothing is owned; any
 * thread. */
#ifndef LS_EXACT_CPU_KERN_H
#define LS_EXACT_CPU_KERN_H

#include <stdint.h>

#include "exact/cpu/tile.h"
#include "exact/elem.h"
#include "exact/product.h"

/* Depth of a block: 2^7 products of 2^44 stay below 2^52, where doubles are exact and a
 * conversion to integer is one instruction. */
enum { LS_EXACT_DEPTH = 128 };

/* One side of a product: `lines` rows of a, or columns of b, each of p->k elements. */
struct ls_exact_side {
	const void *at; /* of this batch */
	enum ls_exact_type type;
	int64_t line, depth; /* strides, in elements */
	int bits;
	const uint32_t *top; /* the largest |bits| of each line */
};

/* One row of the output, or a part of it: n sums and where they go. */
struct ls_exact_row {
	const int64_t *sum;
	const int64_t *high, *low; /* instead of sum, where the depth needs two words; or NULL */
	int64_t batch, i, j;       /* of the first */
	int64_t n;
	uint32_t top_a;
	const uint32_t *top_b;
};

/* Element-wise operations (cpu/elem.c): elements [from, to). */
struct ls_exact_elem_kern {
	void (*run)(const struct ls_elem *e, int64_t from, int64_t to);
};

struct ls_reduce_kern;
struct ls_rows_kern;
struct ls_conv_kern;

struct ls_exact_kern {
	const char *name;
	const struct ls_exact_elem_kern *elem;
	const struct ls_reduce_kern *reduce; /* cpu/reduce_kern.h */
	const struct ls_rows_kern *rows;     /* cpu/rows_kern.h */
	const struct ls_conv_kern *conv;     /* cpu/conv_kern.h */
	const struct ls_exact_tile *tile;
	void (*tops)(const struct ls_exact_side *s, int64_t lines, int64_t depth, uint32_t *ret);
	/* Lines [line, line + lines) of depth [at, at + depth) as panels of `panel`
	 * lines, whole numbers as doubles, zeros beyond the last line. */
	void (*pack)(const struct ls_exact_side *s, int64_t line, int64_t lines, int64_t at,
		     int64_t depth, int panel, double *out);
	void (*finish)(const struct ls_exact_product *p, const struct ls_exact_row *r);
};

#if defined(LS_KERN_NAME)
extern const struct ls_exact_elem_kern LS_EXACT_NAME(elem);
extern const struct ls_reduce_kern LS_EXACT_NAME(reduce);
extern const struct ls_rows_kern LS_EXACT_NAME(rows);
extern const struct ls_conv_kern LS_EXACT_NAME(conv);
#endif

/* The build for an instruction set of this processor, by name; NULL: the fastest. NULL is
 * returned where the processor has none of that name. */
const struct ls_exact_kern *ls_exact_kern_find(const char *isa);

#endif
