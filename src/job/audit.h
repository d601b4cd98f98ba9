/* Whether every experiment's history is lawful and ends in the state that the store
 * shows. Owns nothing; one thread a store. */
#ifndef LS_JOB_AUDIT_H
#define LS_JOB_AUDIT_H

#include "job/store.h"

/* Appends a line for each fault. Fails only where the store cannot be read. */
int ls_audit(struct ls_store *s, struct ls_str *faults, struct ls_err *err);

#endif
