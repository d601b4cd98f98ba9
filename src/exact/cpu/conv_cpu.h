/* Exact convolutions on the CPU: exact/conv_plan.h has the definition. The caller owns the
 * tensors. Any thread. */
#ifndef LS_EXACT_CPU_CONV_CPU_H
#define LS_EXACT_CPU_CONV_CPU_H

#include "exact/conv_plan.h"

/* threads and isa as in exact/product.h. */
int ls_conv_cpu(const struct ls_conv_plan *p, int threads, const char *isa, struct ls_err *err);

#endif
