/* lockstep doctor: this machine's facts, and what does not fit. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/embed.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/doctor.h"
#include "cmd/gpu.h"
#include "env/gather/gather.h"
#include "env/rules/findings.h"
#include "env/rules/report.h"
#include "env/spec/compat.h"
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
	{"tables", 0, "DIR",
	 "take torch.json and the other compatibility tables from DIR, where it has them"},
	{"symptom", 0, "out-of-memory|slow-training|no-gpu|version-mismatch",
	 "also say what to try when a training fails or is slow on this machine"},
	{"verbose", 'v', NULL, "show every check and fact, with its source and all advice"},
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
	enum ls_gpu_need need = ls_findings_gpu_need(spec, cuda);
	if (spec)
		ls_findings_compare(list, facts, spec);
	if (cuda)
		ls_findings_demand_cuda(list, facts, spec);
	ls_findings_faults(list, facts, need);
	ls_findings_wheels(list, facts);
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

/* What the report says beyond findings. */
struct tables {
	struct ls_gpu_catalog *catalog;
	struct ls_advice *advice;
};

static int load_tables(struct tables *t, struct ls_err *err)
{
	int rc = ls_gpu_catalog_load(&t->catalog, err);
	return rc ? rc : ls_advice_load(&t->advice, err);
}

static void free_tables(struct tables *t)
{
	ls_gpu_catalog_free(t->catalog);
	ls_advice_free(t->advice);
}

/* Tables of the user's own: a file that is none is bad input, not a fault of this
 * program. */
static int use_tables(const char *dir, struct ls_err *err)
{
	struct ls_compat *c = NULL;
	struct tables t = {0};
	int rc = ls_embed_replace("data/", dir, err);
	if (!rc && (ls_compat_load(&c, err) || load_tables(&t, err)))
		rc = err->code = LS_EINPUT;
	ls_compat_free(c);
	free_tables(&t);
	return rc ? ls_err_prefix(err, "--tables %s", dir) : 0;
}

/* A gate that has nothing to judge by would pass on every machine. */
static int check_gate(const struct ls_args *args, const struct ls_spec *spec, struct ls_err *err)
{
	if (!ls_args_has(args, "fail-on-mismatch"))
		return 0;
	if (!spec && !ls_args_has(args, "cuda"))
		return ls_err_set(err, LS_EINPUT,
				  "--fail-on-mismatch has nothing to judge by: give --spec "
				  "NAME|FILE (`lockstep spec list` has the shipped ones, `lockstep "
				  "spec capture` makes one), or --cuda");
	if (spec && !ls_spec_requires(spec))
		return ls_err_set(err, LS_EINPUT,
				  "%s: requires nothing, so --fail-on-mismatch would pass on every "
				  "machine: give it a check of level required, such as \"torch\"",
				  spec->path);
	return 0;
}

/* The file first: when it cannot be written nothing is said that a reader might take for
 * success. */
static int publish(const struct ls_args *args, const struct ls_report *report, struct ls_err *err)
{
	const char *file = ls_args_get(args, "emit-json");
	json_t *doc = ls_report_json(report);
	int rc = file ? ls_json_write(file, doc, err) : 0;
	if (rc == 0 && ls_args_has(args, "json"))
		ls_cmd_print_json_take(json_incref(doc));
	else if (rc == 0)
		ls_doctor_print(report, ls_args_has(args, "verbose"));
	json_decref(doc);
	return rc;
}

static int run(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	const char *name = ls_args_get(args, "spec"), *file = ls_args_get(args, "emit-json"),
		   *tables = ls_args_get(args, "tables");
	struct ls_err err = {0};
	struct ls_spec *spec = NULL;
	struct ls_facts *facts = NULL;
	struct ls_findings *findings = NULL;
	struct tables known = {0};
	struct tm now;
	char created[32];
	int status;
	if (file && (!*file || strcmp(file, "-") == 0))
		return ls_cmd_usage(
			"--emit-json wants the name of a file; --json prints the report");
	int rc = tables ? use_tables(tables, &err) : 0;
	if (rc == 0 && name)
		rc = ls_spec_load(name, &spec, &err);
	if (rc == 0)
		rc = check_gate(args, spec, &err);
	if (rc == 0)
		rc = load_tables(&known, &err);
	if (rc == 0)
		rc = ls_cmd_now(&now, &err);
	if (rc == 0)
		rc = gather(args, spec, &facts, &err);
	if (rc == 0) {
		ls_cmd_gpu_fact(facts);
		strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &now);
		findings = examine(facts, spec, ls_args_has(args, "cuda"), created);
		struct ls_report report = {.facts = facts,
					   .findings = findings,
					   .spec = spec,
					   .cuda = ls_args_has(args, "cuda"),
					   .deep = ls_args_has(args, "deep"),
					   .created = created,
					   .catalog = known.catalog,
					   .advice = known.advice,
					   .symptom = ls_args_get(args, "symptom")};
		rc = publish(args, &report, &err);
	}
	status =
		rc ? ls_cmd_fail(&err) : status_of(findings, ls_args_has(args, "fail-on-mismatch"));
	free_tables(&known);
	ls_findings_free(findings);
	ls_facts_free(facts);
	ls_spec_free(spec);
	return status;
}

const struct ls_cmd ls_cmd_doctor = {
	.name = "doctor",
	.summary = "look at this machine, and compare it with a spec",
	.synopsis = "[--cuda] [--spec NAME|FILE] [--fail-on-mismatch] [--emit-json FILE] [--python "
		    "PATH] [--deep] [--tables DIR] [--symptom "
		    "out-of-memory|slow-training|no-gpu|version-mismatch] [-v]",
	.details = "Reads driver, GPUs, CUDA libraries, Python and torch from files and from NVML, "
		   "without starting "
		   "Python,\n"
		   "and says what differs from the spec, what is broken, and what to do about it.\n"
		   "Exit status 0 whatever it found, unless --fail-on-mismatch is given.",
	.opts = opts,
	.run = run,
};
