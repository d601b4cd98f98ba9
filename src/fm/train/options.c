#include "fm/train/options.h"

#include <stdio.h>
#include <string.h>

#include "base/cpus.h"
#include "base/str.h"
#include "fm/train/check_options.h"
#include "fm/train/classes.h"
#include "fm/train/defaults.h"

const struct ls_opt ls_fm_train_opts[] = {
	{"output", 'o', "MODEL", "where to write the model (safetensors); required"},
	{"kind", 0, "fm|ffm|fwfm|linear", "the model (default fm; ffm and fwfm need libffm data)"},
	{"task", 0, "binary|regression|multiclass", "what the labels are (default binary)"},
	{"classes", 0, "N", "classes of a multiclass task (default: the largest label + 1)"},
	{"factors", 'k', "K", "factors a feature (default: fm 16, fwfm 8, ffm 4)"},
	{"epochs", 0, "N",
	 "passes over the data (default: by their size, below 200,000 rows by validation)"},
	{"batch", 0, "N",
	 "rows a step (default: a fiftieth of the rows, 8 to 1024, ffm and fwfm to 512)"},
	{"accum", 0, "N",
	 "batches to a step (default 1): run as, and the bytes of, --batch times N"},
	{"optimizer", 0, "adagrad|sgd|adam|ftrl", "how parameters move (default adagrad)"},
	{"lr", 0, "X",
	 "learning rate (default: adagrad 0.05, for fm 0.04; sgd 0.5, adam 0.001, with few rows "
	 "0.01, ftrl 0.1)"},
	{"l1", 0, "X", "L1 penalty of all but the bias (default 0)"},
	{"l2", 0, "X",
	 "L2 penalty of all but the bias (default 0; less than 20,000 rows: a weak one)"},
	{"l1-linear", 0, "X", "of linear weights (default as --l1)"},
	{"l2-linear", 0, "X", "of linear weights (default as --l2)"},
	{"l1-factors", 0, "X", "of factors (default as --l1)"},
	{"l2-factors", 0, "X", "of factors (default as --l2)"},
	{"l1-fields", 0, "X", "of fwfm's weights of fields (default as --l1)"},
	{"l2-fields", 0, "X", "of fwfm's weights of fields (default as --l2)"},
	{"l1-bias", 0, "X", "of the bias (default 0)"},
	{"l2-bias", 0, "X", "of the bias (default 0)"},
	{"init-scale", 0, "X", "standard deviation of the initial factors (default 0.01)"},
	{"initial-sum", 0, "X", "AdaGrad: where the sums of squares start (default 1)"},
	{"beta1", 0, "X", "Adam (default 0.9)"},
	{"beta2", 0, "X", "Adam (default 0.999)"},
	{"eps", 0, "X", "Adam (default 1e-8)"},
	{"ftrl-beta", 0, "X", "FTRL (default 1)"},
	{"warmup-steps", 0, "N", "steps over which the learning rate rises from 0 (default 0)"},
	{"decay", 0, "none|linear|invsqrt",
	 "how the learning rate falls after that (default none)"},
	{"decay-steps", 0, "N", "the time scale of the decay, in steps"},
	{"normalize", 0, NULL, "scale each row to length 1"},
	{"scaling", 0, "auto|none",
	 "train in units in which values and labels are about 1 (default auto)"},
	{"label-smoothing", 0, "X", "share of the label spread over all classes (default 0)"},
	{"class-weight", 0, "LIST", "balanced, or a weight a class: W0,W1,…"},
	{"shuffle", 0, "rows|blocks|none",
	 "order of an epoch (default rows; blocks reads a large file nearly in order)"},
	{"seed", 0, "N", "of initial factors and order (default 1337)"},
	{"warm-start", 0, "MODEL",
	 "start from a model, or from a checkpoint with its optimizer's state"},
	{"valid", 0, "DATA",
	 "data to validate on after each epoch; the best epoch's model is kept"},
	{"valid-labels", 0, "FILE.npy", "labels of the validation data, for data that have none"},
	{"valid-weights", 0, "FILE.npy", "weights of the validation data, for data that have none"},
	{"valid-fraction", 0, "X",
	 "validate on this share of the rows, drawn by the seed, and train on the others"},
	{"cv", 0, "K",
	 "cross-validate in K parts; then train on all rows for the best number of epochs"},
	{"metric", 0, "logloss|rmse|accuracy|auc|macro-f1",
	 "what decides the best epoch (default logloss, or rmse)"},
	{"early-stop", 0, "N",
	 "stop after N epochs that are no better (default 1 to 25 by size; 0: never)"},
	{"least-gain", 0, "X",
	 "an epoch is better if the metric is better by more than this (default 0)"},
	{"checkpoint", 0, "FILE", "keep a checkpoint here, at least once an epoch"},
	{"checkpoint-every", 0, "STEPS", "and every so many steps"},
	{"resume", 0, NULL,
	 "go on from the checkpoint; without it a training begins anew, and replaces it"},
	{"log", 0, "FILE.jsonl", "append one JSON line an epoch"},
	{"log-every", 0, "STEPS", "and every so many steps"},
	{"quiet", 'q', NULL, "print nothing but errors"},
	LS_FM_DATA_OPTS,
	LS_FM_ENGINE_OPTS,
	{"kernels", 0, "baseline|avx2|avx512",
	 "a build of the CPU kernels (default: the best that the CPU can run)"},
	{0},
};

