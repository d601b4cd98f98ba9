/* The folder in which validate keeps the files of its handovers. It is locked while it is
 * in use, so that the next validate removes what a killed one has left. One thread. */
#ifndef LS_CMD_VALIDATE_SCRATCH_H
#define LS_CMD_VALIDATE_SCRATCH_H

#include "base/err.h"

/* Zeros: none. */
struct ls_validate_scratch {
	char *path;
	int fd; /* holds the lock */
};

int ls_validate_scratch_open(struct ls_validate_scratch *ret, struct ls_err *err);
void ls_validate_scratch_close(struct ls_validate_scratch *s);

#endif
