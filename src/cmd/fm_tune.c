/* lockstep fm tune: a search for good options, by trials that `fm train` can repeat. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/fm_common.h"
#include "cmd/fm_files.h"
#include "cmd/progress.h"
#include "fm/train/options.h"
#include "fm/train/split.h"
#include "fm/train/tune.h"

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
	stop_signal = number;
}

struct trial {
	uint32_t number, epochs, best_epoch;
	struct ls_tune_options options;
	bool failed;        /* the numbers left the finite range */
	double value, rank; /* the least rank is the best */
};

struct tuning {
	const struct ls_args *args;
	struct ls_str base; /* the options of all trials, for a shell */
	const char **word;  /* the same: DATA, then options */
	size_t n_words, cap_words;
	struct ls_train train; /* what all trials share */
	struct ls_fm_device engine;
	struct ls_data *data, *valid;
	const struct ls_rows *all; /* before rows were set aside */
	struct ls_fm_held held;
	char digest[LS_SHA256_HEX], valid_digest[LS_SHA256_HEX];
	struct trial *trial;
	uint32_t n_trials, most_epochs;
	struct ls_progress progress;
	bool quiet, json;
};

static int make_engine(void *context, struct ls_fm_model *m, const struct ls_rows *rows,
		       struct ls_pool *pool, struct ls_engine *ret, struct ls_err *err)
{
	const struct tuning *t = context;
	return ls_fm_engine_make(&t->engine, m, rows, pool, ret, err);
}

static int check_data(void *context, struct ls_err *err)
{
	const struct tuning *t = context;
	int rc = ls_data_unchanged(t->data, err);
	return rc || !t->valid ? rc : ls_data_unchanged(t->valid, err);
}

/* --- the command of a trial --- */

static void add_word(struct tuning *t, const char *word)
{
	char *quoted = ls_str_shell(word);
	ls_str_add(&t->base, t->n_words ? " " : "");
	ls_str_add(&t->base, quoted);
	free(quoted);
	t->word = ls_grow(t->word, t->n_words, &t->cap_words, sizeof *t->word);
	t->word[t->n_words++] = word;
}

/* An option of ours that `fm train` has as well. */
static bool is_trains(const char *name)
{
	static const char *const ours[] = {"output", "trials", "epochs", "quiet", "json"};
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (strcmp(name, ours[i]) == 0)
			return false;
	return true;
}

static void collect_words(struct tuning *t)
{
	static char names[64][LS_TUNE_WORD];
	size_t n = 0;
	add_word(t, t->args->pos[0]);
	for (size_t i = 0; i < t->args->n_given && n < 64; i++) {
		const struct ls_arg_given *g = &t->args->given[i];
		if (!is_trains(g->opt->name))
			continue;
		snprintf(names[n], sizeof names[n], "--%s", g->opt->name);
		add_word(t, names[n++]);
		if (g->opt->arg)
			add_word(t, g->value);
	}
	if (!ls_args_has(t->args, "valid") && !ls_args_has(t->args, "valid-fraction")) {
		add_word(t, "--valid-fraction");
		add_word(t, "0.2");
	}
}

static void add_command(const struct tuning *t, const struct trial *trial, struct ls_str *ret)
{
	ls_str_addf(ret, "lockstep fm train %s", t->base.s);
	for (uint32_t i = 0; i < trial->options.n; i++)
		ls_str_addf(ret, " %s", trial->options.word[i]);
	ls_str_addf(ret, " --epochs %u --early-stop 0 -o MODEL", trial->epochs);
}

/* --- trials --- */

