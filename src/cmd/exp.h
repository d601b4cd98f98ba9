/* What the files of `lockstep exp` share. Nothing is owned here; one thread. */
#ifndef LS_CMD_EXP_H
#define LS_CMD_EXP_H

#include "cmd/cmd.h"
#include "job/row.h"
#include "job/store.h"

extern const struct ls_cmd ls_cmd_exp_new, ls_cmd_exp_template;
extern const struct ls_cmd ls_cmd_exp_list, ls_cmd_exp_show;
extern const struct ls_cmd ls_cmd_exp_submit, ls_cmd_exp_status, ls_cmd_exp_logs;
extern const struct ls_cmd ls_cmd_exp_harvest, ls_cmd_exp_export;
extern const struct ls_cmd ls_cmd_exp_variance, ls_cmd_exp_compare;
extern const struct ls_cmd ls_cmd_exp_resources;
extern const struct ls_cmd ls_cmd_exp_cancel, ls_cmd_exp_retry, ls_cmd_exp_explain;

/* Opens the store of the current folder; prints the reason and returns an exit status
 * where that fails. */
int ls_exp_open(struct ls_store **ret);
/* The experiment of args: its first positional or --exp-id; NULL after a message where
 * both or neither were given. */
const char *ls_exp_name(const char *command, const struct ls_args *args);
/* With --json: {"experiments": [names]}, which were changed. */
void ls_exp_json_names(const struct ls_args *args, const char *const *names, size_t n);
#define LS_EXP_ID_OPT                                                                              \
	{                                                                                          \
		"exp-id", 0, "NAME", "the experiment, instead of the first argument"               \
	}

/* Options that choose experiments, and the experiments that they leave, with their
 * metrics. Returns an exit status. */
#define LS_EXP_FILTER_OPTS                                                                         \
	{"state", 0, "STATE", "only those: new, queued, running, done, failed, cancelled, dead"},  \
		{"tag", 0, "TAG", "only those with this tag"},                                     \
		{"group", 0, "NAME", "only those of one group (--seeds)"},                         \
	{                                                                                          \
		"where", 0, "CONDITION",                                                           \
			"only those with COLUMN=VALUE, or != < <= > >=; may be repeated"           \
	}
int ls_exp_rows(struct ls_store *s, const struct ls_args *args, json_t **ret);

/* --- Slurm (exp_slurm.c); exit statuses --- */

bool ls_exp_slurm_wanted(const struct ls_args *args);
/* An option of args that means nothing to the local engine, or NULL. */
const char *ls_exp_slurm_only(const struct ls_args *args);
struct ls_submit;
int ls_exp_slurm_submit(struct ls_store *s, const struct ls_args *args, const char *const *names,
			size_t n, struct ls_submit *how);
int ls_exp_slurm_retry(struct ls_store *s, const json_t *names);
/* Brings what Slurm runs up to date; says so where Slurm does not answer. */
int ls_exp_refresh(struct ls_store *s);
/* The same for a loop, which begins with *next 0: not more often than Slurm bears. */
int ls_exp_refresh_sometimes(struct ls_store *s, double *next);

#endif
