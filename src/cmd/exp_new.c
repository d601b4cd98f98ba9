/* lockstep exp new and exp template: from options to designs. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/exp.h"
#include "env/gather/gather.h"
#include "job/design.h"
#include "job/experiment.h"
#include "job/move.h"
#include "run/git.h"

/* clang-format off */
#define DESIGN_OPTS                                                                               \
	{"description", 0, "TEXT", "what it is for"},                                              \
	{"partition", 0, "P", "where it shall run: a Slurm partition, or a name for this machine's GPUs"}, \
	{"num-gpus", 0, "N", "how many GPUs it needs (default 0: it runs on the CPU)"},            \
	{"batch-size", 0, "N", "samples per GPU and step: {batch}"},                               \
	{"accum", 0, "N", "batches that are accumulated for one step: {accum}"},                   \
	{"global-batch", 0, "N", "samples per step on all GPUs; the batch per GPU follows from it"}, \
	{"samples", 0, "N", "samples of the training data, to count epochs in steps"},             \
	{"epochs", 0, "X", "length of the training, kept as steps: {total_steps}"},                \
	{"warmup-epochs", 0, "X", "length of the warm-up, kept as steps: {warmup_steps}"},         \
	{"total-steps", 0, "N", "length of the training in steps"},                                \
	{"warmup-steps", 0, "N", "length of the warm-up in steps"},                                \
	{"precision", 0, "P", "bf16, fp32 …: {precision}"},                                        \
	{"level", 0, "0|1|2|3", "run it under `lockstep run` with this level, which leaves a manifest"}, \
	{"set", 0, "KEY=VALUE", "a value for {KEY} in the command; may be repeated"},              \
	{"harvest", 0, "RULE", "where its metrics are: FILE, or stdout:PATTERN; may be repeated"}, \
	{"tag", 0, "TAG", "a word to find it by; may be repeated"}
/* clang-format on */

static const struct ls_opt new_opts[] = {
	{"exp-id", 0, "NAME", "its name, instead of the first argument"},
	{"template", 't', "T", "begin with this template (`lockstep exp template` makes them)"},
	{"like", 0, "NAME",
	 "begin with another experiment: its command, settings and global batch"},
	{"seed", 0, "N", "the seed: {seed}"},
	{"seeds", 0, "A,B,C", "one experiment per seed, in a group: NAME_seed42, …"},
	{"after", 0, "NAME", "wait until that experiment is done; may be repeated"},
	DESIGN_OPTS,
	{0},
};

static const struct ls_opt template_opts[] = {
	{"replace", 0, NULL, "overwrite a template of that name"},
	DESIGN_OPTS,
	{0},
};

/* --- from options to members --- */

static int take_count(json_t *d, const struct ls_args *args, const char *opt, const char *key,
		      struct ls_err *err)
{
	uint64_t v = 0;
	if (!ls_args_has(args, opt))
		return 0;
	int rc = ls_args_u64(args, opt, 0, INT64_MAX, &v, err);
	if (!rc)
		json_object_set_new(d, key, json_integer((json_int_t)v));
	return rc;
}

static void take_text(json_t *d, const struct ls_args *args, const char *opt, const char *key)
{
	const char *v = ls_args_get(args, opt);
	if (v)
		json_object_set_new(d, key, ls_json_lossy(v));
}

static int take_settings(json_t *d, const struct ls_args *args, struct ls_err *err)
{
	json_t *settings = json_object_get(d, "settings");
	if (!settings) {
		settings = json_object();
		json_object_set_new(d, "settings", settings);
	}
	const char *v;
	for (size_t i = 0; (v = ls_args_nth(args, "set", i)); i++) {
		const char *equals = strchr(v, '=');
		if (!equals || equals == v)
			return ls_err_set(err, LS_EINPUT, "option --set: \"%s\" is not KEY=VALUE",
					  v);
		char *key = ls_xstrndup(v, (size_t)(equals - v));
		json_object_set_new(settings, key, ls_json_lossy(equals + 1));
		free(key);
	}
	return 0;
}