/* Reads the options of a trial as `fm train` would. */
static int trial_options(struct tuning *t, const struct trial *trial, struct ls_train *ret,
			 struct ls_err *err)
{
	static const struct ls_opt *const tables[] = {ls_fm_train_opts, NULL};
	size_t n = 0, room = t->n_words + trial->options.n + 4;
	const char **word = ls_xalloc(sizeof *word * room);
	char epochs[16];
	struct ls_args *args;
	snprintf(epochs, sizeof epochs, "%u", trial->epochs);
	for (size_t i = 0; i < t->n_words; i++)
		word[n++] = t->word[i];
	for (uint32_t i = 0; i < trial->options.n; i++)
		word[n++] = trial->options.word[i];
	word[n++] = "--epochs";
	word[n++] = epochs;
	word[n++] = "--early-stop";
	word[n++] = "0";
	int rc = ls_args_parse(tables, false, (int)n, word, &args, err);
	if (rc == 0) {
		rc = ls_fm_model_options(args, &ret->opts, err);
		if (rc == 0)
			rc = ls_fm_run_options(args, true, ret, &t->engine, err);
		if (rc == 0 && t->all)
			rc = ls_fm_data_options(args, t->all, &ret->opts, err);
		ls_args_free(args);
	}
	free(word);
	return rc;
}

static int run_trial(struct tuning *t, struct trial *trial, const char *output,
		     struct ls_train_result *ret, struct ls_err *err)
{
	struct ls_train one = t->train;
	struct ls_err why = {0};
	int rc = trial_options(t, trial, &one, err);
	if (rc)
		return rc;
	one.output = output;
	rc = ls_fm_train(&one, ret, &why);
	trial->failed = rc == LS_EDIFFER;
	if (rc == 0) {
		trial->value = ret->best_value;
		trial->rank = ls_metric_more_is_better(one.metric) ? -trial->value : trial->value;
		trial->best_epoch = ret->best_epoch;
	} else if (!trial->failed || output) {
		*err = why;
		return rc;
	}
	return 0;
}

