/* How a benchmark ends where something cannot be done: by saying what. Owns nothing. */
#ifndef LS_BENCH_FAIL_H
#define LS_BENCH_FAIL_H

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"

static inline void fail_on(int rc, const struct ls_err *err)
{
	if (!rc)
		return;
	fprintf(stderr, "%s\n", err->msg);
	exit(1);
}

#endif
