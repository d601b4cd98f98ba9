/* The history: what happened to each experiment, in an append-only table. Whoever changes
 * a state appends the event in the same transaction. One thread a store. */
#ifndef LS_JOB_EVENT_H
#define LS_JOB_EVENT_H

#include "job/store.h"

/* kind: created, submitted, claimed, ended, requeued, cancelled, adopted, harvested,
 * noted, tagged, untagged, removed (audit.c has the order that is lawful). attempt 0 and
 * a NULL actor or detail: none. */
int ls_event(struct ls_store *s, const char *uuid, const char *kind, int64_t attempt,
	     const char *actor, const char *detail, struct ls_err *err);
/* The events of one experiment, oldest first: {"id", "at", "kind", "attempt", "actor",
 * "detail"}.
 */
int ls_event_list(struct ls_store *s, const char *uuid, json_t **ret, struct ls_err *err);

#endif
