/* lockstep exp list and show. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "cmd/exp.h"
#include "job/cells.h"
#include "job/command.h"
#include "job/experiment.h"
#include "job/group.h"
#include "job/metrics.h"

static const struct ls_opt list_opts[] = {
	LS_EXP_FILTER_OPTS,
	{"columns", 0, "A,B,C",
	 "what to show: members of `exp show --json`, metrics, keys of --set"},
	{"by", 0, "COLUMN",
	 "one row for each value; metrics become mean ± sd (n) of the done ones"},
	{"sort", 0, "COLUMN", "by this column; -COLUMN: the largest first"},
	{0},
};

#define COLUMNS "name,state,partition,num_gpus,batch_size,global_batch,seed,attempt"

/* --- list --- */

enum { MOST_COLUMNS = 32 };

static size_t split(char *text, const char **names)
{
	char *save = NULL;
	size_t n = 0;
	for (char *t = strtok_r(text, ",", &save); t && n < MOST_COLUMNS;
	     t = strtok_r(NULL, ",", &save))
		names[n++] = t;
	return n;
}

static void print_rows(const json_t *rows, const char *columns)
{
	char *text = ls_xstrdup(columns), *cells[MOST_COLUMNS];
	const char *names[MOST_COLUMNS];
	size_t n = split(text, names), i;
	struct ls_table t;
	ls_table_init(&t, n, names);
	const json_t *row;
	json_array_foreach(rows, i, row)
	{
		for (size_t c = 0; c < n; c++)
			cells[c] = ls_cell_text(ls_cell(row, names[c]), false);
		ls_table_row(&t, (const char *const *)cells);
		for (size_t c = 0; c < n; c++)
			free(cells[c]);
	}
	struct ls_str out = {0};
	ls_table_text(&t, &out);
	fputs(out.s, stdout);
	ls_str_done(&out);
	ls_table_done(&t);
	free(text);
}

#define BY_COLUMNS "partition,num_gpus,global_batch"

/* Rows become groups; returns the columns of these. *own is to be freed. */
static const char *gather(json_t **rows, const char *by, const char *columns, char **own)
{
	const char *names[MOST_COLUMNS];
	char *text = ls_xstrdup(columns ? columns : BY_COLUMNS);
	size_t n = split(text, names);
	json_t *table = ls_group_table(*rows, by, names, n);
	json_decref(*rows);
	*rows = table;
	free(text);
	*own = ls_xasprintf("%s,runs,done,%s", by, columns ? columns : BY_COLUMNS);
	return *own;
}

static bool made_by_grouping(const char *column)
{
	column += column[0] == '-';
	return strcmp(column, "runs") == 0 || strcmp(column, "done") == 0;
}

static int check_columns(const json_t *rows, const struct ls_args *args)
{
	bool by = ls_args_has(args, "by");
	static const char *const opts[] = {"columns", "by", "sort"};
	const char *names[MOST_COLUMNS];
	struct ls_err err = {0};
	int rc = 0;
	for (size_t o = 0; o < 3 && !rc; o++) {
		const char *given = ls_args_get(args, opts[o]);
		char *text = ls_xstrdup(given ? given : "");
		size_t n = split(text, names);
		for (size_t i = 0; i < n && !rc; i++)
			rc = by && made_by_grouping(names[i])
				     ? 0
				     : ls_cells_known(rows, names[i] + (names[i][0] == '-'), &err);
		free(text);
	}
	return rc ? ls_cmd_fail(&err) : 0;
}

static int run_list(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	json_t *rows;
	char *own = NULL;
	int status = ls_exp_open(&s);
	if (status)
		return status;
	status = ls_exp_rows(s, args, &rows);
	ls_store_close(s);
	if (status)
		return status;
	status = check_columns(rows, args);
	if (status) {
		json_decref(rows);
		return status;
	}
	const char *by = ls_args_get(args, "by"), *columns = ls_args_get(args, "columns");
	if (by)
		columns = gather(&rows, by, columns, &own);
	if (ls_args_has(args, "sort"))
		ls_cells_sort(rows, ls_args_get(args, "sort"));
	if (ls_args_has(args, "json"))
		ls_cmd_print_json_take(json_pack("{s:O}", "experiments", rows));
	else
		print_rows(rows, columns ? columns : COLUMNS);
	json_decref(rows);
	free(own);
	return 0;
}

const struct ls_cmd ls_cmd_exp_list = {
	.name = "list",
	.summary = "all experiments, with the columns that are asked for",
	.synopsis = "[--state STATE] [--tag TAG] [--group NAME] [--where CONDITION] "
		    "[--columns A,B,C] [--by COLUMN] [--sort COLUMN]",
	.opts = list_opts,
	.run = run_list,
};

/* --- show --- */

static const struct ls_opt show_opts[] = {
	{"diff", 0, NULL, "print the difference to the commit that it was made from"},
	LS_EXP_ID_OPT,
	{0},
};

static void print_member(const json_t *row, const char *label, const char *key)
{
	char *text = ls_cell_text(json_object_get(row, key), false);
	if (*text)
		printf("%-12s %s\n", label, text);
	free(text);
}

static void print_code(const json_t *row)
{
	const json_t *git = json_object_get(row, "git");
	const char *commit = ls_col_text(git, "commit");
	if (!json_is_object(git))
		return;
	if (!commit)
		printf("%-12s unknown: %s\n", "code", ls_col_text(git, "unknown"));
	else
		printf("%-12s %s%s\n", "code", commit,
		       json_is_true(json_object_get(git, "dirty"))
			       ? ", and a difference (exp show --diff)"
			       : "");
}