/* A repeated option replaces the list that the template had. */
static void take_list(json_t *d, const struct ls_args *args, const char *opt, const char *key)
{
	const char *v;
	if (!ls_args_has(args, opt))
		return;
	json_t *list = json_array();
	for (size_t i = 0; (v = ls_args_nth(args, opt, i)); i++)
		json_array_append_new(list, ls_json_lossy(v));
	json_object_set_new(d, key, list);
}

/* The words behind the first n are a command. */
static void take_command(json_t *d, const struct ls_args *args, size_t n)
{
	if (args->n_pos <= n)
		return;
	json_t *command = json_array();
	for (size_t i = n; i < args->n_pos; i++)
		json_array_append_new(command, ls_json_lossy(args->pos[i]));
	json_object_set_new(d, "command", command);
}

static const struct {
	const char *opt, *key;
} counts[] = {{"num-gpus", "num_gpus"},         {"batch-size", "batch_size"},
	      {"accum", "accumulation"},        {"global-batch", "global_batch"},
	      {"samples", "samples"},           {"total-steps", "total_steps"},
	      {"warmup-steps", "warmup_steps"}, {"level", "level"}};

/* Other GPUs and the same global batch: the batch a GPU is computed anew. */
static void forget_batch(json_t *d, const struct ls_args *args)
{
	bool sized = ls_args_has(args, "batch-size") || ls_args_has(args, "accum");
	if (sized && !ls_args_has(args, "global-batch"))
		json_object_del(d, "global_batch");
	if (ls_args_has(args, "global-batch") || ls_args_has(args, "num-gpus")) {
		if (!ls_args_has(args, "batch-size") && json_object_get(d, "global_batch"))
			json_object_del(d, "batch_size");
		if (!ls_args_has(args, "accum"))
			json_object_del(d, "accumulation");
	}
}

static int take_options(json_t *d, const struct ls_args *args, struct ls_err *err)
{
	int rc = 0;
	for (size_t i = 0; !rc && i < sizeof counts / sizeof *counts; i++)
		rc = take_count(d, args, counts[i].opt, counts[i].key, err);
	take_text(d, args, "description", "description");
	take_text(d, args, "partition", "partition");
	take_text(d, args, "precision", "precision");
	take_list(d, args, "tag", "tags");
	take_list(d, args, "harvest", "harvest");
	forget_batch(d, args);
	return rc ? rc : take_settings(d, args, err);
}

static double number_of(const json_t *d, const char *key)
{
	return ls_col_real(d, key, -1);
}

static int take_schedule(json_t *d, const struct ls_args *args, struct ls_err *err)
{
	double epochs = number_of(d, "epochs"), warmup = number_of(d, "warmup_epochs");
	int rc = ls_args_double(args, "epochs", 0, 1e9, &epochs, err);
	if (!rc)
		rc = ls_args_double(args, "warmup-epochs", 0, 1e9, &warmup, err);
	if (!rc)
		rc = ls_design_batch(d, err);
	return rc ? rc : ls_design_steps(d, epochs, warmup, err);
}

/* --- where the experiment begins --- */

static int begin(struct ls_store *s, const struct ls_args *args, json_t **ret, struct ls_err *err)
{
	const char *template = ls_args_get(args, "template"), *like = ls_args_get(args, "like");
	if (template && like)
		return ls_err_set(err, LS_EINPUT, "--template and --like exclude each other");
	if (template)
		return ls_template_load(s, template, ret, err);
	if (!like) {
		*ret = json_object();
		return 0;
	}
	json_t *row;
	int rc = ls_experiment_get(s, like, &row, err);
	if (rc)
		return rc;
	*ret = ls_design_like(row);
	json_decref(row);
	return 0;
}

