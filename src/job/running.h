/* The experiments of a store that run now, with what somebody who watches them needs.
 * Rows are JSON objects of the caller's. One thread a store. */
#ifndef LS_JOB_RUNNING_H
#define LS_JOB_RUNNING_H

#include "job/store.h"

enum { LS_RUNNING_MOST = 64, LS_RUNNING_FILES = 4 };

/* An array of {"name", "token" (of its attempt), "supervisor" (a process of this machine,
 * or 0), "job" (Slurm's number as a text, or null), "files"}: files are the paths of
 * metrics that it writes line by line, at most 4, in the order of the rules of its
 * harvest. At most 64 experiments. */
int ls_running(struct ls_store *s, json_t **ret, struct ls_err *err);

#endif
