/* `lockstep --version`: version, numerics and which optional parts this build has. Prints; one thread. */
#ifndef LS_CMD_VERSION_H
#define LS_CMD_VERSION_H

#include <stdbool.h>

int ls_cmd_print_version(bool as_json);

#endif