const struct ls_opt ls_fm_predict_opts[] = {
	{"output", 'o', "FILE", "where to write (default: standard output)"},
	{"raw", 0, NULL, "scores instead of probabilities"},
	LS_FM_COLUMNS_OPT,
	LS_FM_DATA_OPTS,
	LS_FM_ENGINE_OPTS,
	{0},
};

const struct ls_opt ls_fm_eval_opts[] = {
	{"group", 0, "FILE.npy", "a number a row: adds ndcg, over the rows of each number"},
	LS_FM_COLUMNS_OPT,
	LS_FM_DATA_OPTS,
	LS_FM_ENGINE_OPTS,
	{0}};

/* fallback: the value if the option is not given. */
static int pick_word(const struct ls_args *args, const char *option, int fallback, int *ret,
		     struct ls_err *err)
{
	const char *value = ls_args_get(args, option);
	*ret = value ? ls_fm_word(option, value) : fallback;
	return *ret >= 0 ? 0
			 : ls_err_set(err, LS_EINPUT, "--%s %s: there is none such", option, value);
}

static int get_float(const struct ls_args *args, const char *name, double min, double max,
		     float *ret, struct ls_err *err)
{
	double v = (double)*ret;
	int rc = ls_args_double(args, name, min, max, &v, err);
	*ret = (float)v;
	return rc;
}

/* --l1 or --l2, by part. */
static int get_penalties(const struct ls_args *args, const char *which, float *ret,
			 struct ls_err *err)
{
	static const char *const parts[] = {"bias", "linear", "factors", "fields"};
	float all = 0.0f;
	int rc = get_float(args, which, 0, 1e6, &all, err);
	for (int i = 0; i < LS_FM_PARTS && rc == 0; i++) {
		char name[16];
		snprintf(name, sizeof name, "%s-%s", which, parts[i]);
		ret[i] = i == LS_ON_BIAS ? 0.0f : all;
		rc = get_float(args, name, 0, 1e6, &ret[i], err);
	}
	return rc;
}

int ls_fm_args_u32(const struct ls_args *args, const char *name, uint64_t min, uint64_t max,
		   uint32_t *ret, struct ls_err *err)
{
	uint64_t v = *ret;
	int rc = ls_args_u64(args, name, min, max, &v, err);
	*ret = (uint32_t)v;
	return rc;
}

static bool is_given(const void *context, const char *option)
{
	return ls_args_has(context, option);
}

