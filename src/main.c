/* The command table and dispatch, nothing more. */
#include <stddef.h>

#include "cmd/cmd.h"

const struct ls_cmd *const ls_cmds[] = {
	&ls_cmd_doctor, &ls_cmd_fm, &ls_cmd_help, &ls_cmd_completion, NULL,
};

int main(int argc, char **argv)
{
	return ls_cmd_dispatch(argc, (const char *const *)argv);
}
