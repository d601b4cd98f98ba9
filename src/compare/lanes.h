/* Dense differences between two rows of elements, counted in loops that compilers turn
 * into vector code. Nothing is owned; the statistics are added to. Any thread. The plain
 * way, an element at a time, is in element.c; both give the same statistics, which a test
 * holds them to. */
#ifndef LS_COMPARE_LANES_H
#define LS_COMPARE_LANES_H

#include "compare/element.h"

enum { LS_LANES = 1024 }; /* elements a call at most */

/* What a row of calls shares. */
struct ls_lanes {
	int32_t key[256]; /* formats of 8 bits by their patterns: steps from zero, signed */
	float value[256]; /* NaN for each NaN */
	int careful; /* so many blocks more are expected to have NaNs or changed signs; 0 at first
		      */
};

/* Whether ls_lanes_add knows the type, which must be one of numbers. */
bool ls_lanes_can(enum ls_dtype t);
/* Adds n elements (at most LS_LANES; packed, little-endian) whose first has the index
 * base. The tables need to be filled for the types of 8 bits that are floating point. */
void ls_lanes_add(struct ls_stats *s, enum ls_dtype t, struct ls_lanes *lanes, const uint8_t *a,
		  const uint8_t *b, size_t n, uint64_t base);

#endif
