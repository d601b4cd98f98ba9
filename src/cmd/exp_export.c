/* lockstep exp export: experiments as a table for pandas, R or a spreadsheet. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cmd/exp.h"
#include "job/export.h"

static const struct ls_opt export_opts[] = {
	{"curves", 0, NULL, "one row a point: exp_id, group, seed, attempt, metric, step, value"},
	LS_EXP_FILTER_OPTS,
	{0},
};

static int write_to(const char *path, const json_t *flat, struct ls_err *err)
{
	struct ls_str text = {0};
	if (ls_str_ends(path, ".json"))
		return ls_json_write(path, flat, err);
	ls_export_csv(flat, &text);
	int rc = 0;
	if (strcmp(path, "-") == 0)
		fputs(text.s ? text.s : "", stdout);
	else
		rc = ls_file_write_atomic(path, text.s ? text.s : "", text.len, err);
	ls_str_done(&text);
	return rc;
}

static int export_to(struct ls_store *s, const struct ls_args *args, const char *path)
{
	struct ls_err err = {0};
	json_t *rows = NULL, *flat = NULL;
	int status = ls_exp_rows(s, args, &rows);
	if (status)
		return status;
	int rc = 0;
	if (ls_args_has(args, "curves"))
		rc = ls_export_curves(s, rows, &flat, &err);
	else
		flat = ls_export_rows(rows);
	if (!rc && path)
		rc = write_to(path, flat, &err);
	if (rc)
		status = ls_cmd_fail(&err);
	else if (ls_args_has(args, "json"))
		ls_cmd_print_json_take(json_pack("{s:O}", "rows", flat));
	json_decref(flat);
	json_decref(rows);
	return status;
}

static int run_export(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	const char *path = args->n_pos ? args->pos[0] : NULL;
	bool json = ls_args_has(args, "json");
	if (!path && !json)
		return ls_cmd_usage(
			"export: to which file? FILE.csv, FILE.json, or - to print CSV");
	if (path && strcmp(path, "-") == 0 && json)
		return ls_cmd_usage("export: - prints CSV and --json prints JSON; choose one");
	if (path && strcmp(path, "-") != 0 && !ls_str_ends(path, ".csv") &&
	    !ls_str_ends(path, ".json"))
		return ls_cmd_usage("export: %s: the name must end in .csv or .json", path);
	int status = ls_exp_open(&s);
	if (status)
		return status;
	status = export_to(s, args, path);
	ls_store_close(s);
	return status;
}

const struct ls_cmd ls_cmd_exp_export = {
	.name = "export",
	.summary = "write experiments and their metrics as CSV or JSON",
	.synopsis = "[--curves] [--state STATE] [--tag TAG] [--group NAME] [--where CONDITION] "
		    "FILE.csv|FILE.json|-",
	.details = "Columns: exp_id, group, state, partition, num_gpus, batch_size, …, then each "
		   "metric at its last\n"
		   "step, then each key of --set. Numbers have all their digits. `harvest` "
		   "before it.",
	.opts = export_opts,
	.max_pos = 1,
	.run = run_export,
};
