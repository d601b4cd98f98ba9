/* Gives experiments to Slurm: groups them into arrays, writes their scripts, calls
 * sbatch. One thread a store.
 *
 * A submission has its uuid in the store before sbatch is called, and jobs carry it, so
 * that one whose submitter was killed is found again. The lock is held meanwhile; whoever
 * holds it knows that nobody else is between the two. */
#ifndef LS_JOB_SLURM_SEND_H
#define LS_JOB_SLURM_SEND_H

#include <stdbool.h>

#include "job/store.h"

/* wait: until it is free. *ret_fd: -1 when it is not. */
int ls_slurm_lock(struct ls_store *s, bool wait, int *ret_fd, struct ls_err *err);
void ls_slurm_unlock(int fd); /* -1 is fine */

/* Everything in the queue that Slurm has not been given; the lock is held. What Slurm
 * refuses is cancelled with its reason, with all else of the same command, and that is no
 * error here. self: this program's file. */
int ls_slurm_send(struct ls_store *s, const char *self, struct ls_err *err);

/* Cancels, in the store, an experiment that Slurm does not have. Inside a transaction. */
int ls_slurm_drop(struct ls_store *s, const json_t *row, const char *why, struct ls_err *err);

#endif
