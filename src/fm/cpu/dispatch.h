/* Chooses a build of the kernels at run time (dispatch on the instruction set). Static
 * data; any thread. */
#ifndef LS_FM_CPU_DISPATCH_H
#define LS_FM_CPU_DISPATCH_H

#include "fm/cpu/kern_table.h"

/* The best build that this processor can run. `name` demands one: "baseline", "avx2" or
 * "avx512". NULL: this processor cannot run it. */
const struct ls_kern *ls_kern_dispatch(const char *name);

#endif
