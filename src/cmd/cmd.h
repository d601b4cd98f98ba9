/* A command: its names, its options and the function that runs it. The tables here are
 * the only place that says what the command line is; --help, completion and the tests of
 * the man pages read them. All data is static; one thread.
 * docs/CONTRIBUTING.md, "A new command", has the steps to add one. */
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
	LS_EXIT_INTERNAL = 4,
	LS_EXIT_FAILED = 5 /* verify: a program that it ran did not succeed */
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
extern const struct ls_cmd ls_cmd_plan;
extern const struct ls_cmd ls_cmd_exp, ls_cmd_worker;
extern const struct ls_cmd ls_cmd_monitor;

/* Runs argv[1..] and returns the exit status. */
int ls_cmd_dispatch(int argc, const char *const *argv);

/* --- for command files --- */

/* Prints "lockstep: message" on stderr. */
void ls_cmd_note(const char *msg);
/* The same for err; returns the exit status that its code stands for. */
int ls_cmd_fail(const struct ls_err *err);
/* The same for wrong usage that the command itself found; adds a pointer to its
 * --help. */
int ls_cmd_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int ls_cmd_status(int code); /* LS_E* to exit status */
/* Sets the handler of SIGINT, SIGTERM and SIGHUP. A signal that is ignored, as under
 * nohup or in a script's background job, stays ignored. */
void ls_cmd_on_stop(void (*handler)(int));

void ls_cmd_print_help(const struct ls_cmd *parent, const struct ls_cmd *cmd, FILE *to);
/* Prints v as the only document on stdout and drops the reference. Strings that a user or
 * a file decides go through ls_json_lossy. NULL: exit status 4. */
void ls_cmd_print_json_take(json_t *v);
bool ls_cmd_output_incomplete(void);
/* Prints a file's name on stdout, escaped as in messages, so that it cannot begin a line
 * of its own. */
void ls_cmd_print_name(const char *name);
/* Colour sequences, empty where colour is not wanted (not a terminal, TERM=dumb,
 * NO_COLOR). what: "red", "green", "yellow", "bold", "dim", "off". */
const char *ls_cmd_colour(FILE *to, const char *what);
bool ls_cmd_can_draw(FILE *to); /* a terminal, and not one without escape sequences (TERM=dumb) */
/* The time in UTC, or what SOURCE_DATE_EPOCH says, so that a report can be made again
 * with the same bytes. */
int ls_cmd_now(struct tm *ret, struct ls_err *err);
/* A file or folder of the user's state: $XDG_STATE_HOME/lockstep/NAME or
 * ~/.local/state/lockstep/NAME, to be freed. NULL: there is no home folder. */
char *ls_cmd_state_path(const char *name);
/* Notes for `monitor` that a model was exported, or why not (failure; NULL: it was), in the
 * record that LOCKSTEP_EXPORTS names, or in exports.jsonl of the user's state. What goes
 * wrong with that is said on stderr and is no failure. model may be NULL. */
void ls_cmd_record_export(const char *format, const char *model, const char *file,
			  const struct ls_err *failure);
/* The record; to be freed; NULL: there is no home folder. */
char *ls_cmd_export_record(void);

#endif
