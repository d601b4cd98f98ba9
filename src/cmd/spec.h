/* The parts of `lockstep spec` and what they share.
 * Static data; nothing owned.
 * One thread. */
#ifndef LS_CMD_SPEC_H
#define LS_CMD_SPEC_H

#include "cmd/cmd.h"
#include "env/spec/spec_check.h"

extern const struct ls_cmd ls_cmd_spec_capture, ls_cmd_spec_render; /* spec_make.c */
extern const struct ls_cmd ls_cmd_spec_import, ls_cmd_spec_upgrade;

/* May a spec be called that? */
bool ls_spec_is_name(const char *s);
/* The file of -o, NULL for stdout ("-", as elsewhere). False: bad usage, told. */
bool ls_spec_output_file(const struct ls_cmd *cmd, const struct ls_args *args, const char **ret);

/* Today in UTC, or the day of SOURCE_DATE_EPOCH. */
int ls_spec_today(char ret[11], struct ls_err *err);

/* The day of --today, or today. False: bad usage or no clock, told. */
bool ls_spec_day(const struct ls_cmd *cmd, const struct ls_args *args, char ret[11]);
void ls_spec_print_finding(const struct ls_spec_finding *f);

#endif
