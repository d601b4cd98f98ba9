/* lockstep manifest: what a run was, and what two runs had different. */
#include <stdlib.h>

#include "api/manifest.h"
#include "cmd/cmd.h"

static int show(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	json_t *m;
	struct ls_err err = {0};
	if (ls_manifest_load(args->pos[0], &m, &err))
		return ls_cmd_fail(&err);
	if (ls_args_has(args, "json")) {
		ls_cmd_print_json_take(m);
		return 0;
	}
	struct ls_str s = {0};
	ls_manifest_text(m, &s);
	fputs(s.s, stdout);
	ls_str_done(&s);
	json_decref(m);
	return 0;
}

static void print_differences(const struct ls_differences *d)
{
	struct ls_str s = {0};
	ls_differences_text(d, &s);
	fputs(s.s ? s.s : "", stdout);
	ls_str_done(&s);
}

static int diff(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_err err = {0};
	struct ls_differences d;
	if (ls_manifest_explanation(args->pos[0], args->pos[1], &d, &err))
		return ls_cmd_fail(&err);
	if (ls_args_has(args, "json"))
		ls_cmd_print_json_take(ls_differences_json(&d));
	else if (d.n == 0)
		puts("the two runs have nothing different that can change bits");
	else
		print_differences(&d);
	int status = (int)ls_differences_answer(&d);
	ls_differences_done(&d);
	return status;
}

static const struct ls_cmd sub_show = {
	.name = "show",
	.summary = "a run's manifest, readable",
	.synopsis = "FILE|DIR",
	.min_pos = 1,
	.max_pos = 1,
	.run = show,
};

static const struct ls_cmd sub_diff = {
	.name = "diff",
	.summary = "what two runs had different, ranked by what it can do to their bits",
	.synopsis = "A B",
	.details = "Exit status: 0 when nothing differs that matters, 1 when something does. With "
		   "kernel traces the "
		   "first\n"
		   "kernel that differs is named.",
	.min_pos = 2,
	.max_pos = 2,
	.run = diff,
};

static const struct ls_cmd *const subs[] = {&sub_show, &sub_diff, NULL};

const struct ls_cmd ls_cmd_manifest = {
	.name = "manifest",
	.summary = "show a run's manifest, or explain two runs",
	.subs = subs,
};
