/* Help as text, from the command table. */
#include <string.h>

#include "cmd/cmd.h"

const struct ls_opt ls_common_opts[] = {
	{"help", 'h', NULL, "show this help"},
	{"json", 0, NULL, "print one JSON document on stdout"},
	{0},
};

static void print_forms(const char *parent, const char *name, const char *synopsis, FILE *to)
{
	const char *lead = "usage: ";
	for (const char *p = synopsis;; p = strchr(p, '\n') + 1) {
		int len = (int)strcspn(p, "\n");
		fprintf(to, "%slockstep %s%s%s%s%.*s\n", lead, parent, *parent ? " " : "", name,
			len ? " " : "", len, p);
		lead = "       ";
		if (!p[len])
			break;
	}
}

static int code_points(const char *s)
{
	int n = 0;
	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void print_options(const struct ls_opt *opts, FILE *to)
{
	for (const struct ls_opt *o = opts; o && o->name; o++) {
		char left[160];
		snprintf(left, sizeof left, "%c%c%s --%s%s%s", o->letter ? '-' : ' ',
			 o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name,
			 o->arg && !ls_opt_is_optional(o) ? " " : "", o->arg ? o->arg : "");
		int width = code_points(left);
		if (width > 30)
			fprintf(to, "  %s\n  %-30s %s\n", left, "", o->help);
		else
			fprintf(to, "  %s%*s %s\n", left, 30 - width, "", o->help);
	}
}

static void print_commands(const struct ls_cmd *const *table, FILE *to)
{
	for (; *table; table++)
		fprintf(to, "  %-12s %s\n", (*table)->name, (*table)->summary);
}

void ls_cmd_print_help(const struct ls_cmd *parent, const struct ls_cmd *cmd, FILE *to)
{
	if (!cmd) {
		fputs("usage: lockstep COMMAND [OPTION…] [ARGUMENT…]\n\n"
		      "Machine-learning runs that are repeatable to the last bit, with the "
		      "proof.\n\ncommands:\n",
		      to);
		print_commands(ls_cmds, to);
		fputs("\n  --version    what this build is and has\n\n`lockstep COMMAND --help` "
		      "tells more.\n"
		      "Exit status: 0 yes, 1 no, 2 bad input, 3 cannot tell here, 4 failure,\n"
		      "5 the program of `lockstep verify` failed.\n",
		      to);
		return;
	}
	print_forms(parent ? parent->name : "", cmd->name, cmd->subs ? "COMMAND …" : cmd->synopsis,
		    to);
	fprintf(to, "\n%s\n", cmd->summary);
	if (cmd->details)
		fprintf(to, "\n%s\n", cmd->details);
	if (cmd->subs) {
		fputs("\ncommands:\n", to);
		print_commands(cmd->subs, to);
		fprintf(to, "\n`lockstep %s COMMAND --help` tells more.\n", cmd->name);
		return;
	}
	fputs("\noptions:\n", to);
	print_options(cmd->opts, to);
	print_options(ls_common_opts, to);
}
