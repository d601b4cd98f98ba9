/* lockstep plan --from GPU:N --to GPU:N --batch PER_GPU */
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "plan/config.h"
#include "plan/report.h"
#include "run/manifest.h"

enum { OPTIONS_SHOWN = 8 };

static const struct ls_opt opts[] = {
	{"from", 0, "GPU:N", "what the baseline ran on, as in L40S:4"},
	{"to", 0, "GPU:N", "what it shall run on, as in H200:2"},
	{"batch", 0, "N", "samples that one GPU of the baseline takes at once"},
	{"accum", 0, "N", "gradient accumulation of the baseline (default: 1)"},
	{"samples", 0, "N", "samples of the training set, for the schedule in steps"},
	{"drop-last", 0, NULL, "the DataLoader leaves out a last batch that is not full"},
	{"epochs", 0, "N", "epochs of the baseline"},
	{"steps", 0, "N", "optimizer steps of the baseline, instead of --epochs"},
	{"warmup-epochs", 0, "X", "epochs of warm-up of the baseline; may be a fraction"},
	{"warmup-steps", 0, "N", "optimizer steps of warm-up, instead of --warmup-epochs"},
	{"precision", 0, "fp32|tf32|bf16|fp16|fp8|fp4", "of the baseline"},
	{"tf32", 0, "on|off", "the baseline's TF32 setting"},
	{"batch-norm", 0, "none|per-gpu|sync", "whether the model has BatchNorm, and over what"},
	{"workers", 0, "N", "DataLoader workers of each rank"},
	{"optimizer", 0, "sgd|momentum|adam|adamw|lion|adafactor",
	 "for memory, and for how the learning rate follows the batch"},
	{"lr", 0, "X", "learning rate of the baseline"},
	{"params", 0, "N", "parameters of the model; 7B and 1.3M are understood"},
	{"activations", 0, "SIZE", "memory of the activations of one sample, as in 150M"},
	{"manifest", 0, "FILE|DIR",
	 "run_manifest.json of the baseline, for its peak of GPU memory"},
	{"gpus-per-node", 0, "N", "GPUs of one node of the target (default: all in one)"},
	{"partition", 0, "NAME", "Slurm's partition, for the sbatch line"},
	{"yaml", 0, NULL, "print the plan as YAML, to paste into a configuration"},
	{"env", 0, NULL, "print the plan as variables for a shell"},
	{"all", 0, NULL, "print every way to divide the batch, not only the first 8"},
	{"list-gpus", 0, NULL, "print the GPUs that are known, and nothing else"},
	{0},
};

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

static int read_gpus(const struct ls_args *args, const char *option, char **name,
		     struct ls_plan_gpus *ret, struct ls_err *err)
{
	int rc = ls_plan_parse_gpus(ls_args_get(args, option), name, &ret->count, err);
	ret->name = *name;
	return rc ? ls_err_prefix(err, "option --%s", option) : 0;
}

static int read_numbers(const struct ls_args *args, struct ls_plan_ask *ask, struct ls_err *err)
{
	const struct {
		const char *name;
		uint64_t max;
		uint64_t *ret;
	} numbers[] = {{"batch", LS_PLAN_MAX_BATCH, &ask->batch},
		       {"accum", LS_PLAN_MAX_ACCUM, &ask->accum},
		       {"samples", LS_PLAN_MAX_SAMPLES, &ask->samples},
		       {"epochs", LS_PLAN_MAX_EPOCHS, &ask->epochs},
		       {"steps", LS_PLAN_MAX_STEPS, &ask->total_steps},
		       {"workers", LS_PLAN_MAX_GPUS, &ask->workers},
		       {"warmup-steps", LS_PLAN_MAX_STEPS, &ask->warmup_steps}};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (ls_args_u64(args, numbers[i].name, 1, numbers[i].max, numbers[i].ret, err))
			return err->code;
	return ls_args_double(args, "warmup-epochs", 0, (double)LS_PLAN_MAX_EPOCHS,
			      &ask->warmup_epochs, err);
}

