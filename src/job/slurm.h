/* Slurm as an engine: what `exp` does with experiments that it runs. The store is brought
 * up to date by whoever looks (ls_slurm_refresh), with one call of squeue for all jobs;
 * there is no daemon. One thread a store. */
#ifndef LS_JOB_SLURM_H
#define LS_JOB_SLURM_H

#include <stdbool.h>
#include <stddef.h>

#include "job/queue.h"

/* ls_queue_submit, and then to Slurm. *ret: [{"name", "job": "12" or "12_0", "script"}].
 * LS_EINPUT: Slurm refuses one of them, and none is submitted. self: this program's file.
 */
int ls_slurm_submit(struct ls_store *s, const char *const *names, size_t n,
		    const struct ls_submit *how, const char *self, json_t **ret,
		    struct ls_err *err);

/* Gives Slurm what ls_queue_retry has queued for it. names is its answer. */
int ls_slurm_resubmit(struct ls_store *s, const json_t *names, const char *self,
		      struct ls_err *err);

struct ls_slurm_news {
	size_t jobs;   /* experiments that Slurm has, or had until now */
	bool answered; /* false: what the store shows of them may be old */
	char why[512]; /* of that */
};

/* Asks Slurm and reads the run folders, and brings the store up to date. Costs nothing
 * where no experiment is Slurm's. An unanswered question is no error. */
int ls_slurm_refresh(struct ls_store *s, const char *self, struct ls_slurm_news *ret,
		     struct ls_err *err);

#endif
