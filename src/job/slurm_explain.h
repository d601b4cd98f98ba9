/* Why an experiment that Slurm has does not run: what the scheduler says, in plain words.
 * One thread a store. */
#ifndef LS_JOB_SLURM_EXPLAIN_H
#define LS_JOB_SLURM_EXPLAIN_H

#include "job/store.h"

/* Asks squeue, and appends to reasons, an array of texts. That Slurm does not answer is
 * one of them. */
int ls_slurm_explain(struct ls_store *s, const json_t *row, json_t *reasons, struct ls_err *err);

#endif
