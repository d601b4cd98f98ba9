/* One attempt of a job on this machine, as its files show it. Paths are the caller's. Any
 * thread.
 *
 * The lock file is the truth about life: the supervisor holds a lock on it (flock), and
 * so does every process of the job that inherits the descriptor. The kernel lets it go
 * when the last of them is gone, whoever was killed in whatever order. The exit record
 * says how it ended; where it is missing and the lock is free, the attempt was lost. */
#ifndef LS_JOB_ATTEMPT_H
#define LS_JOB_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define LS_ATTEMPT_VARIABLE "LOCKSTEP_ATTEMPT" /* holds the token in every process of a job */

/* --- the lock --- */

/* Takes the lock for a new attempt. *ret_fd is inherited by the supervisor. */
int ls_attempt_lock(const char *lock, int *ret_fd, struct ls_err *err);
/* Writes who supervises into the lock file; fd holds the lock. */
void ls_attempt_sign(int fd);
/* Whether somebody holds the lock. A missing file is free. */
bool ls_attempt_alive(const char *lock);
/* A descriptor that becomes readable when the supervisor has ended; -1: it has. The
 * process that has the number now is told from the one that wrote the file. */
int ls_attempt_watch(const char *lock);
/* The supervisor's process; 0: it has ended, or nobody signed the lock. */
pid_t ls_attempt_supervisor(const char *lock);
/* Asks the supervisor to end the job (SIGTERM, then the grace period, then SIGKILL). */
void ls_attempt_stop(const char *lock);
/* Whether a process of this user that began after the supervisor is just ending. It has
 * lost its environment, so it cannot be told whose it is, but it may still hold files,
 * locks and the memory of a GPU. */
bool ls_attempt_dying(const char *lock);
/* Kills every process that carries the token in its environment: for jobs without a
 * supervisor. Returns how many there were. */
int ls_attempt_kill(const char *token);

/* --- the exit record --- */

enum ls_stopped {
	LS_STOPPED_NOT,
	LS_STOPPED_CANCEL,
	LS_STOPPED_SOFT,
	LS_STOPPED_HARD,
	LS_STOPPED_TOLD, /* by Slurm, which knows why */
};

struct ls_ending {
	bool known;       /* false: there is no record, and only the next two may be set */
	bool not_started; /* the worker could not begin it: it does not count as a try */
	char why[256];    /* of that; else "" */
	int status;       /* 0 to 255, when signal is 0 */
	int signal;
	enum ls_stopped stopped; /* who ended it, if not itself */
	double wall_s, user_s, system_s;
	int64_t peak_rss; /* bytes */
};

/* Makes room for the record, so that a disk that fills up later cannot lose it. */
int ls_ending_reserve(const char *path, int *ret_fd, struct ls_err *err);
/* Writes it into that room and waits until it is on the disk. */
int ls_ending_write(int fd, const struct ls_ending *e);
/* No record, half a record and nonsense are all not known. */
void ls_ending_read(const char *path, struct ls_ending *ret);
/* The same for the text of a record. */
void ls_ending_parse(const char *text, size_t len, struct ls_ending *ret);

#endif
