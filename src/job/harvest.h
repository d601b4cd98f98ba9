/* Metrics and digests of what attempts have written, brought into the store. Doing it
 * again changes nothing, and what is in the store stays when the files are gone. One
 * thread a store. */
#ifndef LS_JOB_HARVEST_H
#define LS_JOB_HARVEST_H

#include "job/store.h"

/* The manifest of an attempt, where it left one (out/run_manifest.json), and the digests
 * in it. row has id, attempt and folder. */
int ls_harvest_manifest(struct ls_store *s, const json_t *row, struct ls_err *err);

struct ls_harvested {
	size_t attempts, files; /* files that had metrics; the printed lines count as one */
	size_t metrics, values; /* distinct names; points that the files have */
	size_t changed;         /* values that the store did not have so */
	json_t *notes;          /* what was left out and why, as texts */
};

/* All attempts of one experiment. rules: instead of its own; NULL: its own, or else the
 * usual files. ret->notes is a new reference. Two files that say different things about
 * one step, and damaged files, are LS_EINPUT, and nothing of that attempt is kept. */
int ls_harvest(struct ls_store *s, const json_t *row, const json_t *rules, struct ls_harvested *ret,
	       struct ls_err *err);

#endif
