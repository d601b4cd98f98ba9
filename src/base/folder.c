#include "base/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"

int ls_folder_make(const char *path, struct ls_err *err)
{
	if (!*path)
		return ls_err_set(err, LS_EINPUT, "the name of a folder is empty");
	char *copy = ls_xstrdup(path);
	int rc = 0;
	for (char *p = copy + 1; rc == 0; p++) {
		if (*p != '/' && *p != 0)
			continue;
		char keep = *p;
		*p = 0;
		if (mkdir(copy, 0777) < 0 && errno != EEXIST) {
			rc = ls_err_set(err, LS_EIO, "%s: cannot make the folder: %s", copy,
					strerror(errno));
		}
		*p = keep;
		if (!keep)
			break;
	}
	struct stat st;
	if (rc == 0 && (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)))
		rc = ls_err_set(err, LS_EINPUT, "%s: there is something there that is not a folder",
				path);
	free(copy);
	return rc;
}
