/* The Python hook on disk, and the records that interpreters leave. A hook owns a private
 * folder inside the output folder, which other nodes of a cluster see too; ls_hook_done
 * removes it. One thread at a time an object. */
#ifndef LS_RUN_HOOK_H
#define LS_RUN_HOOK_H

#include "base/err.h"
#include "base/json.h"
#include "run/policy.h"
#include "run/procscan.h"

struct ls_hook {
	char *dir;       /* OUT/.lockstep.XXXXXX */
	char *seen;      /* DIR/seen: one file an interpreter */
	char *trace_dir; /* OUT/run_trace, or NULL */
	int lock;        /* descriptor of dir, locked while the run lasts: a killed run leaves dir
			    unlocked */
};

/* Refuses a folder that another run is using. Writes the hook and puts it on the child's
 * PYTHONPATH. The hook is told what env has by then: call it last. */
int ls_hook_init(struct ls_hook *hook, const char *out, const struct ls_policy *policy,
		 struct ls_runenv *env, struct ls_err *err);
void ls_hook_done(struct ls_hook *hook);

/* One interpreter's record from its JSON lines (name is for messages), or an error naming
 * the line. A last line cut short by a kill is dropped. New reference. */
int ls_hook_parse(const char *text, size_t len, const char *name, json_t **ret, struct ls_err *err);

/* Everything that interpreters left: {"interpreters", "undone", "nondeterministic",
 * "failed", "modules", "seeds", "gpus", "global_batch"}. New reference. */
int ls_hook_collect(const char *seen_dir, json_t **ret, struct ls_err *err);
/* Adds "uncovered": commands of interpreters that were seen running and left no record,
 * or that a recorded one became or started by options or an environment that keep the
 * hook out. */
void ls_hook_match(json_t *collected, const struct ls_procscan *scan);

#endif
