/* Slurm's own programs, run so that the user's settings for their output do not change
 * what we read: variables that filter or sort (SQUEUE_PARTITION, SINFO_SORT …) are taken
 * away, and times come as seconds since 1970. Nothing is owned. Any thread. */
#ifndef LS_JOB_SLURM_TOOL_H
#define LS_JOB_SLURM_TOOL_H

#include <stdbool.h>

#include "base/err.h"

/* Between fields of a line that we ask for; no name in Slurm holds it. */
#define LS_SLURM_SEPARATOR "\x1f"

bool ls_slurm_installed(void);

/* argv[0] is squeue, sinfo, sbatch, scancel, scontrol or sacct. *ret is what it printed,
 * to be freed. LS_EUNKNOWN where it is not installed, has no answer in time, fails, or
 * says more than is kept; the message then has its first line of complaint. */
int ls_slurm_ask(const char *const *argv, char **ret, struct ls_err *err);

/* Ends a line of fields: returns the next field of *line and moves on; NULL when none is
 * left. The text is changed in place. */
char *ls_slurm_field(char **line);

#endif
