/* What the parts of a validation share. All of it lives for one ls_val_run; one
 * thread. */
#ifndef LS_FM_PROOF_VALIDATE_INTERNAL_H
#define LS_FM_PROOF_VALIDATE_INTERNAL_H

#include "fm/proof/validate.h"
#include "fm/train/trial.h"

struct ls_val_session {
	const struct ls_val_plan *plan;
	struct ls_val *v;
	char **dead; /* by way: why it cannot run at all, once that is known */
	size_t done, total;
};

/* Says what is done next, and whether to go on. */
int ls_val_turn(struct ls_val_session *s, const char *cell, size_t way, struct ls_err *err);
/* Runs t on a way. Other than LS_VAL_PASSED: *ret_reason is the caller's to free. */
enum ls_val_state ls_val_try(struct ls_val_session *s, size_t way, struct ls_trial *t,
			     struct ls_trial_result *ret, char **ret_reason);
/* The state that a failure on a way leads to. A device that is absent is not tried
 * again. */
enum ls_val_state ls_val_judge(struct ls_val_session *s, size_t way, int rc,
			       const struct ls_err *err, char **ret_reason);
/* reason may be NULL and is taken over; expected and got may be NULL. */
void ls_val_add_take(struct ls_val_session *s, enum ls_val_part part, size_t way, const char *cell,
		     enum ls_val_state state, const char *expected, const char *got, char *reason);
/* A training that failed: `part` has the state, and what would have come after it could
 * not run. */
void ls_val_add_failed(struct ls_val_session *s, enum ls_val_part part, enum ls_val_part also,
		       size_t way, const char *cell, enum ls_val_state state, char *reason_take);
/* Adds the comparison of two digests. */
void ls_val_compare(struct ls_val_session *s, enum ls_val_part part, size_t way, const char *cell,
		    const char *expected, const char *got);

/* The parts. Each returns 0 unless the whole has to stop. */
int ls_val_golden(struct ls_val_session *s, struct ls_err *err);
int ls_val_batches(struct ls_val_session *s, struct ls_err *err);
int ls_val_twins(struct ls_val_session *s, struct ls_err *err);
int ls_val_handover(struct ls_val_session *s, struct ls_err *err);
size_t
/* trainings of the part, for the progress line */
ls_val_batch_count(const struct ls_val_plan *p);
size_t ls_val_handover_count(const struct ls_val_plan *p);

size_t ls_val_mains(const struct ls_val_plan *p);
bool ls_val_has_gpu(const struct ls_val_plan *p);

#endif
