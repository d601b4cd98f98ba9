/* lockstep run: launch anything deterministically and write down what happened. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/runopts.h"
#include "run/run.h"

static const struct ls_opt opts[] = {
	LS_POLICY_OPTS,
	{"out", 'o', "DIR",
	 "output folder; the manifest is DIR/run_manifest.json (default artifacts)"},
	{"trace", 0, "kernels|ops",
	 "log every GPU kernel, or every PyTorch operation with digests"},
	{"input", 0, "PATH",
	 "a file or folder whose digest goes into the manifest; may be repeated"},
	{"strict", 0, NULL, "fail also when the program undid a setting"},
	{0},
};

static void print_notices(const struct ls_run_result *r)
{
	char *save = NULL;
	for (char *line = r->notices.s ? strtok_r(r->notices.s, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save))
		fprintf(stderr, "lockstep: %s\n", line);
}

/* The command's own status, except that success under a policy that did not hold is
 * none. */
static int final_status(const struct ls_run_result *r, bool strict)
{
	bool undone = json_array_size(
			      json_object_get(json_object_get(r->manifest, "hook"), "undone")) > 0;
	if (r->child.status == 0 && (!r->held || (strict && undone)))
		return LS_EXIT_NO;
	return r->child.status;
}

static int run(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_runopts o;
	struct ls_err err = {0};
	if (ls_runopts_init(&o, args, &err))
		return ls_cmd_fail(&err);
	const char *out = ls_args_get(args, "out");
	o.request.out = out ? out : "artifacts";
	o.request.inputs = ls_runopts_list(&o, args, "input");
	o.request.policy.trace = ls_args_get(args, "trace");
	int rc = ls_runopts_prepare(&o, args, &err);
	struct ls_run_result r;
	if (rc == 0)
		rc = ls_run(&o.request, &r, &err);
	ls_runopts_done(&o);
	if (rc)
		return ls_cmd_fail(&err);
	int status = final_status(&r, ls_args_has(args, "strict"));
	print_notices(&r);
	if (ls_args_has(args, "json"))
		ls_cmd_print_json_take(json_incref(r.manifest));
	ls_run_result_done(&r);
	return status;
}

const struct ls_cmd ls_cmd_run = {
	.name = "run",
	.summary = "launch a program deterministically and record what happened",
	.synopsis = "[--level 0|1|2|3] [--seed N] [--precision fp32|tf32|bf16|fp16] [--spec "
		    "NAME|FILE] [--out DIR] "
		    "[--trace kernels|ops] [--] COMMAND …",
	.details = "Levels: 0 records only; 1 comparable (precision explicit); 2 high (seeds, "
		   "deterministic algorithms);\n"
		   "3 bitwise (one thread, blocking launches). {out} in COMMAND and $LOCKSTEP_OUT "
		   "are the output folder,\n"
		   "{seed} and $LOCKSTEP_SEED the seed.\n"
		   "The exit status is the command's own; a policy that did not take hold turns "
		   "success into 1.",
	.opts = opts,
	.min_pos = 1,
	.max_pos = -1,
	.rest_is_command = true,
	.run = run,
};
