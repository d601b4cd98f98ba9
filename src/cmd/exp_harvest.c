/* lockstep exp harvest: metrics of what has run, into the store. */
#include <stdlib.h>

#include "cmd/exp.h"
#include "job/experiment.h"
#include "job/harvest.h"
#include "job/rule.h"

static const struct ls_opt harvest_opts[] = {
	{"all", 0, NULL, "all experiments"},
	{"rule", 0, "RULE", "instead of its own rules: FILE, or stdout:PATTERN; may be repeated"},
	LS_EXP_ID_OPT,
	{0},
};

/* The rules of --rule, or NULL. */
static json_t *rules_of(const struct ls_args *args)
{
	const char *v;
	if (!ls_args_has(args, "rule"))
		return NULL;
	json_t *list = json_array();
	for (size_t i = 0; (v = ls_args_nth(args, "rule", i)); i++)
		json_array_append_new(list, ls_json_lossy(v));
	return list;
}

static void advise(const char *name, const json_t *row, const struct ls_harvested *h)
{
	char text[512];
	if (h->attempts == 0)
		snprintf(text, sizeof text,
			 "%s: has not run yet; `lockstep exp explain %s` says why", name, name);
	else
		snprintf(text, sizeof text,
			 "%s: no metrics: %s below runs/%s/attempt-%lld/out; `lockstep exp harvest "
			 "--rule FILE` or `--rule stdout:PATTERN` says where they are",
			 name,
			 json_array_size(json_object_get(row, "harvest"))
				 ? "nothing that its rules name has any"
				 : "no metrics.jsonl, log.jsonl, metrics.csv, metrics.json or "
				   "events.out.tfevents.* has any",
			 name, (long long)ls_col_int(row, "attempt", 0));
	ls_cmd_note(text);
}

static void tell_notes(const char *name, const struct ls_harvested *h)
{
	const json_t *note;
	size_t i;
	json_array_foreach(h->notes, i, note)
	{
		char text[512];
		snprintf(text, sizeof text, "%s: %s", name, json_string_value(note));
		ls_cmd_note(text);
	}
}

static void tell(const char *name, const struct ls_harvested *h)
{
	printf("%s: %zu value%s of %zu metric%s in %zu file%s, %zu new\n", name, h->values,
	       h->values == 1 ? "" : "s", h->metrics, h->metrics == 1 ? "" : "s", h->files,
	       h->files == 1 ? "" : "s", h->changed);
}

static json_t *harvested_json(const char *name, const struct ls_harvested *h)
{
	return json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:O}", "name", name, "attempts",
			 (json_int_t)h->attempts, "files", (json_int_t)h->files, "metrics",
			 (json_int_t)h->metrics, "values", (json_int_t)h->values, "changed",
			 (json_int_t)h->changed, "notes", h->notes);
}

/* One experiment. Returns an exit status. */
static int one(struct ls_store *s, const char *name, const json_t *rules,
	       const struct ls_args *args, json_t *to)
{
	struct ls_err err = {0};
	struct ls_harvested h = {0};
	json_t *row = NULL;
	int status = 0;
	bool all = ls_args_has(args, "all");
	if (ls_experiment_get(s, name, &row, &err) || ls_harvest(s, row, rules, &h, &err)) {
		status = ls_cmd_fail(&err);
	} else {
		json_array_append_new(to, harvested_json(name, &h));
		tell_notes(name, &h);
		if (h.values && !ls_args_has(args, "json"))
			tell(name, &h);
		if (h.values == 0 && !all) {
			advise(name, row, &h);
			status = LS_EXIT_NO;
		}
		json_decref(h.notes);
	}
	json_decref(row);
	return status;
}

static int all_names(struct ls_store *s, json_t *names, struct ls_err *err)
{
	json_t *rows = NULL, *row;
	size_t i;
	int rc = ls_experiment_list(s, NULL, NULL, NULL, &rows, err);
	json_array_foreach(rows, i, row) json_array_append(names, json_object_get(row, "name"));
	json_decref(rows);
	return rc;
}

static int names_of(struct ls_store *s, const struct ls_args *args, json_t *names,
		    struct ls_err *err)
{
	const char *id = ls_args_get(args, "exp-id");
	int rc = ls_args_has(args, "all") ? all_names(s, names, err) : 0;
	for (size_t i = 0; !rc && i < args->n_pos; i++)
		rc = ls_experiment_resolve(s, args->pos[i], names, err);
	if (!rc && id)
		rc = ls_experiment_resolve(s, id, names, err);
	return rc;
}

static int run_harvest(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	struct ls_err err = {0};
	json_t *rules = rules_of(args), *names = json_array(), *done = json_array(), *name;
	size_t i;
	bool any = args->n_pos || ls_args_has(args, "all") || ls_args_has(args, "exp-id");
	int status = any ? 0 : ls_cmd_usage("harvest: which experiments? --all stands for all");
	if (!status && ls_rules_check(rules, &err))
		status = ls_cmd_fail(&err);
	if (!status)
		status = ls_exp_open(&s);
	if (!status && (status = ls_exp_refresh(s))) /* what Slurm runs may have ended */
		ls_store_close(s);
	if (!status) {
		if (names_of(s, args, names, &err))
			status = ls_cmd_fail(&err);
		else
			json_array_foreach(names, i, name)
			{ /* one that is damaged does not keep the others back */
				int one_status = one(s, json_string_value(name), rules, args, done);
				status = one_status > status ? one_status : status;
			}
		if (ls_args_has(args, "json") && status <= LS_EXIT_NO)
			ls_cmd_print_json_take(json_pack("{s:O}", "experiments", done));
		ls_store_close(s);
	}
	json_decref(rules);
	json_decref(names);
	json_decref(done);
	return status;
}

const struct ls_cmd ls_cmd_exp_harvest = {
	.name = "harvest",
	.summary = "collect the metrics that experiments have written, into the store",
	.synopsis = "[--rule RULE] [--exp-id NAME] NAME…\n[--rule RULE] --all",
	.details =
		"Reads what `exp new --harvest` named, else every metrics.jsonl, log.jsonl, "
		"metrics.csv, metrics.json\n"
		"and events.out.tfevents.* below {out}. Doing it again changes nothing, and what "
		"is in the store stays\n"
		"when the files are gone. A RULE is a pattern of file names below {out}, or "
		"stdout:PATTERN for what the\n"
		"program printed: text with {step} and {NAME} where numbers stand and {} for "
		"anything, or just NAME for\n"
		"\"NAME: 0.5\". Exit status 1: one of them has no metrics.",
	.opts = harvest_opts,
	.max_pos = -1,
	.run = run_harvest,
};
