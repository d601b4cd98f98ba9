/* Comparisons from options, for the command and the public functions. One thread. */
#ifndef LS_API_COMPARE_H
#define LS_API_COMPARE_H

#include "base/opt.h"
#include "compare/compare.h"

/* progress may be NULL (struct ls_cmp_options has it). */
int ls_comparison_make(const struct ls_args *args, const char *a, const char *b,
		       void (*progress)(void *, const char *, uint64_t, uint64_t), void *ctx,
		       struct ls_comparison **ret, struct ls_err *err);

#endif
