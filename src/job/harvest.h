/* Metrics and digests of what attempts have written, brought into the store. Doing it again changes
 * nothing. One thread a store. */
#ifndef LS_JOB_HARVEST_H
#define LS_JOB_HARVEST_H

#include "job/store.h"

/* The manifest of an attempt, where it left one (out/run_manifest.json), and the digests in it. row
 * has id, attempt and folder. */
int ls_harvest_manifest(struct ls_store *s, const json_t *row, struct ls_err *err);

#endif
