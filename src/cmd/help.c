/* lockstep help: text for people (help_text.c), the whole table as JSON for tools. */
#include <string.h>

#include "cmd/cmd.h"

static void add_options(json_t *list, const struct ls_opt *opts)
{
	for (const struct ls_opt *o = opts; o && o->name; o++) {
		char letter[2] = {o->letter, 0};
		json_array_append_new(list,
				      json_pack("{s:s,s:s,s:s?,s:s}", "name", o->name, "letter",
						letter, "arg", o->arg, "help", o->help));
	}
}

static json_t *command_json(const struct ls_cmd *cmd)
{
	json_t *options = json_array(), *subs = json_array();
	if (!cmd->subs) {
		add_options(options, cmd->opts);
		add_options(options, ls_common_opts);
	}
	for (const struct ls_cmd *const *s = cmd->subs; s && *s; s++)
		json_array_append_new(subs, command_json(*s));
	return json_pack("{s:s,s:s,s:s,s:s?,s:o,s:o}", "name", cmd->name, "summary", cmd->summary,
			 "synopsis", cmd->synopsis ? cmd->synopsis : "", "details", cmd->details,
			 "options", options, "commands", subs);
}

static int run_help(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	if (ls_args_has(args, "json") && args->n_pos)
		return ls_cmd_usage("help: --json prints the whole table and takes no command");
	if (ls_args_has(args, "json")) {
		json_t *all = json_array();
		for (const struct ls_cmd *const *c = ls_cmds; *c; c++)
			json_array_append_new(all, command_json(*c));
		ls_cmd_print_json_take(json_pack("{s:o}", "commands", all));
		return 0;
	}
	const struct ls_cmd *parent = NULL, *found = NULL, *const *table = ls_cmds;
	for (size_t i = 0; i < args->n_pos; i++, table = found->subs) {
		parent = found;
		found = NULL;
		for (const struct ls_cmd *const *c = table; c && *c; c++)
			if (strcmp((*c)->name, args->pos[i]) == 0)
				found = *c;
		if (!found)
			return ls_cmd_usage("help: there is no command \"%s\"", args->pos[i]);
	}
	ls_cmd_print_help(parent, found, stdout);
	return 0;
}

const struct ls_cmd ls_cmd_help = {
	.name = "help",
	.summary = "what a command does; with --json the whole command table",
	.synopsis = "[COMMAND [SUBCOMMAND]]",
	.max_pos = 2,
	.run = run_help,
};
