/* Child processes: runs a program to its end and keeps what it printed. Output buffers
 * are the caller's (ls_str_done). Any thread. */
#ifndef LS_BASE_PROC_H
#define LS_BASE_PROC_H

#include "base/err.h"
#include "base/str.h"

struct ls_proc_result {
	int status; /* exit status, or 128 + signal */
	bool timed_out;
	struct ls_str out, err; /* at most 16 MiB each; the rest is read and dropped */
};

/* The program that PATH leads to for name (a name with a slash stands for itself), or
 * NULL; caller frees. */
char *ls_proc_find(const char *name);

/* argv[0] is looked up on PATH; argv ends with NULL; standard input is /dev/null. The
 * child is killed after `seconds`. Fails with LS_ENOENT when there is no such program. */
int ls_proc_run(const char *const *argv, double seconds, struct ls_proc_result *ret,
		struct ls_err *err);
void ls_proc_result_done(struct ls_proc_result *r);

#endif
