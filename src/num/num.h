/* The arithmetic contract as seen by host code: its version, and the floating-point
 * environment it needs. Owns nothing. ls_fp_enter and ls_fp_leave act on the calling
 * thread only. */
#ifndef LS_NUM_NUM_H
#define LS_NUM_NUM_H

#include <stdint.h>

/* Changes whenever any result of src/num or of the arithmetic in src/fm changes a bit.
 * Every model file carries it. */
#define LS_NUMERICS_VERSION 4

/* Sets round to nearest, no trap, no flush to zero, as a library loaded earlier may have
 * changed them; returns what was there. Every thread that computes calls it first. */
uint64_t ls_fp_enter(void);
void ls_fp_leave(uint64_t saved);

#endif
