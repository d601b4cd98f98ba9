/* Why an experiment does not run: one sentence a reason. One thread a store. */
#ifndef LS_JOB_EXPLAIN_H
#define LS_JOB_EXPLAIN_H

#include "job/store.h"

/* Appends to reasons, an array of texts. Empty: it is running or done. */
int ls_explain(struct ls_store *s, const json_t *row, json_t *reasons, struct ls_err *err);

#endif
