/* Operations on rows (exact/rows.h) on the CPU. The caller owns all memory. Any thread;
 * no number of threads changes a bit. */
#ifndef LS_EXACT_CPU_ROWS_CPU_H
#define LS_EXACT_CPU_ROWS_CPU_H

#include "base/err.h"
#include "exact/rows.h"

/* isa as for ls_exact_product */
int ls_rows_cpu(const struct ls_rows *r, int threads, const char *isa, struct ls_err *err);

#endif
