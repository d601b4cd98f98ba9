/* The local engine: claims jobs, starts a supervisor beside each, and records how they
 * end. It keeps nothing in memory that is not in the store or in the attempts' folders,
 * so that it may be killed at any moment. One thread, one worker a process. */
#ifndef LS_JOB_WORKER_H
#define LS_JOB_WORKER_H

#include <stdbool.h>

#include "job/store.h"

struct ls_worker_options {
	json_t *gpus;      /* ids as texts; borrowed */
	int64_t slots;     /* processors for experiments without GPUs */
	double soft, hard; /* limits in seconds of jobs that were submitted without; 0: none */
	double grace;      /* likewise */
	bool once;         /* end when nothing is left that can run */
	char *const *envp; /* of the jobs, to begin with */
	const char *self;  /* this program's file, for `lockstep run` around a job */
	/* A line for the user. */
	void (*say)(void *ctx, const char *text);
	void *ctx;
};

struct ls_worker_result {
	int64_t done, other; /* attempts that ended */
	int left;            /* jobs that go on under their supervisors */
	int signal;          /* that ended the worker, or 0 */
};

/* SIGINT or SIGTERM: takes nothing new and ends with the jobs that run; a second one, or
 * SIGHUP: ends at once, and the jobs go on. */
int ls_worker_run(struct ls_store *s, const struct ls_worker_options *o,
		  struct ls_worker_result *ret, struct ls_err *err);

#endif
