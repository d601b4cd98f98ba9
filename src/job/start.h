/* From a claimed experiment to a process: folders, environment, command, supervisor. One
 * thread. */
#ifndef LS_JOB_START_H
#define LS_JOB_START_H

#include <sys/types.h>

#include "job/store.h"
#include "job/worker.h"

/* row is one of ls_queue_claim's. *ret_pid is the supervisor. */
int ls_start(struct ls_store *s, const struct ls_worker_options *o, const json_t *row,
	     pid_t *ret_pid, struct ls_err *err);

#endif
