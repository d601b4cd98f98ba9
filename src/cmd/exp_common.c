/* What all subcommands of lockstep exp begin with. */
#include <string.h>

#include "cmd/exp.h"

int ls_exp_open(struct ls_store **ret)
{
	struct ls_err err = {0};
	return ls_store_open(".", ret, &err) ? ls_cmd_fail(&err) : 0;
}

const char *ls_exp_name(const char *command, const struct ls_args *args)
{
	const char *id = ls_args_get(args, "exp-id"), *pos = args->n_pos ? args->pos[0] : NULL;
	if (id && pos && strcmp(id, pos) != 0)
		ls_cmd_usage("%s: %s and --exp-id %s name different experiments", command, pos, id);
	else if (!id && !pos)
		ls_cmd_usage("%s: which experiment? `lockstep exp list` has all", command);
	else
		return pos ? pos : id;
	return NULL;
}
