/* lockstep plan --from GPU:N --to GPU:N --batch PER_GPU */
#include <stdio.h>

#include "api/plan.h"
#include "api/tables.h"
#include "cmd/cmd.h"
#include "plan/config.h"
#include "plan/report.h"

enum { OPTIONS_SHOWN = 8 };

static int list_gpus(const struct ls_args *args)
{
	struct ls_gpu_catalog *c;
	struct ls_err err = {0};
	struct ls_str text = {0};
	if (ls_gpu_catalog_load(&c, &err))
		return ls_cmd_fail(&err);
	if (ls_args_has(args, "json")) {
		ls_cmd_print_json_take(ls_plan_list_json(c));
	} else {
		ls_plan_list_text(c, &text);
		fputs(text.s, stdout);
	}
	ls_str_done(&text);
	ls_gpu_catalog_free(c);
	return LS_EXIT_YES;
}

/* The lines hold the user's own words, which may not be printable. */
static void add_lines(struct ls_str *text, const struct ls_plan_answer *a)
{
	ls_str_add(text, "\nrun it with one of:\n  ");
	ls_str_add_printable(text, a->torchrun.s);
	ls_str_add(text, "\n  ");
	ls_str_add_printable(text, a->sbatch.s);
	ls_str_add(text, "\n");
}

static void print(const struct ls_plan_answer *a, const struct ls_args *args)
{
	struct ls_str text = {0};
	if (ls_args_has(args, "json")) {
		ls_cmd_print_json_take(ls_plan_answer_json(a));
	} else if (ls_args_has(args, "yaml")) {
		ls_plan_yaml(a->plan, &text);
	} else if (ls_args_has(args, "env")) {
		ls_plan_env(a->plan, &text);
	} else {
		ls_plan_text(a->plan, ls_args_has(args, "all") ? 0 : OPTIONS_SHOWN, &text);
		add_lines(&text, a);
	}
	fputs(text.s ? text.s : "", stdout);
	ls_str_done(&text);
}

static int make(const struct ls_args *args)
{
	struct ls_plan_answer a;
	struct ls_err err = {0};
	if (ls_plan_from_args(args, &a, &err))
		return ls_cmd_fail(&err);
	print(&a, args);
	int status = a.plan->exact ? LS_EXIT_YES : LS_EXIT_NO;
	ls_plan_answer_done(&a);
	return status;
}

static int run(const struct ls_cmd *cmd, const struct ls_args *args)
{
	struct ls_err err;
	(void)cmd;
	if (ls_args_has(args, "list-gpus"))
		return list_gpus(args);
	if (ls_plan_check_args(args, &err))
		return ls_cmd_usage("%s", err.msg);
	if (ls_args_has(args, "json") + ls_args_has(args, "yaml") + ls_args_has(args, "env") > 1)
		return ls_cmd_usage("plan: --json, --yaml and --env are different outputs: give "
				    "one of them");
	return make(args);
}

const struct ls_cmd ls_cmd_plan = {
	.name = "plan",
	.summary = "the same training on other GPUs: batch sizes and a schedule in steps",
	.synopsis = "--from GPU:N --to GPU:N --batch N [--samples N] [--accum N] [--epochs N | "
		    "--steps N] [--precision P] [--manifest FILE|DIR] [--yaml | --env] [-- CMD "
		    "[ARG…]]\n--list-gpus",
	.details = "CMD is what torchrun shall start; {batch}, {accum}, {steps}, {warmup} and the "
		   "like in\nit become the plan's numbers.\n"
		   "Exit status: 0 the global batch can stay, 1 it cannot.",
	.opts = ls_plan_opts,
	.max_pos = -1,
	.rest_is_command = true,
	.run = run,
};