/* Pairs that say the same thing twice, and what is worth nothing without --samples. */
static const char *contradiction(const struct ls_args *args)
{
	if (ls_args_has(args, "epochs") && ls_args_has(args, "steps"))
		return "--epochs and --steps say the same thing: give one of them";
	if (ls_args_has(args, "warmup-epochs") && ls_args_has(args, "warmup-steps"))
		return "--warmup-epochs and --warmup-steps say the same thing: give one of them";
	if (!ls_args_has(args, "samples") &&
	    (ls_args_has(args, "epochs") || ls_args_has(args, "warmup-epochs")))
		return "an epoch has no number of steps without --samples";
	if (ls_args_has(args, "json") + ls_args_has(args, "yaml") + ls_args_has(args, "env") > 1)
		return "--json, --yaml and --env are different outputs: give one of them";
	return NULL;
}

/* "7B", "1.3M", "124K" or a plain number; decimal, as models are named. */
static int read_count(const char *text, uint64_t *ret, struct ls_err *err)
{
	static const char letters[] = "KMBT";
	size_t len = strlen(text);
	char number[32];
	const char *letter = len ? strchr(letters, text[len - 1]) : NULL;
	double unit = 1, value;
	if (len >= sizeof number)
		return ls_err_set(err, LS_EINPUT, "option --params: \"%.40s\" is too long", text);
	snprintf(number, sizeof number, "%.*s", (int)(letter ? len - 1 : len), text);
	for (const char *p = letters; letter && p <= letter; p++)
		unit *= 1000;
	if (ls_str_to_double(number, 0, 9e15, "option --params", &value, err))
		return err->code;
	if (!(value * unit >= 1 && value * unit <= 9e15))
		return ls_err_set(err, LS_EINPUT,
				  "option --params: \"%s\" is not from 1 to 9e15 parameters", text);
	*ret = (uint64_t)(value * unit);
	return 0;
}

static int read_manifest(const char *path, struct ls_plan_ask *ask, struct ls_err *err)
{
	json_t *m;
	int rc = ls_manifest_load(path, &m, err);
	if (rc)
		return rc;
	rc = ls_plan_measured(m, &ask->peak_bytes, err);
	json_decref(m);
	return rc ? ls_err_prefix(err, "%s", path) : 0;
}

static enum ls_plan_norm norm_of(const char *text)
{
	if (!text)
		return LS_NORM_UNKNOWN;
	return strcmp(text, "none") == 0   ? LS_NORM_NONE
	       : strcmp(text, "sync") == 0 ? LS_NORM_SYNC
					   : LS_NORM_PER_GPU;
}

/* What is said about precision, model and memory. */
static int read_model(const struct ls_args *args, struct ls_plan_ask *ask, struct ls_err *err)
{
	const char *precision = ls_args_get(args, "precision"), *tf32 = ls_args_get(args, "tf32"),
		   *optimizer = ls_args_get(args, "optimizer"),
		   *params = ls_args_get(args, "params"),
		   *activations = ls_args_get(args, "activations"),
		   *manifest = ls_args_get(args, "manifest");
	int rc = 0;
	ask->precision = precision ? ls_precision_of(precision) : 0;
	ask->tf32 = tf32 ? strcmp(tf32, "on") == 0 : -1;
	ask->norm = norm_of(ls_args_get(args, "batch-norm"));
	ask->optimizer = optimizer ? ls_plan_optimizer_of(optimizer) : LS_OPT_UNKNOWN;
	if (params)
		rc = read_count(params, &ask->params, err);
	if (!rc && activations)
		rc = ls_str_to_size(activations, "option --activations", &ask->activation_bytes,
				    err);
	if (!rc)
		rc = ls_args_double(args, "lr", 1e-30, LS_PLAN_MAX_LR, &ask->learning_rate, err);
	if (!rc && manifest)
		rc = read_manifest(manifest, ask, err);
	return rc;
}

struct lines {
	struct ls_str torchrun, sbatch;
};

static void lines_done(struct lines *l)
{
	ls_str_done(&l->torchrun);
	ls_str_done(&l->sbatch);
}

