/* Order-free scatter (exact/scatter.h) on the CPU. The caller owns all memory. Any thread;
 * no number of threads changes a bit. */
#ifndef LS_EXACT_CPU_SCATTER_CPU_H
#define LS_EXACT_CPU_SCATTER_CPU_H

#include "base/err.h"
#include "exact/scatter.h"

/* LS_EINPUT: an index that is no place; nothing is written then. */
int ls_scatter_cpu(const struct ls_scatter *s, int threads, struct ls_err *err);

#endif
