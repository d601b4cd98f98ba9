/* The queue: how an experiment's state changes. Each function is one transaction that
 * also appends to the history. A worker's changes name the owner and the attempt that
 * they are about; where these are no longer the ones in the store, nothing happens. One
 * thread a store.
 *
 *   new --submit--> queued --claim--> running --finish--> done | failed | cancelled | dead
 *                     ^                  |
 *                     +---- requeue -----+   lost attempts, up to the number of retries
 */
#ifndef LS_JOB_QUEUE_H
#define LS_JOB_QUEUE_H

#include "job/attempt.h"
#include "job/store.h"

struct ls_submit {
	const char *engine;       /* "local" or "slurm" */
	const json_t *slurm;      /* for Slurm: ls_slurm_options_check; else NULL */
	const char *batch;        /* likewise: a uuid for the command */
	int64_t priority;         /* the largest first, then first in, first out */
	int64_t retries;          /* of attempts that were lost */
	int64_t slots;            /* processors, for experiments without GPUs */
	double soft, hard, grace; /* seconds; 0: none, -1: the worker's own */
	bool requeue;             /* an attempt that met its limit goes on in a new one */
};

/* Names of experiments or groups, in this order, all or none. */
int ls_queue_submit(struct ls_store *s, const char *const *names, size_t n,
		    const struct ls_submit *how, struct ls_err *err);
/* Again, those that have ended: with failed only those that failed, died or were
 * cancelled. No names: all of them. seed: NULL or a new one. *ret: the names as an array.
 */
int ls_queue_retry(struct ls_store *s, const char *const *names, size_t n, bool failed,
		   const int64_t *seed, json_t **ret, struct ls_err *err);
/* Those of a group that have ended are left out. Queued: it is cancelled. Running: its
 * supervisor is asked to end it. What Slurm has is only marked: ls_slurm_refresh ends it
 * there. */
int ls_queue_cancel(struct ls_store *s, const char *const *names, size_t n, struct ls_err *err);

/* --- what both engines call, inside a transaction --- */

/* The next attempt begins. row gets "attempt", "token" and "folder" (of the attempt,
 * below the project's folder); it has "gpus". lease: seconds. */
int ls_queue_begin(struct ls_store *s, const char *owner, double lease, json_t *row,
		   struct ls_err *err);

struct ls_verdict {
	const char *outcome; /* of the attempt: done, failed, cancelled, timeout or lost */
	const char *state;   /* of the experiment */
	char why[320];
};

/* The attempt that row names has ended. */
int ls_queue_end(struct ls_store *s, const char *owner, const json_t *row,
		 const struct ls_ending *e, const struct ls_verdict *v, struct ls_err *err);

/* --- what the local worker calls --- */

struct ls_owner {
	char uuid[LS_UUID_TEXT];
	json_t *gpus;  /* ids as texts, as CUDA_VISIBLE_DEVICES knows them */
	int64_t slots; /* processors */
};

int ls_queue_register(struct ls_store *s, const struct ls_owner *w, struct ls_err *err);
/* Forgets workers that were killed: nobody holds their locks. */
int ls_queue_bury(struct ls_store *s, struct ls_err *err);
int ls_queue_leave(struct ls_store *s, const struct ls_owner *w, struct ls_err *err);
/* Claims whatever fits beside what runs. *ret: the experiments' rows, with "token",
 * "folder" (of the attempt, below the project's folder) and gpus. */
int ls_queue_claim(struct ls_store *s, const struct ls_owner *w, json_t **ret, struct ls_err *err);
/* Running experiments that w does not own: {"id", "owner", "lease_over", …}. */
int ls_queue_foreign(struct ls_store *s, const struct ls_owner *w, json_t **ret,
		     struct ls_err *err);
/* Takes one of those over; *ret_row is NULL when somebody else was quicker. */
int ls_queue_adopt(struct ls_store *s, const struct ls_owner *w, const json_t *foreign,
		   json_t **ret_row, struct ls_err *err);
/* Renews the leases of all that w owns. */
int ls_queue_renew(struct ls_store *s, const struct ls_owner *w, struct ls_err *err);
/* Names of what w owns and shall cancel. */
int ls_queue_cancelled(struct ls_store *s, const struct ls_owner *w, json_t **ret,
		       struct ls_err *err);
/* An attempt of w has ended. *ret_state is what became of the experiment, static; NULL:
 * it was no longer w's. */
int ls_queue_finish(struct ls_store *s, const struct ls_owner *w, const json_t *row,
		    const struct ls_ending *e, const char **ret_state, struct ls_err *err);

enum { LS_LEASE_S = 60 };

/* Counts by state, and of the attempts that ended in the last `seconds`: {"queued", …,
 * "window": {"ended", "done", "cancelled"}}. */
int ls_queue_counts(struct ls_store *s, double seconds, json_t **ret, struct ls_err *err);
/* Whether a worker of this store lives: its lock file is held. */
int ls_queue_workers(struct ls_store *s, json_t **ret, struct ls_err *err);

/* .lockstep/locks/NAME, to be freed. */
char *ls_queue_lock(struct ls_store *s, const char *name);

#endif
