/* One run of a verification: the command in a fresh folder, its log, what it wrote
 * elsewhere, and the last lines of a run that failed. Everything is borrowed; the run is
 * added to the result and belongs to it. One at a time a process, as ls_run. */
#ifndef LS_RUN_VERIFY_RUN_H
#define LS_RUN_VERIFY_RUN_H

#include "run/verify.h"

/* --vary device=cpu,cuda is no variable: the runs see no GPU, or those that there are. */
#define LS_VARY_DEVICE "device="

struct ls_verify_plan {
	const char *label;
	size_t number; /* decides the varied values */
	uint64_t seed;
	const char *trace;
};

int ls_verify_one(const struct ls_verify_request *ask, struct ls_verify *v,
		  const struct ls_verify_plan *plan, struct ls_err *err);
void ls_verify_run_done(struct ls_verify_run *run);
/* "run1 ended with status 3", "run1 was ended by SIGKILL". The caller frees. */
char *ls_verify_how_it_ended(const struct ls_verify_run *run);

/* The last lines of a log as a terminal would show them, with what is not printable as
 * \xNN; "" where there is none. The caller frees. */
char *ls_verify_last_lines(const char *log);

#endif