int ls_fm_model_options(const struct ls_args *a, struct ls_fm_opts *o, struct ls_err *err)
{
	int kind = LS_FM, task, optimizer, decay, shuffle;
	const char *of = ls_args_get(a, "kind");
	bool linear = of && strcmp(of, "linear") == 0;
	if ((!linear && pick_word(a, "kind", LS_FM, &kind, err)) ||
	    pick_word(a, "task", LS_BINARY, &task, err) ||
	    pick_word(a, "optimizer", LS_ADAGRAD, &optimizer, err) ||
	    pick_word(a, "decay", LS_DECAY_NONE, &decay, err) ||
	    pick_word(a, "shuffle", LS_SHUFFLE_ROWS, &shuffle, err))
		return LS_EINPUT;
	*o = ls_fm_defaults((enum ls_fm_kind)kind, (enum ls_fm_task)task,
			    (enum ls_fm_optimizer)optimizer);
	o->decay = (enum ls_fm_decay)decay;
	o->shuffle = (enum ls_fm_shuffle)shuffle;
	o->normalize = ls_args_has(a, "normalize");
	o->scale = !ls_args_has(a, "scaling") || strcmp(ls_args_get(a, "scaling"), "none") != 0;
	uint32_t accum = 1;
	if (ls_fm_args_u32(a, "factors", 1, LS_FM_MAX_FACTORS, &o->factors, err) ||
	    ls_fm_args_u32(a, "batch", 1, LS_FM_MAX_BATCH, &o->batch, err) ||
	    ls_fm_args_u32(a, "accum", 1, 1 << 16, &accum, err) ||
	    get_float(a, "lr", 1e-30, 1e6, &o->lr, err) || get_penalties(a, "l1", o->l1, err) ||
	    get_penalties(a, "l2", o->l2, err) ||
	    get_float(a, "init-scale", 0, 1e6, &o->init_scale, err) ||
	    get_float(a, "initial-sum", 1e-30, 1e30, &o->initial_sum, err) ||
	    get_float(a, "beta1", 0, 0.999999, &o->beta1, err) ||
	    get_float(a, "beta2", 0, 0.999999, &o->beta2, err) ||
	    get_float(a, "eps", 1e-30, 1, &o->eps, err) ||
	    get_float(a, "ftrl-beta", 1e-30, 1e6, &o->ftrl_beta, err) ||
	    get_float(a, "label-smoothing", 0, 0.999, &o->label_smoothing, err) ||
	    ls_args_u64(a, "warmup-steps", 0, INT64_MAX, &o->warmup_steps, err) ||
	    ls_args_u64(a, "decay-steps", 1, INT64_MAX, &o->decay_steps, err) ||
	    ls_args_u64(a, "seed", 0, INT64_MAX, &o->seed, err))
		return LS_EINPUT;
	if ((uint64_t)o->batch * accum > LS_FM_MAX_BATCH)
		return ls_err_set(err, LS_EINPUT, "--batch times --accum is more than %d rows",
				  LS_FM_MAX_BATCH);
	o->batch *= accum;
	o->factors = linear ? 0 : o->factors;
	return ls_fm_check_options(o, is_given, a, err);
}

/* Those that depend on the number of rows. --accum is known to be right. */
static void set_defaults(const struct ls_args *a, uint64_t n_rows, struct ls_fm_opts *o)
{
	struct ls_fm_course c = ls_fm_course_of(o, n_rows, false);
	uint32_t accum = 1;
	ls_fm_args_u32(a, "accum", 1, 1 << 16, &accum, NULL);
	if (!ls_args_has(a, "batch"))
		o->batch = c.batch * accum < LS_FM_MAX_BATCH ? c.batch * accum : LS_FM_MAX_BATCH;
	if (!ls_args_has(a, "lr"))
		o->lr = c.lr;
	float linear, factors;
	ls_fm_prior_of(o, n_rows, &linear, &factors);
	if (!ls_args_has(a, "l2") && !ls_args_has(a, "l2-linear"))
		o->l2[LS_ON_LINEAR] = linear;
	if (!ls_args_has(a, "l2") && !ls_args_has(a, "l2-factors"))
		o->l2[LS_ON_FACTORS] = factors;
}

int ls_fm_course_options(const struct ls_args *a, bool valid, struct ls_train *t,
			 struct ls_fm_split *split, struct ls_fm_device *device, struct ls_err *err)
{
	struct ls_fm_course c = ls_fm_course_of(&t->opts, t->rows->n_rows, valid);
	bool given = ls_args_has(a, "epochs");
	int rc = ls_fm_data_options(a, t->rows, &t->opts, err);
	if (!given)
		t->epochs = c.epochs;
	if (valid && !ls_args_has(a, "early-stop"))
		t->early_stop = c.patience;
	if (!given && !valid && c.folds && t->rows->n_rows >= 10) {
		split->folds = c.folds;
		split->by_size = true;
		t->early_stop = c.patience;
	} else if (!given && !valid && c.folds) {
		t->epochs = 10;
	}
	device->epochs = t->epochs;
	return rc;
}

int ls_fm_data_options(const struct ls_args *a, const struct ls_rows *rows, struct ls_fm_opts *o,
		       struct ls_err *err)
{
	uint64_t classes = 0;
	const char *weights = ls_args_get(a, "class-weight");
	set_defaults(a, rows->n_rows, o);
	int rc = ls_args_u64(a, "classes", 2, LS_FM_MAX_CLASSES, &classes, err);
	if (rc == 0)
		rc = ls_fm_set_classes(o, rows, (uint32_t)classes, err);
	return rc || !weights ? rc : ls_fm_set_class_weights(o, rows, weights, err);
}

