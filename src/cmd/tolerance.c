#include "cmd/tolerance.h"

int ls_cmd_tolerance(const struct ls_args *args, struct ls_tolerance_rules *ret, struct ls_err *err)
{
	const char *text;
	int rc = 0;
	for (size_t i = 0; rc == 0 && (text = ls_args_nth(args, "tolerance", i)); i++)
		rc = ls_tolerance_rules_add(ret, text, err);
	return rc;
}
