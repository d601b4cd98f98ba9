/* Slurm's reason codes in plain words. Nothing is owned. Any thread. */
#ifndef LS_JOB_SLURM_WORDS_H
#define LS_JOB_SLURM_WORDS_H

/* Why a job waits, and what helps; NULL where the code is not known. */
const char *ls_slurm_reason(const char *code);

#endif