/* The best first; those that failed last; then by number. */
static int by_value(const void *a, const void *b)
{
	const struct trial *x = a, *y = b;
	if (x->failed != y->failed)
		return x->failed ? 1 : -1;
	if (!x->failed && x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static void tell_trial(struct tuning *t, const struct trial *trial)
{
	char line[400], options[200] = "";
	for (uint32_t i = 0; i < trial->options.n; i++)
		snprintf(options + strlen(options), sizeof options - strlen(options), " %s",
			 trial->options.word[i]);
	if (trial->failed)
		snprintf(line, sizeof line, "trial %u, %u epochs: left the finite numbers %s",
			 trial->number, trial->epochs, options);
	else
		snprintf(line, sizeof line, "trial %u, %u epochs: %s %.6f %s", trial->number,
			 trial->epochs, ls_metric_name(t->train.metric), trial->value,
			 *options ? options : " (the defaults)");
	if (!t->quiet)
		ls_progress_line(&t->progress, line);
}

/* Halves the trials and doubles their epochs until one is left. */
static int halve(struct tuning *t, struct ls_err *err)
{
	uint32_t n = t->n_trials, rungs = 0;
	struct ls_train_result result;
	while (n >> (rungs + 1))
		rungs++;
	for (uint32_t rung = 0;; rung++, n = (n + 1) / 2) {
		uint32_t epochs = t->most_epochs >> (rungs > rung ? rungs - rung : 0);
		for (uint32_t i = 0; i < n; i++) {
			t->trial[i].epochs = epochs ? epochs : 1;
			int rc = run_trial(t, &t->trial[i], NULL, &result, err);
			if (rc)
				return rc;
			tell_trial(t, &t->trial[i]);
		}
		qsort(t->trial, n, sizeof *t->trial, by_value);
		if (n == 1)
			return 0;
	}
}

/* --- the beginning --- */

static int load(struct tuning *t, struct ls_err *err)
{
	struct ls_train *train = &t->train;
	const struct ls_args *a = t->args;
	const char *valid = ls_args_get(a, "valid");
	double fraction = 0.2;
	bool fields = train->opts.kind != LS_FM;
	int rc = ls_args_double(a, "valid-fraction", 1e-9, 0.999999999, &fraction, err);
	if (rc == 0)
		rc = ls_fm_load(a, a->pos[0], LS_FM_DATA, fields, true, t->engine.threads, &t->data,
				err);
	if (rc == 0 && valid)
		rc = ls_fm_load(a, valid, LS_FM_VALID, fields, true, t->engine.threads, &t->valid,
				err);
	if (rc)
		return rc;
	t->all = train->rows = ls_data_rows(t->data);
	ls_data_digest(t->data, t->digest);
	train->data_digest = t->digest;
	if (valid) {
		train->valid = ls_data_rows(t->valid);
		ls_data_digest(t->valid, t->valid_digest);
		train->valid_digest = t->valid_digest;
		return 0;
	}
	return ls_fm_hold_out(train, fraction, &t->held, err);
}

static void draw_trials(struct tuning *t)
{
	struct ls_tune_space s = {.opts = t->train.opts,
				  .n_rows = t->train.rows->n_rows,
				  .seed = t->train.opts.seed,
				  .fixed_factors =
					  ls_args_has(t->args, "factors") || !t->train.opts.factors,
				  .fixed_lr = ls_args_has(t->args, "lr"),
				  .fixed_l1 = ls_args_has(t->args, "l1"),
				  .fixed_l2 = ls_args_has(t->args, "l2"),
				  .fixed_batch = ls_args_has(t->args, "batch")};
	t->trial = ls_xalloc(sizeof *t->trial * t->n_trials);
	for (uint32_t i = 0; i < t->n_trials; i++) {
		t->trial[i].number = i;
		ls_tune_draw(&s, i, &t->trial[i].options);
	}
}

static int check_files(const struct tuning *t, struct ls_err *err)
{
	const struct ls_args *a = t->args;
	const char *to = ls_args_get(a, "output");
	struct ls_fm_files f = {.inputs = {{"DATA", a->pos[0], false},
					   {"--valid", ls_args_get(a, "valid"), false},
					   {"--labels", ls_args_get(a, "labels"), false},
					   {"--weights", ls_args_get(a, "weights"), false}},
				.outputs = {{"-o", to, false}}};
	if (!to)
		return ls_err_set(err, LS_EINPUT, "fm tune: -o MODEL is missing");
	if (ls_args_has(a, "valid") && ls_args_has(a, "valid-fraction"))
		return ls_err_set(err, LS_EINPUT, "--valid-fraction does not go with --valid");
	return ls_fm_files_check(&f, err);
}

static int prepare(struct tuning *t, struct ls_err *err)
{
	struct trial first = {.epochs = 1};
	t->n_trials = t->most_epochs = 16;
	collect_words(t);
	int rc = check_files(t, err);
	if (rc == 0)
		rc = ls_fm_args_u32(t->args, "trials", 1, 4096, &t->n_trials, err);
	if (rc == 0)
		rc = ls_fm_args_u32(t->args, "epochs", 1, 1000000, &t->most_epochs, err);
	if (rc == 0)
		rc = trial_options(t, &first, &t->train, err);
	if (rc == 0)
		rc = ls_pool_new(t->engine.threads, &t->train.pool, err);
	if (rc == 0)
		rc = load(t, err);
	t->train.make_engine = make_engine;
	t->train.check = check_data;
	t->train.context = t;
	t->train.stop = &stop_signal;
	return rc;
}

/* --- the end --- */

static json_t *trial_json(const struct tuning *t, const struct trial *trial)
{
	struct ls_str command = {0};
	add_command(t, trial, &command);
	json_t *o = json_pack("{s:I,s:I,s:o,s:s}", "trial", (json_int_t)trial->number, "epochs",
			      (json_int_t)trial->epochs, ls_metric_name(t->train.metric),
			      trial->failed ? json_null() : json_real(trial->value), "command",
			      command.s);
	ls_str_done(&command);
	return o ? o : json_null();
}

static void report_json(const struct tuning *t, const struct ls_train_result *r)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < t->n_trials; i++)
		json_array_append_new(list, trial_json(t, &t->trial[i]));
	ls_cmd_print_json_take(json_pack("{s:o,s:s,s:o}", "model",
					 ls_json_lossy(ls_args_get(t->args, "output")), "digest",
					 r->digest, "trials", list));
}

