/* The innermost loop of an exact product, compiled once an instruction set with leave to
 * fuse multiplication and addition (cmake/exact.cmake): all sums are exact, so that it
 * cannot change them. Nothing is owned; any thread. */
#ifndef LS_EXACT_CPU_TILE_H
#define LS_EXACT_CPU_TILE_H

#include <stdint.h>

#define LS_EXACT_JOIN_(a, b)  ls_exact_##a##_##b
#define LS_EXACT_JOIN(a, b)   LS_EXACT_JOIN_(a, b)
#define LS_EXACT_NAME(what)   LS_EXACT_JOIN(what, LS_KERN_NAME)
#define LS_EXACT_STRING_(isa) #isa
#define LS_EXACT_STRING(isa)  LS_EXACT_STRING_(isa)
#define LS_EXACT_ISA          LS_EXACT_STRING(LS_KERN_NAME)

struct ls_exact_tile {
	int rows, columns; /* of the tile that stays in registers */
	/* sum (rows × columns, `stride` apart) += a panel of a times a panel of b. */
	void (*add)(const double *a, const double *b, int64_t depth, int64_t *sum, int64_t stride);
};

#if defined(LS_KERN_NAME)
extern const struct ls_exact_tile LS_EXACT_NAME(tile);
#endif

#endif
