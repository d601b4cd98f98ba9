/* The command table and dispatch, nothing more. */
#include <stddef.h>

#include "cmd/cmd.h"

const struct ls_cmd *const ls_cmds[] = {
	/* One a line, so that branches that each add a command merge. */
	/* clang-format off */
	&ls_cmd_doctor,
	&ls_cmd_spec,
	&ls_cmd_run,
	&ls_cmd_manifest,
	&ls_cmd_verify,
	&ls_cmd_fm,
	&ls_cmd_validate,
	&ls_cmd_exp,
	&ls_cmd_worker,
	&ls_cmd_compare,
	&ls_cmd_plan,
	&ls_cmd_monitor,
	&ls_cmd_help,
	&ls_cmd_completion,
	NULL,
	/* clang-format on */
};

int main(int argc, char **argv)
{
	return ls_cmd_dispatch(argc, (const char *const *)argv);
}
