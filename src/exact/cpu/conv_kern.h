/* The loops of an exact convolution that are compiled once an instruction set
 * (cpu/conv_kern.c). Nothing is owned; any thread. */
#ifndef LS_EXACT_CPU_CONV_KERN_H
#define LS_EXACT_CPU_CONV_KERN_H

#include <stdbool.h>
#include <stdint.h>

struct ls_conv_kern {
	/* The top of n elements and of what came before (exact/conv.h). */
	uint32_t (*top)(const float *x, int64_t n, uint32_t top);
	/* Whole numbers of a line's grid, as floats: they have at most 22 bits. */
	void (*cut)(const float *x, int64_t n, float first, float second, int bits, float *out);
	/* One depth of n columns into panels of `panel` columns, each `depth` deep. */
	void (*across)(const float *x, int64_t n, int panel, int64_t depth, double *out);
	/* n depths of one line of a panel. */
	void (*along)(const float *x, int64_t n, int panel, double *out);
	/* sum * 2^e, rounded to odd. */
	void (*values)(const int64_t *sum, int64_t n, int e, double *out);
	void (*store)(const double *x, int64_t n, float *out);
};

#endif
