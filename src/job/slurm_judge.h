/* What became of an experiment that was given to Slurm, from what Slurm says of its job
 * and from the records in its folder. Nothing is asked and nothing is changed here. Any
 * thread.
 *
 * Nothing that is unknown ends an experiment: only a record, a word of Slurm's, or the
 * absence of both for so long that the job cannot come back. */
#ifndef LS_JOB_SLURM_JUDGE_H
#define LS_JOB_SLURM_JUDGE_H

#include "job/attempt.h"
#include "job/slurm_read.h"

/* How long a job has to be missing, and its lease unrenewed, before it counts as lost.
 * Longer than network file systems keep a stale view of a folder. */
enum { LS_SLURM_MISSING_S = 60, LS_SLURM_LEASE_S = 300 };

struct ls_slurm_facts {
	bool answered;                  /* Slurm did; otherwise job means nothing */
	const struct ls_slurm_job *job; /* NULL: it lists no such job */
	bool running;                   /* by the store: an attempt has begun */
	bool before;                    /* the store had this attempt before Slurm was asked */
	bool next;                      /* the folder of a later attempt is there */
	struct ls_ending end;           /* of the attempt */
	bool again;                     /* its record says that the script asked for a requeue */
	bool cancel;                    /* we asked for its end */
	double missing_s; /* since it was first seen missing or over without a record */
	double lease_s;   /* since the attempt's lease was renewed */
};

enum ls_slurm_what {
	LS_SLURM_STAYS,    /* as it is: why has a word for people */
	LS_SLURM_BEGINS,   /* the next attempt has begun */
	LS_SLURM_REQUEUED, /* the attempt is over (outcome), and Slurm runs another one */
	LS_SLURM_ENDED,    /* with outcome and state */
	LS_SLURM_DROPPED,  /* it never began and will not: cancelled */
};

struct ls_slurm_verdict {
	enum ls_slurm_what what;
	bool missing;        /* Slurm owes an answer: the clock of missing_s runs */
	const char *outcome; /* of the attempt */
	const char *state;   /* of the experiment */
	char why[320];
};

void ls_slurm_judge(const struct ls_slurm_facts *f, struct ls_slurm_verdict *ret);

#endif