/* The trials as they came out, each with the command that repeats it. */
static void report(const struct tuning *t, const struct ls_train_result *r)
{
	for (uint32_t i = 0; i < t->n_trials; i++) {
		const struct trial *trial = &t->trial[i];
		struct ls_str command = {0};
		add_command(t, trial, &command);
		if (trial->failed)
			printf("%-12s ", "not finite");
		else
			printf("%-12.6f ", trial->value);
		printf("%s\n", command.s);
		ls_str_done(&command);
	}
	printf("the first is ");
	ls_cmd_print_name(ls_args_get(t->args, "output"));
	printf(": digest %s\n", r->digest);
}

static int run(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct tuning t = {.args = args,
			   .quiet = ls_args_has(args, "quiet"),
			   .json = ls_args_has(args, "json")};
	struct ls_train_result result;
	struct ls_err err = {0};
	ls_fm_guard_maps();
	ls_cmd_on_stop(on_signal);
	int rc = prepare(&t, &err);
	if (rc == 0) {
		draw_trials(&t);
		ls_progress_start(&t.progress, !t.quiet, false);
		rc = halve(&t, &err);
		if (rc == 0)
			rc = run_trial(&t, &t.trial[0], ls_args_get(args, "output"), &result, &err);
		ls_progress_clear(&t.progress);
	}
	if (rc == 0)
		(t.json ? report_json : report)(&t, &result);
	ls_pool_free(t.train.pool);
	ls_fm_held_done(&t.held);
	ls_data_free(t.data);
	ls_data_free(t.valid);
	free(t.trial);
	free(t.word);
	ls_str_done(&t.base);
	int status = rc ? ls_cmd_fail(&err) : LS_EXIT_YES;
	return rc == LS_EINTR ? 128 + (int)stop_signal : status;
}

static const struct ls_opt opts[] = {
	{"output", 'o', "MODEL", "where to write the best model; required"},
	{"trials", 0, "N",
	 "how many sets of options to try (default 16); the first is the defaults"},
	{"epochs", 0, "N", "of the last trials (default 16); the first have N / trials"},
	{"kind", 0, "fm|ffm|fwfm|linear", "as fm train, and so are those below"},
	{"task", 0, "binary|regression|multiclass", "what the labels are"},
	{"classes", 0, "N", "classes of a multiclass task"},
	{"optimizer", 0, "adagrad|sgd|adam|ftrl", "how parameters move"},
	{"factors", 'k', "K", "not searched if given, as those down to --batch"},
	{"lr", 0, "X", "learning rate"},
	{"l1", 0, "X", "L1 penalty"},
	{"l2", 0, "X", "L2 penalty"},
	{"batch", 0, "N", "rows a step"},
	{"normalize", 0, NULL, "scale each row to length 1"},
	{"class-weight", 0, "LIST", "balanced, or a weight a class: W0,W1,…"},
	{"seed", 0, "N", "of the search, the rows set aside, and each training"},
	{"valid", 0, "DATA", "data that trials are judged by"},
	{"valid-labels", 0, "FILE.npy", "labels of the validation data, for data that have none"},
	{"valid-weights", 0, "FILE.npy", "weights of the validation data, for data that have none"},
	{"valid-fraction", 0, "X", "or this share of the rows (default 0.2)"},
	{"metric", 0, "logloss|rmse|accuracy|auc|macro-f1",
	 "what decides (default logloss, or rmse)"},
	{"quiet", 'q', NULL, "print nothing but the result"},
	LS_FM_DATA_OPTS,
	LS_FM_ENGINE_OPTS,
	{0},
};

const struct ls_cmd ls_cmd_fm_tune = {
	.name = "tune",
	.summary = "search for options: many trials at first, the better half goes on",
	.synopsis = "DATA -o MODEL [OPTION …]",
	.details = "Tries factors, learning rate, penalties and batch by random search with "
		   "successive "
		   "halving.\n"
		   "Prints a table, the best first, with the command that repeats each trial to "
		   "the bit.",
	.opts = opts,
	.min_pos = 1,
	.max_pos = 1,
	.run = run,
};
