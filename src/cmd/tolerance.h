/* The option --tolerance of compare and verify. The caller owns the rules
 * (ls_tolerance_rules_done, also after a failure). One thread. */
#ifndef LS_CMD_TOLERANCE_H
#define LS_CMD_TOLERANCE_H

#include "base/opt.h"
#include "compare/tolerance.h"

/* clang-format off */
#define LS_TOLERANCE_OPT                                                                         \
	{"tolerance", 0, "RULE",                                                                 \
	 "[GLOB:]abs=X,rel=X,ulp=N: a second verdict beside the exact one; may be repeated"}
/* clang-format on */

int ls_cmd_tolerance(const struct ls_args *args, struct ls_tolerance_rules *ret,
		     struct ls_err *err);

#endif
