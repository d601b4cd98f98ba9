/* lockstep spec: list, check, diff. */
#include <stdlib.h>
#include <string.h>

#include "api/doctor.h"
#include "api/tables.h"
#include "base/mem.h"
#include "base/table.h"
#include "cmd/cmd.h"
#include "cmd/spec.h"
#include "env/facts/advice.h"
#include "env/spec/spec_bump.h"
#include "env/spec/spec_check.h"
#include "env/spec/spec_diff.h"

/* --- what was tried --- */

static void print_tested(const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		char *line = ls_tested_text(json_array_get(list, i));
		printf("%-12s %s\n", "tested on", line);
		free(line);
	}
	if (!json_array_size(list))
		printf("%-12s no GPU that is on record\n", "tested on");
}

/* --- list --- */

static int run_list(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	static const char *const heading[] = {"spec", "tested on", "description"};
	struct ls_table t;
	json_t *list = json_array();
	struct ls_err err = {0};
	struct ls_advice *advice = NULL;
	int rc = ls_advice_load(&advice, &err);
	ls_table_init(&t, 3, heading);
	char *name;
	for (size_t i = 0; !rc && (name = ls_spec_shipped(i)); i++) {
		struct ls_spec *spec = NULL;
		rc = ls_spec_load(name, &spec, &err);
		if (!rc) {
			json_t *tested = ls_spec_tested(advice, name);
			size_t n = json_array_size(tested);
			char *gpus = ls_xasprintf(n == 1 ? "%zu GPU" : "%zu GPUs", n);
			const char *const cells[] = {name, gpus, spec->description};
			ls_table_row(&t, cells);
			free(gpus);
			json_array_append_new(list,
					      json_pack("{s:s,s:s?,s:s?,s:s?,s:o}", "name", name,
							"description", spec->description, "date",
							spec->date, "source", spec->source,
							"tested", tested));
		}
		ls_spec_free(spec);
		free(name);
	}
	struct ls_str out = {0};
	ls_table_text(&t, &out);
	if (!rc && ls_args_has(args, "json"))
		ls_cmd_print_json_take(json_pack("{s:O}", "specs", list));
	else if (!rc)
		fputs(out.s, stdout);
	ls_str_done(&out);
	ls_table_done(&t);
	ls_advice_free(advice);
	json_decref(list);
	return rc ? ls_cmd_fail(&err) : LS_EXIT_YES;
}

static const struct ls_cmd cmd_list = {
	.name = "list",
	.summary = "the shipped specs",
	.synopsis = "",
	.run = run_list,
};

/* --- check --- */

static void print_check(const struct ls_spec *spec, const struct ls_spec_findings *f,
			const json_t *tested, const char *today)
{
	for (size_t i = 0; i < f->n; i++)
		ls_spec_print_finding(&f->items[i]);
	print_tested(tested);
	size_t notes = f->n - f->faults;
	printf("%s on %s: %zu fault%s, %zu note%s\n", spec->name, today, f->faults,
	       f->faults == 1 ? "" : "s", notes, notes == 1 ? "" : "s");
}

static int run_check(const struct ls_cmd *cmd, const struct ls_args *args)
{
	char today[11];
	struct ls_spec_answer a;
	struct ls_err err = {0};
	if (!ls_spec_day(cmd, args, today))
		return LS_EXIT_INPUT;
	if (ls_spec_answer(args->pos[0], today, &a, &err))
		return ls_cmd_fail(&err);
	if (ls_args_has(args, "json"))
		ls_cmd_print_json_take(json_incref(a.json));
	else
		print_check(a.spec, a.findings, a.tested, today);
	int status = a.findings->faults ? LS_EXIT_NO : LS_EXIT_YES;
	ls_spec_answer_done(&a);
	return status;
}

static const struct ls_cmd cmd_check = {
	.name = "check",
	.summary = "is the spec itself consistent, does it exist, is it supported?",
	.synopsis = "[--today DATE] NAME|FILE",
	.details = "Compares the spec with what is known of wheels, drivers, images and Pythons "
		   "(data/*.json, each row\n"
		   "with its source and date). Exit status 0: no fault, 1: faults.",
	.opts = ls_spec_check_opts,
	.min_pos = 1,
	.max_pos = 1,
	.run = run_check,
};

/* --- diff --- */

static const struct ls_opt diff_opts[] = {
	{"markdown", 0, NULL, "write an alert or a pull-request body"},
	{"bump", 0, NULL, "write OLD with the pins that drifted moved to what NEW has"},
	{0},
};

static void print_diff(const struct ls_spec_diff *d, const struct ls_args *args)
{
	struct ls_str out = {0};
	if (ls_args_has(args, "json") || ls_args_has(args, "bump")) {
		ls_cmd_print_json_take(ls_args_has(args, "bump") ? ls_spec_bump(d)
								 : ls_spec_diff_json(d));
		return;
	}
	if (ls_args_has(args, "markdown"))
		ls_spec_diff_markdown(d, &out);
	else
		ls_spec_diff_text(d, &out);
	fputs(out.s, stdout);
	ls_str_done(&out);
}

static int run_diff(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_spec *old_spec = NULL, *new_spec = NULL;
	struct ls_err err = {0};
	if (ls_args_has(args, "markdown") &&
	    (ls_args_has(args, "json") || ls_args_has(args, "bump")))
		return ls_cmd_usage("diff: --markdown excludes --json and --bump");
	int rc = ls_spec_load(args->pos[0], &old_spec, &err);
	if (!rc)
		rc = ls_spec_load(args->pos[1], &new_spec, &err);
	int status = rc ? ls_cmd_fail(&err) : 0;
	if (!rc) {
		struct ls_spec_diff d;
		ls_spec_diff(old_spec, new_spec, &d);
		print_diff(&d, args);
		enum ls_drift_answer answer = ls_spec_diff_answer(&d);
		status = answer == LS_DRIFTED      ? LS_EXIT_NO
			 : answer == LS_DRIFT_OPEN ? LS_EXIT_UNKNOWN
						   : LS_EXIT_YES;
		ls_spec_diff_done(&d);
	}
	ls_spec_free(old_spec);
	ls_spec_free(new_spec);
	return status;
}

static const struct ls_cmd cmd_diff = {
	.name = "diff",
	.summary = "what drifted between two specs",
	.synopsis = "[--markdown | --bump] OLD NEW",
	.details = "A new value that the old spec accepts is no drift; nor is what a capture lists "
		   "beyond the pin, or "
		   "could\n"
		   "not see for want of a GPU. Exit status 0: no drift, 1: drift, 3: something "
		   "required "
		   "was not seen.",
	.opts = diff_opts,
	.min_pos = 2,
	.max_pos = 2,
	.run = run_diff,
};

static const struct ls_cmd *const subs[] = {
	&ls_cmd_spec_capture, &cmd_check,           &cmd_diff, &ls_cmd_spec_render,
	&ls_cmd_spec_import,  &ls_cmd_spec_upgrade, &cmd_list, NULL,
};

const struct ls_cmd ls_cmd_spec = {
	.name = "spec",
	.summary = "environment specs: capture, check, compare, and the files made from them",
	.subs = subs,
};
