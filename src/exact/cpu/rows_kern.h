/* Operations on rows on a CPU, compiled once an instruction set (cpu/rows_kern.c). All
 * builds give the same bits. Owns nothing; any thread. */
#ifndef LS_EXACT_CPU_ROWS_KERN_H
#define LS_EXACT_CPU_ROWS_KERN_H

#include "exact/cpu/kern.h"
#include "exact/rows.h"

/* Floats of memory that a task needs for a row of n elements. */
#define LS_ROWS_ROOM(n) (5 * (n))

struct ls_rows_kern {
	/* Rows [from, to); room: LS_ROWS_ROOM(r->n) floats */
	void (*run)(const struct ls_rows *r, int64_t from, int64_t to, float *room);
};

#endif
