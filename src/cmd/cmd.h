/* A command: its names, its options and the function that runs it. The tables here are the only
 * place that says what the command line is; --help, completion and the tests of the man pages read
 * them. All data is static; one thread.
 *
 * To add a command:
 *  1. src/cmd/<name>.c exports `const struct ls_cmd ls_cmd_<name>`: parse, call the library, print,
 * return the status
 *  2. declare it below and add it to the table in src/main.c
 *  3. docs/man/lockstep-<name>.1: the test lint.man compares its synopsis and options with the
 * table
 *  4. tests/cli/cases/<name>/: success, a negative answer, bad input; `tests/cli/run --update`
 * writes expectations
 *  5. a row in README's "I want to" table, a line in CHANGELOG */
#ifndef LS_CMD_CMD_H
#define LS_CMD_CMD_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "base/err.h"
#include "base/json.h"
#include "base/opt.h"
#include "base/str.h"

enum ls_exit {
	LS_EXIT_YES = 0,
	LS_EXIT_NO = 1,
	LS_EXIT_INPUT = 2,
	LS_EXIT_UNKNOWN = 3,
	LS_EXIT_INTERNAL = 4
};

struct ls_cmd {
	const char *name;
	const char *summary; /* one line, lower case, no full stop */
	const char
		*synopsis;   /* what follows "lockstep NAME"; several forms on lines of their own */
	const char *details; /* a paragraph or two for --help, or NULL */
	const struct ls_opt
		*opts; /* its own options; --help and --json are added for every command; or NULL */
	const struct ls_cmd *const *subs; /* subcommands, NULL-terminated; then run is NULL */
	int min_pos, max_pos;             /* positional arguments; -1: any number */
	bool rest_is_command; /* everything from the first positional on belongs to another program
			       */
	int (*run)(const struct ls_cmd *cmd, const struct ls_args *args);
};

extern const struct ls_cmd *const ls_cmds[]; /* main.c; NULL-terminated */
extern const struct ls_opt ls_common_opts[]; /* --help, --json */

extern const struct ls_cmd ls_cmd_doctor;
extern const struct ls_cmd ls_cmd_run, ls_cmd_manifest, ls_cmd_verify;
extern const struct ls_cmd ls_cmd_help, ls_cmd_completion;
extern const struct ls_cmd ls_cmd_compare;
extern const struct ls_cmd ls_cmd_spec;
extern const struct ls_cmd ls_cmd_fm, ls_cmd_fm_convert;
extern const struct ls_cmd ls_cmd_validate;

/* Runs argv[1..] and returns the exit status. */
int ls_cmd_dispatch(int argc, const char *const *argv);

/* --- for command files --- */

/* Prints "lockstep: message" on stderr; */
void ls_cmd_note(const char *msg);
/* and returns the exit status that the code stands for. */
int ls_cmd_fail(const struct ls_err *err);
/* The same for wrong usage found by the command itself; adds a pointer to the command's --help. */
int ls_cmd_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int ls_cmd_status(int code); /* LS_E* to exit status */
/* What to do when asked to stop (SIGINT, SIGTERM, SIGHUP); what is ignored, as nohup leaves it or a
 * script's &, stays so.
 */
void ls_cmd_on_stop(void (*handler)(int));

void ls_cmd_print_help(const struct ls_cmd *parent, const struct ls_cmd *cmd, FILE *to);
/* Prints v as the one document on stdout and drops the reference. Strings that a user or a file
 * decides go in through ls_json_lossy; with NULL the exit status will be 4. */
void ls_cmd_print_json_take(json_t *v);
bool ls_cmd_output_incomplete(void);
/* A file's name on stdout, escaped as it is in messages: whatever it holds, it makes no line of its
 * own. */
void ls_cmd_print_name(const char *name);
/* Colour sequences, empty where colour is not wanted (not a terminal, TERM=dumb, NO_COLOR). what:
 * "red", "green", "yellow", "bold", "dim", "off". */
const char *ls_cmd_colour(FILE *to, const char *what);
bool ls_cmd_can_draw(FILE *to); /* a terminal, and not one without escape sequences (TERM=dumb) */
/* Now in UTC, or what SOURCE_DATE_EPOCH says, so that a report can be made twice with the same
 * bytes. */
int ls_cmd_now(struct tm *ret, struct ls_err *err);

#endif
