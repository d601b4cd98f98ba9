/* Checks the files of an fm command before the work begins, so that nothing fails or does
 * harm at its end. Borrows what it is given. One thread; ls_fm_guard_maps is for the
 * whole process. */
#ifndef LS_CMD_FM_FILES_H
#define LS_CMD_FM_FILES_H

#include <stdbool.h>

#include "base/err.h"

/* what: as the user wrote it, "DATA" or "--log". path: NULL if it was not given. `added`:
 * an output that is added to, not replaced. */
struct ls_fm_file {
	const char *what, *path;
	bool append;
};

enum { LS_FM_FILES = 8 };

struct ls_fm_files {
	struct ls_fm_file inputs[LS_FM_FILES],
		outputs[LS_FM_FILES]; /* up to the first without a name */
	struct ls_fm_file start;      /* an input that the first output may replace */
};

/* Every output must have a place that can be written to, and be neither an input nor
 * another output. LS_EINPUT. */
int ls_fm_files_check(const struct ls_fm_files *files, struct ls_err *err);

/* If another program shortens a mapped file, reading it raises SIGBUS; if it writes to
 * one, SIGSEGV may follow. From here on the process then ends with a sentence; after
 * SIGBUS with status 2. */
void ls_fm_guard_maps(void);

#endif
