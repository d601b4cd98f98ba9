/* The jobs of this store as squeue lists them. A list is freed by ls_slurm_jobs_done. Any
 * thread. */
#ifndef LS_JOB_SLURM_READ_H
#define LS_JOB_SLURM_READ_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "job/store.h"

/* Jobs carry it with the submission's uuid behind it: Slurm may give a job id twice. */
#define LS_SLURM_COMMENT "lockstep:"

struct ls_slurm_job {
	char uuid[LS_UUID_TEXT];
	int64_t job;     /* of the whole array, where it is one */
	int64_t task;    /* -1: no array */
	char state[32];  /* "PENDING" */
	char reason[64]; /* "Priority", or "" */
	char partition[64];
	char nodes[128];  /* "" before it runs */
	int64_t expected; /* seconds since 1970 of the start, 0: Slurm does not know */
};

struct ls_slurm_jobs {
	struct ls_slurm_job *items;
	size_t n, cap;
};

enum ls_slurm_class {
	LS_SLURM_WAITS, /* it will run, or run again */
	LS_SLURM_RUNS,  /* it has nodes */
	LS_SLURM_OVER,
};

/* States that we do not know are alive: they are asked for again. */
enum ls_slurm_class ls_slurm_class(const char *state);

/* All jobs of this user that a lockstep submitted, the recently ended ones, too, by one
 * call of squeue. LS_EUNKNOWN: Slurm does not answer. */
int ls_slurm_jobs(struct ls_slurm_jobs *ret, struct ls_err *err);
/* The same from what squeue printed, which is changed. Lines of other jobs are left out.
 */
void ls_slurm_jobs_parse(char *text, struct ls_slurm_jobs *ret);
void ls_slurm_jobs_done(struct ls_slurm_jobs *jobs);

/* What the accounting remembers of ended jobs that squeue no longer lists, appended to
 * ret; where there is no accounting, nothing. rows have "submission", "job", "task",
 * "job_name" and "sent_s". An entry is taken only when name and time of submission fit,
 * because ids are given again. */
void ls_slurm_accounts(const json_t *rows, struct ls_slurm_jobs *ret);
/* The same from what sacct printed, which is changed. */
void ls_slurm_accounts_parse(char *text, const json_t *rows, struct ls_slurm_jobs *ret);

/* The job of a submission and its task; NULL: it is not listed. */
const struct ls_slurm_job *ls_slurm_find(const struct ls_slurm_jobs *jobs, const char *uuid,
					 int64_t task);

#endif