static int count_options(const struct ls_args *a, struct ls_train *t, struct ls_err *err)
{
	int rc = ls_fm_args_u32(a, "epochs", 1, 1000000, &t->epochs, err);
	if (rc == 0)
		rc = ls_fm_args_u32(a, "early-stop", 0, 1000000, &t->early_stop, err);
	if (rc == 0)
		rc = ls_args_double(a, "least-gain", 0, 1e30, &t->least_gain, err);
	if (rc == 0)
		rc = ls_args_u64(a, "checkpoint-every", 1, INT64_MAX, &t->checkpoint_every, err);
	return rc ? rc : ls_args_u64(a, "log-every", 1, INT64_MAX, &t->tell_every, err);
}

int ls_fm_split_options(const struct ls_args *a, struct ls_fm_split *ret, struct ls_err *err)
{
	static const char *const others[] = {"valid",          "valid-labels", "valid-weights",
					     "valid-fraction", "checkpoint",   "checkpoint-every",
					     "resume"};
	uint64_t folds = 0;
	*ret = (struct ls_fm_split){0};
	int rc = ls_args_double(a, "valid-fraction", 1e-9, 0.999999999, &ret->fraction, err);
	if (rc == 0)
		rc = ls_args_u64(a, "cv", 2, LS_FM_MAX_FOLDS, &folds, err);
	ret->folds = (uint32_t)folds;
	for (size_t i = 0; i < sizeof others / sizeof *others && rc == 0; i++)
		if (folds && ls_args_has(a, others[i]))
			rc = ls_err_set(err, LS_EINPUT, "--cv does not go with --%s", others[i]);
	for (size_t i = 0; i < 3 && rc == 0; i++)
		if (ret->fraction > 0 && ls_args_has(a, others[i]))
			rc = ls_err_set(err, LS_EINPUT, "--valid-fraction does not go with --%s",
					others[i]);
	return rc;
}

int ls_fm_run_options(const struct ls_args *a, bool valid, struct ls_train *t,
		      struct ls_fm_device *device, struct ls_err *err)
{
	const char *metric = ls_args_get(a, "metric");
	t->epochs = valid ? 10 : 1;
	t->early_stop = valid ? 1 : 0;
	t->metric = metric ? ls_metric_find(metric) : ls_metric_default(t->opts.task);
	t->output = ls_args_get(a, "output");
	t->checkpoint = ls_args_get(a, "checkpoint");
	t->resume = ls_args_has(a, "resume");
	t->warm_start = ls_args_get(a, "warm-start");
	int rc = count_options(a, t, err);
	if (rc == 0 && (t->resume || t->checkpoint_every) && !t->checkpoint)
		rc = ls_err_set(err, LS_EINPUT,
				"--resume and --checkpoint-every need --checkpoint FILE");
	if (rc == 0)
		rc = ls_fm_check_metric(t->opts.task, t->metric, err);
	if (rc == 0)
		rc = ls_fm_engine_options(a, ls_args_get(a, "kernels"), device, err);
	device->epochs = t->epochs;
	return rc;
}

int ls_fm_engine_options(const struct ls_args *args, const char *kernels, struct ls_fm_device *ret,
			 struct ls_err *err)
{
	uint64_t threads = ls_cpus() < 1024 ? (uint64_t)ls_cpus() : 1024;
	int rc = ls_args_u64(args, "threads", 1, 1024, &threads, err);
	*ret = (struct ls_fm_device){.threads = (int)threads, .kernels = kernels};
	const char *memory = ls_args_get(args, "device-memory");
	if (rc == 0 && memory)
		rc = ls_str_to_size(memory, "option --device-memory", &ret->device_memory, err);
	if (rc == 0)
		rc = ls_fm_device_parse(ls_args_get(args, "device"), ret, err);
	if (rc == 0 && memory && !ret->is_auto && !ret->want_cuda)
		return ls_err_set(err, LS_EINPUT,
				  "--device-memory is the GPU's: it does not go with %s",
				  kernels ? "--kernels" : "--device cpu");
	return rc;
}

int ls_fm_load(const struct ls_args *args, const char *path, enum ls_fm_part part, bool fields,
	       bool need_labels, int threads, struct ls_data **ret, struct ls_err *err)
{
	bool valid = part == LS_FM_VALID;
	struct ls_data_opts o = {
		.threads = threads,
		.format = valid ? NULL : ls_args_get(args, "format"),
		.labels_path = ls_args_get(args, valid ? "valid-labels" : "labels"),
		.weights_path = ls_args_get(args, valid ? "valid-weights" : "weights"),
		.need_labels = need_labels,
		.want_fields = fields};
	return ls_data_load(path, &o, ret, err);
}