static void print_lines(const json_t *list, const char *label, const char *key, const char *more)
{
	const json_t *v;
	size_t i;
	json_array_foreach(list, i, v)
	{
		char *a = ls_cell_text(json_object_get(v, key), false);
		char *b = ls_cell_text(more ? json_object_get(v, more) : NULL, false);
		printf("%-12s %s%s%s\n", i ? "" : label, a, *b ? "  " : "", b);
		free(a);
		free(b);
	}
}

/* "done  12.5 s, processors 21.3 s, at most 1.2 GiB": what has no record of its end has less. */
static void print_attempts(const json_t *list)
{
	const json_t *a;
	size_t i;
	json_array_foreach(list, i, a)
	{
		const char *outcome = ls_col_text(a, "outcome");
		double wall = ls_col_real(a, "wall", -1);
		printf("%-12s %s  %s", i ? "" : "attempts", ls_col_text(a, "folder"),
		       outcome ? outcome : "runs");
		if (wall >= 0) {
			char memory[LS_SIZE_TEXT];
			ls_str_of_size((uint64_t)ls_col_int(a, "peak_rss", 0), memory);
			printf("  %.1f s, processors %.1f s, memory %s", wall,
			       ls_col_real(a, "user", 0) + ls_col_real(a, "system", 0), memory);
		}
		puts("");
	}
}

static void print_metrics(const json_t *metrics)
{
	const char *key, *label = "metrics";
	json_t *m;
	json_object_foreach((json_t *)(uintptr_t)metrics, key, m)
	{
		char *last = ls_cell_text(json_object_get(m, "last"), false);
		printf("%-12s %s  %s (step %lld)\n", label, key, last,
		       (long long)ls_col_int(m, "step", 0));
		free(last);
		label = "";
	}
}

static void print_history(const json_t *list)
{
	const json_t *e;
	size_t i;
	puts("history");
	json_array_foreach(list, i, e)
	{
		int64_t attempt = ls_col_int(e, "attempt", 0);
		const char *detail = ls_col_text(e, "detail");
		printf("  %s  %-10s", ls_col_text(e, "at"), ls_col_text(e, "kind"));
		if (attempt)
			printf(" attempt %lld", (long long)attempt);
		if (detail) {
			fputs(" ", stdout);
			ls_cmd_print_name(detail);
		}
		puts("");
	}
}

static void print_experiment(const json_t *row, const json_t *more)
{
	static const char *const members[][2] = {
		{"name", "name"},
		{"state", "state"},
		{"reason", "reason"},
		{"uuid", "uuid"},
		{"group", "group"},
		{"description", "description"},
		{"template", "template"},
		{"partition", "partition"},
		{"num_gpus", "num_gpus"},
		{"batch_size", "batch_size"},
		{"accum", "accumulation"},
		{"global_batch", "global_batch"},
		{"warmup_steps", "warmup_steps"},
		{"total_steps", "total_steps"},
		{"precision", "precision"},
		{"seed", "seed"},
		{"settings", "settings"},
		{"environment", "environment"},
	};
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		print_member(row, members[i][0], members[i][1]);
	print_code(row);
	char *command = ls_command_text(json_object_get(row, "command"));
	printf("%-12s %s\n", "command", command);
	free(command);
	print_lines(json_object_get(more, "after"), "after", "name", "state");
	print_lines(json_object_get(more, "tags"), "tags", "tag", NULL);
	print_lines(json_object_get(more, "notes"), "notes", "at", "text");
	print_lines(json_object_get(more, "slurm"), "slurm job", "job", "script");
	print_attempts(json_object_get(more, "attempts"));
	print_metrics(json_object_get(row, "metrics"));
	print_history(json_object_get(more, "history"));
}

static int print_diff(struct ls_store *s, const json_t *row)
{
	struct ls_err err = {0};
	char *text = NULL;
	int rc = ls_experiment_diff(s, row, &text, &err);
	if (rc)
		return ls_cmd_fail(&err);
	fputs(text, stdout);
	free(text);
	return 0;
}

static int attach(struct ls_store *s, json_t *row, struct ls_err *err)
{
	json_t *rows = json_pack("[O]", row);
	int rc = ls_metrics_attach(s, rows, err);
	json_decref(rows);
	return rc;
}

static int show(struct ls_store *s, const char *name, const struct ls_args *args)
{
	struct ls_err err = {0};
	json_t *row, *more;
	if (ls_experiment_get(s, name, &row, &err) || attach(s, row, &err))
		return ls_cmd_fail(&err);
	int status = 0;
	if (ls_args_has(args, "diff")) {
		status = print_diff(s, row);
	} else if (ls_experiment_more(s, row, &more, &err)) {
		status = ls_cmd_fail(&err);
	} else {
		if (ls_args_has(args, "json")) {
			json_object_update(row, more);
			ls_cmd_print_json_take(json_incref(row));
		} else {
			print_experiment(row, more);
		}
		json_decref(more);
	}
	json_decref(row);
	return status;
}

static int run_show(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	const char *name = ls_exp_name("show", args);
	int status = name ? ls_exp_open(&s) : LS_EXIT_INPUT;
	if (status)
		return status;
	status = show(s, name, args);
	ls_store_close(s);
	return status;
}

const struct ls_cmd ls_cmd_exp_show = {
	.name = "show",
	.summary = "everything about one experiment, and its history",
	.synopsis = "[--diff] [--exp-id NAME] [NAME]",
	.opts = show_opts,
	.max_pos = 1,
	.run = run_show,
};
