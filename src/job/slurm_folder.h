/* What the script of a Slurm job leaves in the folder of an attempt. Paths are the
 * caller's. Any thread. */
#ifndef LS_JOB_SLURM_FOLDER_H
#define LS_JOB_SLURM_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "job/attempt.h"

/* start.json of a folder, when it is of that submission (NULL: of any): {"job", "nodes", "gpus",
 * "visible", "started"}; NULL: there is none. New reference. */
json_t *ls_slurm_start(const char *folder, const char *submission);

struct ls_slurm_end {
	struct ls_ending end; /* not known: there is no record */
	bool again;           /* the script asked Slurm to run it again */
	int64_t ended;        /* seconds since 1970 */
};

void ls_slurm_end(const char *folder, struct ls_slurm_end *ret);

/* Seconds since the job last showed that it lives. */
double ls_slurm_lease(const char *folder);

#endif
