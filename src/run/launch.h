/* Starts the command of a run, passes signals on to it, and waits for its end. Meanwhile
 * the calling thread's signal mask is changed: call it from a process with one thread. */
#ifndef LS_RUN_LAUNCH_H
#define LS_RUN_LAUNCH_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "run/procscan.h"

struct ls_launch {
	const char *const *argv; /* argv[0] is looked up on PATH */
	char *const *envp;
	int output; /* descriptor for the child's standard output and error, or -1: those of the
		       caller */
	/* called on a thread while the child runs, and waited for; or NULL */
	void (*meanwhile)(void *ctx, pid_t child);
	void *ctx;
};

struct ls_launched {
	pid_t pid;
	int status; /* exit status, or 128 + signal */
	int signal; /* 0 when it ended by itself */
	double wall_s, user_s, system_s;
	int64_t peak_rss; /* bytes, the largest of the processes that were waited for */
	int interrupted;  /* the last signal that was sent to us and passed on, or 0 */
};

/* The program that a name means, or why there is none. The caller frees it. */
int ls_launch_find(const char *name, char **ret, struct ls_err *err);
/* scan may be NULL; otherwise the processes below the child are looked at from time to
 * time. */
int ls_launch(const struct ls_launch *what, struct ls_procscan *scan, struct ls_launched *ret,
	      struct ls_err *err);

#endif
