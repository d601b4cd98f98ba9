/* A run: launch a command under a policy and write down what happened, in
 * OUT/run_manifest.json. A request borrows everything; a result owns its manifest and
 * text (ls_run_result_done). One run at a time a process, as signals are passed on to the
 * child. */
#ifndef LS_RUN_RUN_H
#define LS_RUN_RUN_H

#include "base/json.h"
#include "base/str.h"
#include "run/launch.h"
#include "run/policy.h"

struct ls_run_request {
	const char *const *argv; /* ends with NULL; "{out}" in a word becomes the output
				  folder, "{seed}" the seed */
	char *const *envp;       /* the environment to start from */
	struct ls_policy policy;
	const char *out;
	const char *cache;         /* for the hook's compiled Python, or NULL */
	const char *const *inputs; /* files and folders whose digests go into the manifest;
				      NULL-terminated, or NULL */
	const char *const
		*vars; /* NAME=VALUE, applied after the policy; NULL-terminated, or NULL */
	/* Facts of this machine for the manifest, and their short form (torch, cuda,
	 * cudnn, python, driver): borrowed from ctx, or NULL where there are none. Called
	 * on another thread while the command runs. */
	void (*facts)(void *ctx, json_t **ret_environment, json_t **ret_block);
	void *facts_ctx;
	const json_t *spec; /* what a comparison with a spec said, or NULL */
	int output;         /* where the child's output goes, or -1 */
};

struct ls_run_result {
	json_t *manifest;
	char *path; /* of the manifest */
	struct ls_launched child;
	bool held; /* no interpreter was seen without the policy; there may have been none */
	struct ls_str notices; /* lines for the user: what did not hold, what was undone; empty when
				  all is well */
};

/* Fails only when the run could not be started or recorded; how the command ended is in
 * the result.
 */
int ls_run(const struct ls_run_request *request, struct ls_run_result *ret, struct ls_err *err);
void ls_run_result_done(struct ls_run_result *result);

#endif