/* torch, CUDA, driver and Python of this machine, as in manifests. */
static json_t *environment(void)
{
	struct ls_gather how = {.env = (const char *const *)environ};
	struct ls_facts *facts;
	if (ls_gather(&how, &facts, NULL))
		return NULL;
	json_t *block = ls_facts_env_block(facts);
	ls_facts_free(facts);
	return block;
}

static int make(struct ls_store *s, json_t *d, const struct ls_args *args, json_t **ret,
		struct ls_err *err)
{
	const char *seeds = ls_args_get(args, "seeds");
	json_t *git = ls_git_state(), *list = NULL;
	char *diff = json_is_true(json_object_get(git, "dirty")) ? ls_git_diff() : NULL;
	json_object_set_new(d, "git", git);
	json_object_set_new(d, "environment", environment());
	take_list(d, args, "after", "after");
	int rc = 0;
	if (seeds && ls_args_has(args, "seed"))
		rc = ls_err_set(err, LS_EINPUT, "--seed and --seeds exclude each other");
	else if (seeds)
		rc = ls_design_seeds(d, seeds, &list, err);
	else
		list = json_pack("[O]", d);
	if (!rc)
		rc = ls_experiment_new(s, list, diff, err);
	free(diff);
	if (rc)
		json_decref(list);
	else
		*ret = list;
	return rc;
}

static void print_made(const json_t *list, const struct ls_args *args)
{
	json_t *names = json_array(), *d;
	size_t i;
	json_array_foreach(list, i, d) json_array_append(names, json_object_get(d, "name"));
	if (ls_args_has(args, "json")) {
		ls_cmd_print_json_take(json_pack("{s:o}", "experiments", names));
		return;
	}
	json_array_foreach(names, i, d) printf("%s\n", json_string_value(d));
	json_decref(names);
}

/* --- other GPUs than those it begins with --- */

/* A template's own batch and steps, as they were without the options. One that options
 * complete has none. */
static void complete_base(json_t *base)
{
	if (!ls_design_batch(base, NULL))
		ls_design_steps(base, number_of(base, "epochs"), number_of(base, "warmup_epochs"),
				NULL);
}

static bool moved(const json_t *base, const json_t *d)
{
	return ls_move_can(base) && (ls_col_int(d, "num_gpus", 0) > 0) &&
	       (!json_equal(json_object_get(base, "num_gpus"), json_object_get(d, "num_gpus")) ||
		!json_equal(json_object_get(base, "partition"), json_object_get(d, "partition")));
}

/* The batch of the best plan, unless a batch was given; that the global batch is exactly
 * kept is checked with the rest. */
static int move(const json_t *base, json_t *d, const struct ls_args *args, struct ls_plan **ret,
		struct ls_err *err)
{
	bool sized = ls_args_has(args, "batch-size") || ls_args_has(args, "accum") ||
		     ls_args_has(args, "global-batch");
	const char *partition = ls_col_text(d, "partition");
	char *gpu = ls_move_gpu(partition);
	int rc = ls_move_plan(base, gpu, (uint64_t)ls_col_int(d, "num_gpus", 0), ret, err);
	free(gpu);
	if (!rc && !sized)
		rc = ls_move_apply(*ret, d, err);
	return rc;
}

/* Told, and kept as notes of the experiment. */
static void tell_moved(const struct ls_plan *p, const json_t *base, json_t *d)
{
	json_t *warnings = json_array(), *w;
	size_t i;
	ls_move_warn(p, base, d, warnings);
	json_array_foreach(warnings, i, w) fprintf(stderr, "lockstep: %s\n", json_string_value(w));
	json_object_set_new(d, "notes", warnings);
}

