/* From argv to a command and from its result to an exit status. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/version.h"

int ls_cmd_status(int code)
{
	switch (code) {
	case LS_OK:
		return LS_EXIT_YES;
	case LS_EDIFFER:
		return LS_EXIT_NO;
	case LS_EINPUT:
	case LS_ENOENT:
		return LS_EXIT_INPUT;
	case LS_EUNKNOWN:
		return LS_EXIT_UNKNOWN;
	case LS_EINTR:
		return 130;
	default:
		return LS_EXIT_INTERNAL;
	}
}

/* Messages quote files and arguments, whose bytes must not reach a terminal as escape
 * sequences. */
void ls_cmd_note(const char *msg)
{
	struct ls_str s = {0};
	ls_str_add_printable(&s, msg);
	fprintf(stderr, "lockstep: %s\n", s.s ? s.s : "");
	ls_str_done(&s);
}

int ls_cmd_fail(const struct ls_err *err)
{
	ls_cmd_note(err->msg);
	return ls_cmd_status(err->code);
}

/* The command that runs, as it was called ("spec check "), for messages about its usage;
 * empty before it is known. */
static char running[64];

int ls_cmd_usage(const char *fmt, ...)
{
	char msg[2048];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	ls_cmd_note(msg);
	fprintf(stderr, "Try lockstep %s--help.\n", running);
	return LS_EXIT_INPUT;
}

static const struct ls_cmd *find(const struct ls_cmd *const *table, const char *name)
{
	for (; *table; table++)
		if (strcmp((*table)->name, name) == 0)
			return *table;
	return NULL;
}

static int unknown_command(const struct ls_cmd *const *table, const char *parent, const char *name)
{
	enum { MAX = 64 };
	const char *names[MAX + 1];
	size_t n = 0;
	for (; *table && n < MAX; table++)
		names[n++] = (*table)->name;
	names[n] = NULL;
	const char *near = ls_str_nearest(name, names);
	struct ls_str msg = {0};
	ls_str_addf(&msg, "%s%sunknown command \"%s\"", parent, *parent ? ": " : "", name);
	if (near)
		ls_str_addf(&msg, " (did you mean \"%s\"?)", near);
	ls_cmd_note(msg.s);
	ls_str_done(&msg);
	fprintf(stderr, "Try lockstep %s%s--help.\n", parent, *parent ? " " : "");
	return LS_EXIT_INPUT;
}

static int check_positionals(const struct ls_cmd *cmd, const struct ls_args *args)
{
	int n = (int)args->n_pos;
	if (n < cmd->min_pos)
		return ls_cmd_usage("%s: an argument is missing; usage: lockstep %s%.*s", cmd->name,
				    running, (int)strcspn(cmd->synopsis, "\n"), cmd->synopsis);
	if (cmd->max_pos >= 0 && n > cmd->max_pos)
		return ls_cmd_usage("%s: unexpected argument \"%s\"", cmd->name,
				    args->pos[cmd->max_pos]);
	return 0;
}

static bool wants_help(const char *arg)
{
	return strcmp(arg, "-h") == 0 || strcmp(arg, "--help") == 0;
}

static int run_leaf(const struct ls_cmd *parent, const struct ls_cmd *cmd, int argc,
		    const char *const *argv)
{
	static const struct ls_opt none[] = {{0}};
	const struct ls_opt *tables[] = {cmd->opts ? cmd->opts : none, ls_common_opts, NULL};
	struct ls_args *args;
	struct ls_err err = {0};
	snprintf(running, sizeof running, "%s%s%s ", parent ? parent->name : "", parent ? " " : "",
		 cmd->name);
	if (ls_args_parse(tables, cmd->rest_is_command, argc, argv, &args, &err))
		return ls_cmd_usage("%s: %s", cmd->name, err.msg);
	int status = 0;
	if (ls_args_has(args, "help"))
		ls_cmd_print_help(parent, cmd, stdout);
	else if ((status = check_positionals(cmd, args)) == 0)
		status = cmd->run(cmd, args);
	ls_args_free(args);
	return status;
}

static int run_command(const struct ls_cmd *cmd, int argc, const char *const *argv)
{
	if (!cmd->subs)
		return run_leaf(NULL, cmd, argc, argv);
	if (argc == 0) {
		ls_cmd_print_help(NULL, cmd, stderr);
		return LS_EXIT_INPUT;
	}
	if (wants_help(argv[0])) {
		ls_cmd_print_help(NULL, cmd, stdout);
		return 0;
	}
	const struct ls_cmd *sub = find(cmd->subs, argv[0]);
	if (!sub)
		return unknown_command(cmd->subs, cmd->name, argv[0]);
	return run_leaf(cmd, sub, argc - 1, argv + 1);
}

static int version(int argc, const char *const *argv)
{
	bool as_json = argc > 0 && strcmp(argv[0], "--json") == 0;
	if (argc > as_json)
		return ls_cmd_usage("--version takes nothing but --json");
	return ls_cmd_print_version(as_json);
}

static int run_top(int argc, const char *const *argv)
{
	if (argc < 2) {
		ls_cmd_print_help(NULL, NULL, stderr);
		return LS_EXIT_INPUT;
	}
	if (wants_help(argv[1])) {
		ls_cmd_print_help(NULL, NULL, stdout);
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0)
		return version(argc - 2, argv + 2);
	const struct ls_cmd *cmd = find(ls_cmds, argv[1]);
	if (cmd)
		return run_command(cmd, argc - 2, argv + 2);
	if (argv[1][0] == '-')
		return ls_cmd_usage("unknown option %s", argv[1]);
	return unknown_command(ls_cmds, "", argv[1]);
}

void ls_cmd_on_stop(void (*handler)(int))
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction act = {.sa_handler = handler}, was;
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (sigaction(signals[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaction(signals[i], &act, NULL);
}

/* A file that may not grow (ulimit -f) is a failed write, too. The signal is handled and
 * not ignored, because programs that are started would inherit that. */
static void on_limit(int number)
{
	(void)number;
}

int ls_cmd_dispatch(int argc, const char *const *argv)
{
	signal(SIGPIPE,
	       SIG_IGN); /* a closed pipe is a failed write, which the check below reports */
	signal(SIGXFSZ, on_limit);
	int status = run_top(argc, argv);
	if (ls_cmd_output_incomplete())
		status = LS_EXIT_INTERNAL;
	/* What was promised on stdout must have arrived: a full disk or a closed pipe is
	 * no success. */
	if ((fflush(stdout) != 0 || ferror(stdout)) && status != LS_EXIT_INTERNAL) {
		if (errno != EPIPE)
			fprintf(stderr, "lockstep: cannot write standard output: %s\n",
				strerror(errno));
		return LS_EXIT_INTERNAL;
	}
	return status;
}
