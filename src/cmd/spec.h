/* The parts of `lockstep spec` and what they share.
 * Static data; nothing owned.
 * One thread. */
#ifndef LS_CMD_SPEC_H
#define LS_CMD_SPEC_H

#include "cmd/cmd.h"

extern const struct ls_cmd ls_cmd_spec_capture, ls_cmd_spec_render; /* spec_make.c */
extern const struct ls_cmd ls_cmd_spec_import;

/* May a spec be called that? */
bool ls_spec_is_name(const char *s);
/* The file of -o, NULL for stdout ("-", as elsewhere). False: bad usage, told. */
bool ls_spec_output_file(const struct ls_cmd *cmd, const struct ls_args *args, const char **ret);

/* Today in UTC, or the day of SOURCE_DATE_EPOCH. */
int ls_spec_today(char ret[11], struct ls_err *err);

#endif
