/* lockstep doctor: this machine's facts, and what does not fit. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/doctor.h"
#include "cmd/gpu.h"
#include "env/gather/gather.h"
#include "env/rules/findings.h"
#include "env/rules/report.h"
#include "env/spec/spec.h"

static const struct ls_opt opts[] = {
	{"cuda", 0, NULL,
	 "look at the CUDA stack only, and demand one: driver, GPU, torch built for CUDA, cuDNN"},
	{"spec", 0, "NAME|FILE", "compare with a shipped spec (lockstep spec list) or a spec file"},
	{"fail-on-mismatch", 0, NULL, "exit 1 on a mismatch, 3 when a required fact is unknown"},
	{"emit-json", 0, "FILE", "also write the whole report to FILE"},
	{"python", 0, "PATH", "the interpreter to look at (default: the first on PATH)"},
	{"deep", 0, NULL,
	 "also start that Python, import torch and compare with what the files say"},
	{0},
};

static int gather(const struct ls_args *args, const struct ls_spec *spec, struct ls_facts **ret,
		  struct ls_err *err)
{
	const char **packages = ls_spec_named(spec, "package."),
		   **variables = ls_spec_named(spec, "env.");
	struct ls_gather how = {.env = (const char *const *)environ,
				.python = ls_args_get(args, "python"),
				.packages = packages,
				.variables = variables,
				.root = getenv("LOCKSTEP_ROOT"), /* a scripted machine, for tests */
				.deep = ls_args_has(args, "deep")};
	int rc = ls_gather(&how, ret, err);
	free(packages);
	free(variables);
	return rc;
}

static struct ls_findings *examine(const struct ls_facts *facts, const struct ls_spec *spec,
				   bool cuda, const char *today)
{
	struct ls_findings *list = ls_findings_new();
	if (spec)
		ls_findings_compare(list, facts, spec);
	if (cuda)
		ls_findings_demand_cuda(list, facts, spec);
	ls_findings_faults(list, facts, cuda);
	ls_findings_compat(list, facts, today);
	ls_findings_deep(list, facts);
	return list;
}

static int status_of(const struct ls_findings *findings, bool fail_on_mismatch)
{
	enum ls_outcome verdict = ls_findings_verdict(findings);
	if (!fail_on_mismatch || verdict == LS_OUTCOME_MATCH)
		return LS_EXIT_YES;
	return verdict == LS_OUTCOME_MISMATCH ? LS_EXIT_NO : LS_EXIT_UNKNOWN;
}

/* The file first: when it cannot be written nothing is said that a reader might take for success.
 */
static int publish(const struct ls_args *args, const struct ls_report *report, struct ls_err *err)
{
	const char *file = ls_args_get(args, "emit-json");
	json_t *doc = ls_report_json(report);
	int rc = file ? ls_json_write(file, doc, err) : 0;
	if (rc == 0 && ls_args_has(args, "json"))
		ls_cmd_print_json_take(json_incref(doc));
	else if (rc == 0)
		ls_doctor_print(report);
	json_decref(doc);
	return rc;
}

static int run(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	const char *name = ls_args_get(args, "spec"), *file = ls_args_get(args, "emit-json");
	struct ls_err err = {0};
	struct ls_spec *spec = NULL;
	struct ls_facts *facts = NULL;
	struct ls_findings *findings = NULL;
	struct tm now;
	char created[32];
	int status;
	if (file && (!*file || strcmp(file, "-") == 0))
		return ls_cmd_usage(
			"--emit-json wants the name of a file; --json prints the report");
	int rc = name ? ls_spec_load(name, &spec, &err) : 0;
	if (rc == 0)
		rc = ls_cmd_now(&now, &err);
	if (rc == 0)
		rc = gather(args, spec, &facts, &err);
	if (rc == 0) {
		ls_cmd_gpu_fact(facts);
		strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &now);
		findings = examine(facts, spec, ls_args_has(args, "cuda"), created);
		struct ls_report report = {facts,
					   findings,
					   spec,
					   ls_args_has(args, "cuda"),
					   ls_args_has(args, "deep"),
					   created};
		rc = publish(args, &report, &err);
	}
	status =
		rc ? ls_cmd_fail(&err) : status_of(findings, ls_args_has(args, "fail-on-mismatch"));
	ls_findings_free(findings);
	ls_facts_free(facts);
	ls_spec_free(spec);
	return status;
}

const struct ls_cmd ls_cmd_doctor = {
	.name = "doctor",
	.summary = "look at this machine, and compare it with a spec",
	.synopsis = "[--cuda] [--spec NAME|FILE] [--fail-on-mismatch] [--emit-json FILE] [--python "
		    "PATH] [--deep]",
	.details = "Reads driver, GPUs, CUDA libraries, Python and torch from files and from NVML, "
		   "without starting "
		   "Python,\n"
		   "and says what differs from the spec, what is broken, and what to do about it.\n"
		   "Exit status 0 whatever it found, unless --fail-on-mismatch is given.",
	.opts = opts,
	.run = run,
};
