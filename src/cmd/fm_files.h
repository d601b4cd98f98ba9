/* The files of an fm command, looked at before the work: what would fail or do harm at
 * its end is refused at its start. Borrows what it is given. One thread; ls_fm_guard_maps
 * is for the whole process. */
#ifndef LS_CMD_FM_FILES_H
#define LS_CMD_FM_FILES_H

#include <stdbool.h>

#include "base/err.h"

/* what: as the user wrote it, "DATA" or "--log". path NULL: not given. An output is
 * replaced, or added to. */
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

/* A mapped file that another program makes shorter ends the process by SIGBUS: from here
 * on with a sentence and status 2. One that is written to may end it by SIGSEGV: with a
 * sentence, too. */
void ls_fm_guard_maps(void);

#endif
