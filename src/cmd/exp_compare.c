/* lockstep exp compare: two experiments, and which difference may explain the rest. */
#include <stdlib.h>

#include "base/file.h"
#include "cmd/exp.h"
#include "job/versus.h"

static const struct ls_opt compare_opts[] = {
	{"html", 0, "FILE", "also write a page with the curves of the metrics"},
	{0},
};

static int write_page(struct ls_store *s, const struct ls_versus *v, const char *path,
		      struct ls_err *err)
{
	struct ls_str page = {0};
	int rc = ls_versus_html(s, v, &page, err);
	if (!rc)
		rc = ls_file_write_atomic(path, page.s, page.len, err);
	ls_str_done(&page);
	return rc;
}

static int tell(struct ls_store *s, const struct ls_versus *v, const struct ls_args *args)
{
	static const int status[] = {LS_EXIT_YES, LS_EXIT_NO, LS_EXIT_UNKNOWN};
	struct ls_err err = {0};
	if (ls_args_has(args, "html") && write_page(s, v, ls_args_get(args, "html"), &err))
		return ls_cmd_fail(&err);
	if (ls_args_has(args, "json")) {
		ls_cmd_print_json_take(ls_versus_json(v));
	} else {
		struct ls_str text = {0};
		ls_versus_text(v, &text);
		fputs(text.s, stdout);
		ls_str_done(&text);
	}
	return status[v->verdict];
}

static int run_compare(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	struct ls_err err = {0};
	struct ls_versus v;
	int status = ls_exp_open(&s);
	if (status)
		return status;
	if (ls_versus_make(s, args->pos[0], args->pos[1], &v, &err)) {
		status = ls_cmd_fail(&err);
	} else {
		status = tell(s, &v, args);
		ls_versus_done(&v);
	}
	ls_store_close(s);
	return status;
}

const struct ls_cmd ls_cmd_exp_compare = {
	.name = "compare",
	.summary = "two experiments: parameters, environment, metrics, digests, and what explains "
		   "them",
	.synopsis = "[--html FILE] A B",
	.details =
		"Exit status: 0 the same came out, 1 something differs, 3 their results cannot be "
		"compared.",
	.opts = compare_opts,
	.min_pos = 2,
	.max_pos = 2,
	.run = run_compare,
};
