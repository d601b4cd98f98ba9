/* What a program writes elsewhere than under its output folder: paths that must not be
 * there when a run begins, and that are moved into the run's folder when it has ended.
 * Everything is borrowed. One thread. */
#ifndef LS_RUN_COLLECT_H
#define LS_RUN_COLLECT_H

#include "base/err.h"

/* Refuses, before anything runs: a path at which there is something, two of the same last
 * name, and one on another file system than the folder `to`, from which it could not be
 * moved. paths: NULL-terminated, or NULL. */
int ls_collect_check(const char *const *paths, const char *to, struct ls_err *err);
/* Moves each to FOLDER/collected/LAST-NAME. *ret_missing: the first that is not there,
 * one of paths, or NULL. */
int ls_collect_take(const char *const *paths, const char *folder, const char **ret_missing,
		    struct ls_err *err);

#endif