static int launch_lines(const struct ls_plan *p, const struct ls_args *args, struct lines *l,
			struct ls_err *err)
{
	struct ls_plan_launch how = {.partition = ls_args_get(args, "partition")};
	const char **command = ls_xalloc((args->n_pos + 1) * sizeof *command);
	for (size_t i = 0; i < args->n_pos; i++)
		command[i] = args->pos[i];
	how.command = args->n_pos ? command : NULL;
	int rc = ls_args_u64(args, "gpus-per-node", 1, LS_PLAN_MAX_GPUS, &how.gpus_per_node, err);
	if (!rc)
		rc = ls_plan_torchrun(p, &how, &l->torchrun, err);
	if (!rc)
		rc = ls_plan_sbatch(p, &how, &l->sbatch, err);
	free(command);
	return rc;
}

static void print_json(const struct ls_plan *p, const struct lines *l)
{
	json_t *j = ls_plan_json(p), *launch = json_object();
	json_object_set_new(launch, "torchrun", ls_json_lossy(l->torchrun.s));
	json_object_set_new(launch, "sbatch", ls_json_lossy(l->sbatch.s));
	json_object_set_new(j, "launch", launch);
	ls_cmd_print_json_take(j);
}

/* The lines hold the user's own words, which may not be printable. */
static void add_lines(struct ls_str *text, const struct lines *l)
{
	ls_str_add(text, "\nrun it with one of:\n  ");
	ls_str_add_printable(text, l->torchrun.s);
	ls_str_add(text, "\n  ");
	ls_str_add_printable(text, l->sbatch.s);
	ls_str_add(text, "\n");
}

static int print(const struct ls_plan *p, const struct ls_args *args, struct ls_err *err)
{
	struct ls_str text = {0};
	struct lines lines = {0};
	int rc = launch_lines(p, args, &lines, err);
	if (rc) {
		lines_done(&lines);
		return rc;
	}
	if (ls_args_has(args, "json")) {
		print_json(p, &lines);
	} else if (ls_args_has(args, "yaml")) {
		ls_plan_yaml(p, &text);
	} else if (ls_args_has(args, "env")) {
		ls_plan_env(p, &text);
	} else {
		ls_plan_text(p, ls_args_has(args, "all") ? 0 : OPTIONS_SHOWN, &text);
		add_lines(&text, &lines);
	}
	fputs(text.s ? text.s : "", stdout);
	ls_str_done(&text);
	lines_done(&lines);
	return 0;
}

static int make(const struct ls_args *args)
{
	struct ls_plan_ask ask = {.drop_last = ls_args_has(args, "drop-last"), .warmup_epochs = -1};
	struct ls_plan *p = NULL;
	struct ls_err err = {0};
	char *from = NULL, *to = NULL;
	int rc = read_gpus(args, "from", &from, &ask.from, &err);
	if (!rc)
		rc = read_gpus(args, "to", &to, &ask.to, &err);
	if (!rc)
		rc = read_numbers(args, &ask, &err);
	if (!rc)
		rc = read_model(args, &ask, &err);
	if (!rc)
		rc = ls_plan_make(&ask, &p, &err);
	if (!rc)
		rc = print(p, args, &err);
	int status = rc ? ls_cmd_fail(&err) : p->exact ? LS_EXIT_YES : LS_EXIT_NO;
	ls_plan_free(p);
	free(from);
	free(to);
	return status;
}

static int run(const struct ls_cmd *cmd, const struct ls_args *args)
{
	static const char *const wanted[] = {"from", "to", "batch"};
	(void)cmd;
	if (ls_args_has(args, "list-gpus"))
		return list_gpus(args);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		if (!ls_args_has(args, wanted[i]))
			return ls_cmd_usage("plan: option --%s is missing", wanted[i]);
	const char *wrong = contradiction(args);
	return wrong ? ls_cmd_usage("plan: %s", wrong) : make(args);
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
	.opts = opts,
	.max_pos = -1,
	.rest_is_command = true,
	.run = run,
};
