/* lockstep exp: the table of its subcommands, and those that are about the store as a
 * whole or change a word: init, backup, check, note, tag, rm. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cmd/exp.h"
#include "job/experiment.h"
#include "run/folder.h"

/* --- init, backup, check --- */

static const struct ls_opt init_opts[] = {
	{"database", 0, "FILE",
	 "keep the database in this file, on a disk of this machine, when the folder is on a "
	 "shared one"},
	{0},
};

static int run_init(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_err err = {0};
	char *path = NULL;
	const char *folder = args->n_pos ? args->pos[0] : ".";
	if (ls_store_init(folder, ls_args_get(args, "database"), &path, &err))
		return ls_cmd_fail(&err);
	if (ls_args_has(args, "json")) {
		ls_cmd_print_json_take(json_pack("{s:o}", "database", ls_json_lossy(path)));
	} else {
		fputs("made ", stdout);
		ls_cmd_print_name(path);
		puts("");
	}
	free(path);
	return 0;
}

static const struct ls_cmd cmd_init = {
	.name = "init",
	.summary = "begin a store of experiments in this folder",
	.synopsis = "[--database FILE] [DIR]",
	.details = "Makes DIR/.lockstep, which the other commands find from any folder below it.",
	.opts = init_opts,
	.max_pos = 1,
	.run = run_init,
};

static int run_backup(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	struct ls_err err = {0};
	int status = ls_exp_open(&s);
	if (status)
		return status;
	status = ls_store_backup(s, args->pos[0], &err) ? ls_cmd_fail(&err) : 0;
	if (!status && ls_args_has(args, "json"))
		ls_cmd_print_json_take(json_pack("{s:o}", "backup", ls_json_lossy(args->pos[0])));
	ls_store_close(s);
	return status;
}

static const struct ls_cmd cmd_backup = {
	.name = "backup",
	.summary = "copy the database, also while jobs run",
	.synopsis = "FILE",
	.min_pos = 1,
	.max_pos = 1,
	.run = run_backup,
};

static json_t *lines_json(const char *text)
{
	json_t *list = json_array();
	for (const char *p = text; p && *p; p += strcspn(p, "\n") + 1)
		json_array_append_new(list, json_stringn(p, strcspn(p, "\n")));
	return list;
}

static int run_check(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	struct ls_str faults = {0};
	struct ls_err err = {0};
	int status = ls_exp_open(&s);
	if (status)
		return status;
	if (ls_store_check(s, &faults, &err))
		status = ls_cmd_fail(&err);
	else
		status = faults.len ? LS_EXIT_NO : LS_EXIT_YES;
	if (status <= LS_EXIT_NO && ls_args_has(args, "json"))
		ls_cmd_print_json_take(json_pack("{s:b,s:o}", "sound", status == 0, "faults",
						 lines_json(faults.s)));
	else if (status <= LS_EXIT_NO)
		fputs(faults.s ? faults.s : "the database is whole, and every history is lawful\n",
		      stdout);
	ls_str_done(&faults);
	ls_store_close(s);
	return status;
}

static const struct ls_cmd cmd_check = {
	.name = "check",
	.summary = "check that the database is whole and every history consistent",
	.synopsis = "",
	.details = "Exit status 0: sound, 1: faults, which are listed.",
	.run = run_check,
};

/* --- note, tag, rm --- */

static int run_note(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	struct ls_err err = {0};
	int status = ls_exp_open(&s);
	if (status)
		return status;
	struct ls_str text = {0};
	for (size_t i = 1; i < args->n_pos; i++)
		ls_str_addf(&text, "%s%s", i > 1 ? " " : "", args->pos[i]);
	status = ls_experiment_note(s, args->pos[0], text.s, &err) ? ls_cmd_fail(&err) : 0;
	if (!status)
		ls_exp_json_names(args, args->pos, 1);
	ls_str_done(&text);
	ls_store_close(s);
	return status;
}

static const struct ls_cmd cmd_note = {
	.name = "note",
	.summary = "add a note to an experiment",
	.synopsis = "NAME TEXT…",
	.min_pos = 2,
	.max_pos = -1,
	.run = run_note,
};

