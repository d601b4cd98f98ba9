/* The parts of `lockstep spec` and what they share.
 * Static data; nothing owned.
 * One thread. */
#ifndef LS_CMD_SPEC_H
#define LS_CMD_SPEC_H

#include "cmd/cmd.h"

extern const struct ls_cmd ls_cmd_spec_capture, ls_cmd_spec_render; /* spec_make.c */

/* Today in UTC, or the day of SOURCE_DATE_EPOCH. */
int ls_spec_today(char ret[11], struct ls_err *err);

#endif
