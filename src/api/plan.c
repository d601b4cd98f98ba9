#include "api/plan.h"

#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/options.h"
#include "base/mem.h"
#include "base/str.h"
#include "plan/config.h"
#include "plan/report.h"
#include "run/manifest.h"

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
	return NULL;
}

int ls_plan_check_args(const struct ls_args *args, struct ls_err *err)
{
	static const char *const wanted[] = {"from", "to", "batch"};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		if (!ls_args_has(args, wanted[i]))
			return ls_err_set(err, LS_EINPUT, "plan: option --%s is missing",
					  wanted[i]);
	const char *wrong = contradiction(args);
	return wrong ? ls_err_set(err, LS_EINPUT, "plan: %s", wrong) : 0;
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

static int launch_lines(const struct ls_args *args, struct ls_plan_answer *a, struct ls_err *err)
{
	struct ls_plan_launch how = {.partition = ls_args_get(args, "partition")};
	const char **command = ls_xalloc((args->n_pos + 1) * sizeof *command);
	for (size_t i = 0; i < args->n_pos; i++)
		command[i] = args->pos[i];
	how.command = args->n_pos ? command : NULL;
	int rc = ls_args_u64(args, "gpus-per-node", 1, LS_PLAN_MAX_GPUS, &how.gpus_per_node, err);
	if (!rc)
		rc = ls_plan_torchrun(a->plan, &how, &a->torchrun, err);
	if (!rc)
		rc = ls_plan_sbatch(a->plan, &how, &a->sbatch, err);
	free(command);
	return rc;
}

void ls_plan_answer_done(struct ls_plan_answer *a)
{
	ls_str_done(&a->torchrun);
	ls_str_done(&a->sbatch);
	ls_plan_free(a->plan);
	*a = (struct ls_plan_answer){0};
}

static int make(const struct ls_args *args, struct ls_plan_ask *ask, struct ls_plan_answer *ret,
		struct ls_err *err)
{
	int rc = read_numbers(args, ask, err);
	if (!rc)
		rc = read_model(args, ask, err);
	if (!rc)
		rc = ls_plan_make(ask, &ret->plan, err);
	return rc ? rc : launch_lines(args, ret, err);
}

int ls_plan_from_args(const struct ls_args *args, struct ls_plan_answer *ret, struct ls_err *err)
{
	struct ls_plan_ask ask = {.drop_last = ls_args_has(args, "drop-last"), .warmup_epochs = -1};
	char *from = NULL, *to = NULL;
	*ret = (struct ls_plan_answer){0};
	int rc = read_gpus(args, "from", &from, &ask.from, err);
	if (!rc)
		rc = read_gpus(args, "to", &to, &ask.to, err);
	if (!rc)
		rc = make(args, &ask, ret, err);
	if (rc)
		ls_plan_answer_done(ret);
	free(from);
	free(to);
	return rc;
}

json_t *ls_plan_answer_json(const struct ls_plan_answer *a)
{
	json_t *j = ls_plan_json(a->plan), *launch = json_object();
	json_object_set_new(launch, "torchrun", ls_json_lossy(a->torchrun.s));
	json_object_set_new(launch, "sbatch", ls_json_lossy(a->sbatch.s));
	json_object_set_new(j, "launch", launch);
	return j;
}

static int judge(const struct ls_options *o, char **ret_json, enum ls_answer *ret_answer,
		 struct ls_err *err)
{
	struct ls_options *own;
	const struct ls_args *args;
	struct ls_plan_answer a = {0};
	int rc = ls_options_use(o, 1u << LS_PLAN, &own, &args, err);
	if (rc == 0)
		rc = ls_plan_check_args(args, err);
	if (rc == 0)
		rc = ls_plan_from_args(args, &a, err);
	if (rc == 0) {
		json_t *doc = ls_plan_answer_json(&a);
		*ret_json = ls_json_text(doc);
		json_decref(doc);
		if (ret_answer)
			*ret_answer = a.plan->exact ? LS_ANSWER_YES : LS_ANSWER_NO;
	}
	ls_plan_answer_done(&a);
	ls_options_free(own);
	return rc;
}

int ls_plan_judge(const struct ls_options *o, char **ret_json, enum ls_answer *ret_answer,
		  struct ls_err *err)
{
	LS_CALL(err, judge(o, ret_json, ret_answer, err));
}
