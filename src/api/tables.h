/* The options of commands that the public functions have, too: one table for both. Static
 * data; any thread. */
#ifndef LS_API_TABLES_H
#define LS_API_TABLES_H

#include "base/opt.h"
#include "compare/tolerance.h"

extern const struct ls_opt ls_doctor_opts[], ls_spec_check_opts[], ls_compare_opts[],
	ls_plan_opts[];

/* Of compare and verify. */
/* clang-format off */
#define LS_TOLERANCE_OPT                                                                         \
	{"tolerance", 0, "RULE",                                                                 \
	 "[GLOB:]abs=X,rel=X,ulp=N: a second verdict beside the exact one; may be repeated"}
/* clang-format on */

/* What it says. The caller owns the rules (ls_tolerance_rules_done, also after a
 * failure). */
int ls_args_tolerance(const struct ls_args *args, struct ls_tolerance_rules *ret,
		      struct ls_err *err);

#endif
