/* lockstep doctor: this machine's facts, and what does not fit. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/doctor.h"
#include "api/tables.h"
#include "base/embed.h"
#include "cmd/cmd.h"
#include "cmd/doctor.h"
#include "cmd/gpu.h"
#include "env/spec/compat.h"

static int status_of(const struct ls_findings *findings, bool fail_on_mismatch)
{
	enum ls_outcome verdict = ls_findings_verdict(findings);
	if (!fail_on_mismatch || verdict == LS_OUTCOME_MATCH)
		return LS_EXIT_YES;
	return verdict == LS_OUTCOME_MISMATCH ? LS_EXIT_NO : LS_EXIT_UNKNOWN;
}

/* Tables of the user's own: a file that is none is bad input, not a fault of this
 * program. */
static int use_tables(const char *dir, struct ls_err *err)
{
	struct ls_compat *c = NULL;
	struct ls_gpu_catalog *catalog = NULL;
	struct ls_advice *advice = NULL;
	int rc = ls_embed_replace("data/", dir, err);
	if (!rc && (ls_compat_load(&c, err) || ls_gpu_catalog_load(&catalog, err) ||
		    ls_advice_load(&advice, err)))
		rc = err->code = LS_EINPUT;
	ls_compat_free(c);
	ls_gpu_catalog_free(catalog);
	ls_advice_free(advice);
	return rc ? ls_err_prefix(err, "--tables %s", dir) : 0;
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

static int examine(const struct ls_args *args, struct ls_examination *ret, struct ls_err *err)
{
	struct ls_cmd_gpu gpu;
	struct ls_examine_how how = {.environment = (const char *const *)environ,
				     /* a scripted machine, for tests */
				     .root = getenv("LOCKSTEP_ROOT")};
	int rc = ls_cmd_now(&how.now, err);
	if (rc)
		return rc;
	ls_cmd_gpu_init(&gpu);
	how.kernels = &gpu.conf;
	rc = ls_examine(args, &how, ret, err);
	ls_cmd_gpu_done(&gpu);
	return rc;
}

static int run(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	const char *file = ls_args_get(args, "emit-json"), *tables = ls_args_get(args, "tables");
	struct ls_err err = {0};
	struct ls_examination e = {0};
	if (file && (!*file || strcmp(file, "-") == 0))
		return ls_cmd_usage(
			"--emit-json wants the name of a file; --json prints the report");
	int rc = tables ? use_tables(tables, &err) : 0;
	if (rc == 0)
		rc = examine(args, &e, &err);
	if (rc == 0)
		rc = publish(args, &e.report, &err);
	int status = rc ? ls_cmd_fail(&err)
			: status_of(e.findings, ls_args_has(args, "fail-on-mismatch"));
	ls_examination_done(&e);
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
	.opts = ls_doctor_opts,
	.run = run,
};
