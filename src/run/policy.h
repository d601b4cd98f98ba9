/* Determinism levels: which environment variables they set and what the Python hook is
 * told. struct ls_policy borrows its texts; an ls_runenv owns its strings (init/done).
 * One thread at a time an object. */
#ifndef LS_RUN_POLICY_H
#define LS_RUN_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

/* 0 records only; 1 comparable: precision explicit; 2 high: seeds and deterministic
 * algorithms; 3 bitwise: one thread, blocking launches, one summation order in MKL and
 * NCCL. */
struct ls_policy {
	int level;
	uint64_t seed;
	const char *precision; /* "fp32", "tf32", "bf16", "fp16" */
	bool warn_only;    /* record an operation without a deterministic form instead of raising */
	bool fill;         /* torch fills memory that it hands out uninitialised */
	bool hold;         /* refuse changes that the program makes to the settings */
	bool same_streams; /* generators without a seed give every process the same numbers */
	const char *trace; /* "ops", "kernels" or NULL */
	const char *exact; /* torch computes by exact operations: "on", "strict" or NULL */
	const char *library; /* liblockstep.so, which has them; or NULL */
	const char *inject;  /* liblockstep_inject.so: logs kernels, digests tensors for "ops"; or
				NULL */
};

/* The environment of a child, with every change and the value before it. */
struct ls_runenv {
	char **vars; /* "NAME=VALUE", NULL-terminated: what execve takes */
	size_t n, cap;
	json_t *changes; /* {NAME: {"value": text or null, "before": text or null}} */
};

void ls_runenv_init(struct ls_runenv *env, char *const *environ_now);
void ls_runenv_done(struct ls_runenv *env);
const char *ls_runenv_get(const struct ls_runenv *env, const char *name); /* NULL when not set */
void ls_runenv_set(struct ls_runenv *env, const char *name,
		   const char *value); /* value NULL: unset. Counted as a change */

void ls_policy_apply(const struct ls_policy *policy, struct ls_runenv *env);
/* The policy as the manifest and the hook have it, without "env". New reference. */
json_t *ls_policy_json(const struct ls_policy *policy);
/* The same with "env", the variables that env changes, null where one is removed, and
 * "threads": what a program is told. New reference. */
json_t *ls_policy_told(const struct ls_policy *policy, const struct ls_runenv *env);
/* The other variables that the command gets, as they are; values that look like secrets
 * are withheld. {NAME: text}; new reference. */
json_t *ls_policy_observed(const struct ls_runenv *env);

#endif