static const struct ls_opt tag_opts[] = {
	{"remove", 0, NULL, "take the tags away"},
	{0},
};

static int run_tag(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	struct ls_err err = {0};
	int status = ls_exp_open(&s);
	if (status)
		return status;
	for (size_t i = 1; !status && i < args->n_pos; i++)
		if (ls_experiment_tag(s, args->pos[0], args->pos[i], ls_args_has(args, "remove"),
				      &err))
			status = ls_cmd_fail(&err);
	if (!status)
		ls_exp_json_names(args, args->pos, 1);
	ls_store_close(s);
	return status;
}

static const struct ls_cmd cmd_tag = {
	.name = "tag",
	.summary = "mark an experiment with words to find it by",
	.synopsis = "[--remove] NAME TAG…",
	.opts = tag_opts,
	.min_pos = 2,
	.max_pos = -1,
	.run = run_tag,
};

static const struct ls_opt rm_opts[] = {
	{"yes", 'y', NULL, "do not ask"},
	{"artifacts", 0, NULL, "also remove its run folders"},
	{0},
};

static bool agreed(const struct ls_args *args)
{
	char line[16] = "";
	if (ls_args_has(args, "yes"))
		return true;
	if (!isatty(0)) {
		ls_cmd_note("rm: nobody is here to be asked; --yes removes without asking");
		return false;
	}
	fprintf(stderr, "remove %zu experiment%s%s? [y/N] ", args->n_pos,
		args->n_pos == 1 ? "" : "s",
		ls_args_has(args, "artifacts") ? " and all they have written" : "");
	return fgets(line, sizeof line, stdin) && (line[0] == 'y' || line[0] == 'Y');
}

static int remove_one(struct ls_store *s, const char *name, bool artifacts)
{
	struct ls_err err = {0};
	if (ls_experiment_remove(s, name, &err))
		return ls_cmd_fail(&err);
	if (artifacts) { /* the name was in the store, so it is a plain folder's name */
		char *folder = ls_xasprintf("%s/runs/%s", ls_store_root(s), name);
		ls_folder_remove(folder);
		free(folder);
	}
	return 0;
}

static int run_rm(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	int status = ls_exp_open(&s);
	if (status)
		return status;
	if (!agreed(args))
		status = LS_EXIT_INPUT;
	for (size_t i = 0; !status && i < args->n_pos; i++)
		status = remove_one(s, args->pos[i], ls_args_has(args, "artifacts"));
	if (!status)
		ls_exp_json_names(args, args->pos, args->n_pos);
	ls_store_close(s);
	return status;
}

static const struct ls_cmd cmd_rm = {
	.name = "rm",
	.summary = "remove experiments from the store",
	.synopsis = "[-y] [--artifacts] NAME…",
	.details = "Asks first.\n"
		   "What they have written below runs/ stays, unless --artifacts is given.",
	.opts = rm_opts,
	.min_pos = 1,
	.max_pos = -1,
	.run = run_rm,
};

static const struct ls_cmd *const subs[] = {
	/* clang-format off */
	&cmd_init,
	&ls_cmd_exp_template,
	&ls_cmd_exp_new,
	&ls_cmd_exp_list,
	&ls_cmd_exp_show,
	&ls_cmd_exp_resources,
	&ls_cmd_exp_submit,
	&ls_cmd_exp_status,
	&ls_cmd_exp_logs,
	&ls_cmd_exp_cancel,
	&ls_cmd_exp_retry,
	&ls_cmd_exp_explain,
	&ls_cmd_exp_harvest,
	&ls_cmd_exp_export,
	&ls_cmd_exp_compare,
	&ls_cmd_exp_variance,
	&cmd_note,
	&cmd_tag,
	&cmd_rm,
	&cmd_backup,
	&cmd_check,
	NULL,
	/* clang-format on */
};

const struct ls_cmd ls_cmd_exp = {
	.name = "exp",
	.summary = "experiments: make, submit, follow, compare",
	.subs = subs,
};
