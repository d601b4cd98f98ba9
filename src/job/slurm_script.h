/* The batch script of a submission: one experiment, or several as the tasks of an array.
 * It is plain bash, meant to be read, and runs again after a requeue, each time in a new
 * attempt folder. Any thread. */
#ifndef LS_JOB_SLURM_SCRIPT_H
#define LS_JOB_SLURM_SCRIPT_H

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

struct ls_slurm_script {
	const json_t *rows;     /* experiments; all with the same resources and options */
	const json_t *options;  /* of ls_slurm_options_check */
	const char *uuid;       /* of the submission */
	const char *project;    /* absolute */
	const char *log;        /* Slurm's own messages, below the project; no suffix */
	const char *dependency; /* "afterok:12", or NULL */
	const char *self;       /* this program, for `lockstep run` around a command */
};

/* {"partition", "gres", "time", "mem", "account", "qos", "constraint": texts; "nodes",
 *  "throttle": numbers; "sbatch": [words]}, all optional. Refuses what a line of a script
 * cannot hold. */
int ls_slurm_options_check(const json_t *options, struct ls_err *err);

/* The options of sbatch as an array of words; the script's directives are the same. */
int ls_slurm_words(const struct ls_slurm_script *w, json_t **ret, struct ls_err *err);
int ls_slurm_script(const struct ls_slurm_script *w, struct ls_str *out, struct ls_err *err);

#endif
