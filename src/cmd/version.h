/* `lockstep --version`: version, numerics and the optional parts of this build. Prints;
 * one thread. */
#ifndef LS_CMD_VERSION_H
#define LS_CMD_VERSION_H

#include <stdbool.h>

int ls_cmd_print_version(bool as_json);

const char *ls_cmd_compiler(void); /* "gcc 12.2.0" */

/* Made by the build (tools/commit.cmake): the commit, with "-dirty" when tracked files
 * were changed; or empty. */
extern const char ls_build_commit[];

#endif
