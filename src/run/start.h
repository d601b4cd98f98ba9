/* A run manifest as it is when a run begins: what both `lockstep run` and a program that
 * records itself know. New references; any thread. */
#ifndef LS_RUN_START_H
#define LS_RUN_START_H

#include "base/json.h"

/* out: the absolute output folder. Takes the references of policy and inputs, also when it
 * fails. */
int ls_manifest_start_take(const char *const *command, const char *out, json_t *policy,
			   json_t *inputs, json_t **ret, struct ls_err *err);
/* The time now, UTC, ISO 8601. */
json_t *ls_manifest_time(void);

#endif