static int new_in(struct ls_store *s, const struct ls_args *args, const char *name,
		  size_t command_at, struct ls_err *err)
{
	json_t *d = NULL, *list = NULL;
	int rc = begin(s, args, &d, err);
	if (rc)
		return rc;
	json_t *base = json_deep_copy(d);
	struct ls_plan *plan = NULL;
	complete_base(base);
	json_object_set_new(d, "name", ls_json_lossy(name));
	take_command(d, args, command_at);
	rc = take_options(d, args, err);
	if (!rc)
		rc = take_count(d, args, "seed", "seed", err);
	if (!rc && moved(base, d))
		rc = move(base, d, args, &plan, err);
	if (!rc)
		rc = take_schedule(d, args, err);
	if (!rc && plan)
		tell_moved(plan, base, d);
	ls_plan_free(plan);
	json_decref(base);
	if (!rc)
		rc = make(s, d, args, &list, err);
	if (!rc)
		print_made(list, args);
	json_decref(d);
	json_decref(list);
	return rc;
}

static int run_new(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	struct ls_err err = {0};
	const char *id = ls_args_get(args, "exp-id");
	if (!id && args->n_pos == 0)
		return ls_cmd_usage("new: the experiment needs a name");
	int status = ls_exp_open(&s);
	if (status)
		return status;
	if (new_in(s, args, id ? id : args->pos[0], id ? 0 : 1, &err))
		status = ls_cmd_fail(&err);
	ls_store_close(s);
	return status;
}

const struct ls_cmd ls_cmd_exp_new = {
	.name = "new",
	.summary = "make an experiment, or one per seed",
	.synopsis = "[--template T] [--like NAME] [--seed N] [--seeds A,B,C] [--after NAME] "
		    "[--partition "
		    "P] [--num-gpus N] [--batch-size N] [--set KEY=VALUE] [--description TEXT] "
		    "NAME [-- "
		    "COMMAND …]",
	.details =
		"COMMAND is the program with placeholders: {seed}, {batch}, {accum}, {num_gpus}, "
		"{global_batch},\n"
		"{warmup_steps}, {total_steps}, {precision}, {partition}, {name}, {attempt}, {out} "
		"(the folder to\n"
		"write to), {previous} (that folder of the attempt before) and every KEY of "
		"--set.\n"
		"It records the git commit, uncommitted changes, and the environment.\n"
		"On other GPUs than those of its template or of --like, the batch per GPU and the "
		"accumulation follow from\n"
		"the global batch by `lockstep plan`, whose warnings become notes.\n"
		"Nothing runs before `lockstep exp submit`.",
	.opts = new_opts,
	.max_pos = -1,
	.run = run_new,
};

/* --- template --- */

static int run_template(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	struct ls_err err = {0};
	double epochs = -1, warmup = -1;
	int status = ls_exp_open(&s);
	if (status)
		return status;
	json_t *d = json_object();
	take_command(d, args, 1);
	int rc = take_options(d, args, &err);
	if (!rc)
		rc = ls_args_double(args, "epochs", 0, 1e9, &epochs, &err);
	if (!rc)
		rc = ls_args_double(args, "warmup-epochs", 0, 1e9, &warmup, &err);
	if (epochs >= 0)
		json_object_set_new(d, "epochs", json_real(epochs));
	if (warmup >= 0)
		json_object_set_new(d, "warmup_epochs", json_real(warmup));
	if (!rc)
		rc = ls_template_save(s, args->pos[0], d, ls_args_has(args, "replace"), &err);
	json_decref(d);
	ls_store_close(s);
	return rc ? ls_cmd_fail(&err) : 0;
}

const struct ls_cmd ls_cmd_exp_template = {
	.name = "template",
	.summary = "keep a command with its usual settings under a name",
	.synopsis = "[--replace] [--partition P] [--num-gpus N] [--batch-size N] [--set KEY=VALUE] "
		    "NAME -- COMMAND …",
	.details = "Written to .lockstep/templates/NAME.json, which may be edited and belongs in "
		   "git.",
	.opts = template_opts,
	.min_pos = 2,
	.max_pos = -1,
	.run = run_template,
};
