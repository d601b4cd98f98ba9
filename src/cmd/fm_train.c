/* lockstep fm train */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/fm_common.h"
#include "cmd/fm_files.h"
#include "cmd/fm_summary.h"
#include "cmd/progress.h"
#include "fm/data/data.h"
#include "fm/model/save.h"
#include "fm/train/options.h"
#include "fm/train/split.h"
#include "fm/train/train.h"

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
	stop_signal = number;
}

/* A signal before the training has begun: there is nothing to keep. */
static void on_early_signal(int number)
{
	static const char line[] =
		"lockstep: stopped before the training began; nothing is written\n";
	ssize_t ignored = write(STDERR_FILENO, line, sizeof line - 1);
	(void)ignored;
	_exit(128 + number);
}

/* Everything that one call of the command has open. */
struct session {
	const struct ls_args *args;
	struct ls_train train;
	struct ls_fm_device engine;
	struct ls_data *data, *valid;
	struct ls_fm_split split;
	struct ls_fm_held held; /* with --valid-fraction */
	struct ls_fm_fold *folds;
	char digest[LS_SHA256_HEX], valid_digest[LS_SHA256_HEX];
	struct ls_progress progress;
	FILE *log;
	int log_errno; /* errno of a failed write to the log; the training goes on */
	bool quiet, json;
	int at_work;    /* threads, as the last line said; 0: none has */
	bool has_valid; /* an epoch has been judged, with this result */
	double valid_value;
};

/* --- progress and log --- */

static json_t *metrics_json(const struct ls_metrics *m)
{
	json_t *o = json_object();
	for (int i = 0; i < LS_METRICS; i++)
		if (m->has[i])
			json_object_set_new(o, ls_metric_name((enum ls_metric)i),
					    json_real(m->value[i]));
	return o;
}

static void write_log(struct session *s, const struct ls_train_event *e)
{
	if (!s->log || s->log_errno)
		return;
	bool epoch = e->what == LS_TRAIN_EPOCH;
	json_t *o = json_pack("{s:s,s:I,s:I,s:f,s:f}", "event", epoch ? "epoch" : "steps", "epoch",
			      (json_int_t)e->epoch, "step", (json_int_t)e->step, "loss", e->loss,
			      "seconds", e->seconds);
	if (e->at_work)
		json_object_set_new(o, "threads", json_integer(e->at_work));
	if (e->has_valid) {
		json_object_set_new(o, "valid", metrics_json(&e->valid));
		json_object_set_new(o, "best", json_boolean(e->is_best));
	}
	json_dumpf(o, s->log, JSON_COMPACT);
	fputc('\n', s->log);
	if (fflush(s->log) || ferror(s->log))
		s->log_errno = errno;
	json_decref(o);
}

static double epoch_rows(const struct session *s, const struct ls_train_event *e)
{
	uint64_t in_epoch = e->step % e->steps_per_epoch;
	return in_epoch ? (double)in_epoch * s->train.opts.batch : (double)s->train.rows->n_rows;
}

static void tell_epoch(struct session *s, const struct ls_train_event *e)
{
	/* a number may have 300 digits */
	char line[1024], valid[400] = "", fewer[80] = "";
	if (e->has_valid)
		snprintf(valid, sizeof valid, "  valid %s %.5f%s", ls_metric_name(s->train.metric),
			 e->valid.value[s->train.metric], e->is_best ? " (best)" : "");
	bool news = e->at_work != (s->at_work ? s->at_work : s->engine.threads);
	s->at_work = e->at_work;
	if (e->at_work && news)
		snprintf(fewer, sizeof fewer, ", %d of %d threads at work%s", e->at_work,
			 s->engine.threads,
			 e->at_work < s->engine.threads ? " from now on, which is quicker" : "");
	snprintf(line, sizeof line, "epoch %u  loss %.5f%s  %.2f s, %.3f M rows/s%s", e->epoch,
		 e->loss, valid, e->seconds,
		 e->seconds > 0 ? epoch_rows(s, e) / e->seconds / 1e6 : 0.0, fewer);
	ls_progress_line(&s->progress, line);
}

/* Three or four digits of a number from 0 on, for a line that is short of room. */
static void short_number(double v, char ret[16])
{
	if (v < 1000)
		snprintf(ret, 16, "%.*f", v < 10 ? 3 : v < 100 ? 2 : 1, v);
	else
		snprintf(ret, 16, "%.3g", v);
}

static void short_rate(double rows_per_second, char ret[24])
{
	bool millions = rows_per_second >= 1e6;
	double v = rows_per_second / (millions ? 1e6 : 1e3);
	snprintf(ret, 24, "%.*f%c rows/s", v < 10 ? 2 : v < 100 ? 1 : 0, v, millions ? 'M' : 'k');
}

static void show_progress(struct session *s, const struct ls_train_event *e)
{
	char text[160], brief[160], valid[64] = "", brief_valid[32] = "", loss[16], value[16],
				    rate[24];
	short_rate(e->seconds > 0 ? epoch_rows(s, e) / e->seconds : 0.0, rate);
	short_number(e->loss, loss);
	if (s->has_valid) {
		short_number(s->valid_value, value);
		snprintf(valid, sizeof valid, "valid %s %.4f  ", ls_metric_name(s->train.metric),
			 s->valid_value);
		snprintf(brief_valid, sizeof brief_valid, "val %s ", value);
	}
	snprintf(text, sizeof text, "epoch %u  loss %.4f  %s%s", e->epoch, e->loss, valid, rate);
	snprintf(brief, sizeof brief, "loss %s %s%s", loss, brief_valid, rate);
	ls_progress_show(&s->progress, e->step, e->total_steps, text, brief);
}

static int tell(void *context, const struct ls_train_event *e)
{
	struct session *s = context;
	uint64_t every = s->train.tell_every;
	if (e->what == LS_TRAIN_EPOCH || (every && e->step % every == 0))
		write_log(s, e);
	if (s->quiet)
		return 0;
	if (e->what == LS_TRAIN_EPOCH)
		tell_epoch(s, e);
	if (e->has_valid) {
		s->has_valid = true;
		s->valid_value = e->valid.value[s->train.metric];
	}
	if (e->step <
	    /* also after the line of an epoch: the next event may be an epoch away */
	    e->total_steps)
		show_progress(s, e);
	return 0;
}

static void warn(void *context, const char *text)
{
	struct session *s = context;
	ls_progress_clear(&s->progress);
	ls_cmd_note(text);
}

static int check_data(void *context, struct ls_err *err)
{
	const struct session *s = context;
	int rc = ls_data_unchanged(s->data, err);
	return rc || !s->valid ? rc : ls_data_unchanged(s->valid, err);
}

static int make_engine(void *context, struct ls_fm_model *m, const struct ls_rows *rows,
		       struct ls_pool *pool, struct ls_engine *ret, struct ls_err *err)
{
	const struct session *s = context;
	return ls_fm_engine_make(&s->engine, m, rows, pool, ret, err);
}

/* --- options --- */

/* What concerns the files of a command line. */
static int file_options(const struct session *s, struct ls_err *err)
{
	static const char *const need[] = {"valid-labels", "valid-weights", "metric", "early-stop",
					   "least-gain"};
	const struct ls_args *a = s->args;
	const char *valid = ls_args_get(a, "valid");
	if (!s->train.output)
		return ls_err_set(err, LS_EINPUT, "fm train: -o MODEL is missing");
	if (s->train.tell_every && !ls_args_has(a, "log"))
		return ls_err_set(err, LS_EINPUT, "--log-every needs --log FILE.jsonl");
	bool part = s->split.fraction > 0 || s->split.folds;
	for (size_t i = 0; i < sizeof need / sizeof *need && !valid; i++)
		if (ls_args_has(a, need[i]) && (i < 2 || !part))
			return ls_err_set(err, LS_EINPUT, "--%s needs --valid DATA%s", need[i],
					  i < 2 ? "" : ", --valid-fraction or --cv");
	if (valid && strcmp(a->pos[0], "-") == 0 && strcmp(valid, "-") == 0)
		return ls_err_set(err, LS_EINPUT, "DATA and --valid cannot both be standard input");
	return 0;
}

/* A checkpoint replaces checkpoints, but no other file. */
static int check_replaced(const char *path, struct ls_err *err)
{
	struct stat st;
	if (!path || stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size ||
	    ls_fm_is_checkpoint(path))
		return 0;
	return ls_err_set(
		err, LS_EINPUT,
		"--checkpoint %s: is there and no checkpoint; another name is needed, or remove it",
		path);
}

/* A log is added to logs, but to no other file. */
static int check_added_to(const char *path, struct ls_err *err)
{
	struct stat st;
	if (!path || stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size)
		return 0;
	FILE *f = fopen(path, "re");
	int first = f ? fgetc(f) : '{';
	if (f)
		fclose(f);
	return first == '{' ? 0
			    : ls_err_set(err, LS_EINPUT,
					 "--log %s: is there and no log of lines in JSON; another "
					 "name is needed, or "
					 "remove it",
					 path);
}

/* Before hours of training, not after them. The warm start may be the output as well: a
 * model that is trained further in its place. */
static int check_files(const struct session *s, struct ls_err *err)
{
	const struct ls_args *a = s->args;
	struct ls_fm_files f = {
		.inputs = {{"DATA", a->pos[0], false},
			   {"--valid", ls_args_get(a, "valid"), false},
			   {"--labels", ls_args_get(a, "labels"), false},
			   {"--weights", ls_args_get(a, "weights"), false},
			   {"--valid-labels", ls_args_get(a, "valid-labels"), false},
			   {"--valid-weights", ls_args_get(a, "valid-weights"), false}},
		.outputs = {{"-o", s->train.output, false},
			    {"--checkpoint", s->train.checkpoint, false},
			    {"--log", ls_args_get(a, "log"), true}},
		.start = {"--warm-start", s->train.warm_start, false}};
	int rc = ls_fm_files_check(&f, err);
	if (rc == 0)
		rc = check_added_to(ls_args_get(a, "log"), err);
	return rc || s->train.resume ? rc : check_replaced(s->train.checkpoint, err);
}

/* --- data --- */

static int load_data(struct session *s, struct ls_err *err)
{
	struct ls_train *t = &s->train;
	bool fields = t->opts.kind != LS_FM;
	int rc = ls_fm_load(s->args, s->args->pos[0], LS_FM_DATA, fields, true, s->engine.threads,
			    &s->data, err);
	const char *valid = ls_args_get(s->args, "valid");
	if (rc == 0 && valid)
		rc = ls_fm_load(s->args, valid, LS_FM_VALID, fields, true, s->engine.threads,
				&s->valid, err);
	if (rc)
		return rc;
	t->rows = ls_data_rows(s->data);
	ls_data_digest(s->data, s->digest);
	t->data_digest = s->digest;
	if (s->valid) {
		t->valid = ls_data_rows(s->valid);
		ls_data_digest(s->valid, s->valid_digest);
		t->valid_digest = s->valid_digest;
	}
	return 0;
}

/* --- cross-validation --- */

/* Mean and standard deviation (of a sample) of what the folds have. */
static void fold_spread(const struct session *s, double *ret_mean, double *ret_deviation)
{
	uint32_t n = s->split.folds;
	double sum = 0, squares = 0;
	for (uint32_t f = 0; f < n; f++)
		sum += s->folds[f].value;
	for (uint32_t f = 0; f < n; f++)
		squares += (s->folds[f].value - sum / n) * (s->folds[f].value - sum / n);
	*ret_mean = sum / n;
	*ret_deviation = n > 1 ? sqrt(squares / (n - 1)) : 0.0;
}

static void tell_fold(void *context, uint32_t fold, const struct ls_fm_fold *r)
{
	struct session *s = context;
	char line[128];
	snprintf(line, sizeof line, "fold %u of %u  best epoch %u, valid %s %.6f", fold + 1,
		 s->split.folds, r->best_epoch, ls_metric_name(s->train.metric), r->value);
	if (!s->quiet)
		ls_progress_line(&s->progress, line);
}

static json_t *folds_json(const struct session *s)
{
	const char *metric = ls_metric_name(s->train.metric);
	double mean, deviation;
	json_t *list = json_array();
	fold_spread(s, &mean, &deviation);
	for (uint32_t f = 0; f < s->split.folds; f++)
		json_array_append_new(list, json_pack("{s:I,s:f}", "best_epoch",
						      (json_int_t)s->folds[f].best_epoch, metric,
						      s->folds[f].value));
	return json_pack("{s:o,s:s,s:f,s:f}", "folds", list, "metric", metric, "mean", mean,
			 "deviation", deviation);
}

/* Sets rows aside, or finds the number of epochs by folds. */
static int split(struct session *s, struct ls_err *err)
{
	if (s->split.fraction > 0)
		return ls_fm_hold_out(&s->train, s->split.fraction, &s->held, err);
	if (!s->split.folds)
		return 0;
	s->folds = ls_xalloc(sizeof *s->folds * s->split.folds);
	return ls_fm_cross_validate(&s->train, s->split.folds, tell_fold, s->folds, err);
}

/* --- the whole --- */

static void report(const struct session *s, const struct ls_train_result *r)
{
	const struct ls_train *t = &s->train;
	for (size_t i = 0; i < r->n_notes && !s->quiet; i++)
		ls_cmd_note(r->notes[i]);
	if (s->json) {
		json_t *o =
			json_pack("{s:o,s:s,s:I,s:I,s:b,s:s,s:s}", "model",
				  ls_json_lossy(t->output), "digest", r->digest, "steps",
				  (json_int_t)r->steps, "epochs", (json_int_t)r->epochs, "resumed",
				  r->resumed, "engine", r->engine, "data_digest", t->data_digest);
		if (t->valid) {
			json_object_set_new(o, "best_epoch", json_integer(r->best_epoch));
			json_object_set_new(o, ls_metric_name(t->metric), json_real(r->best_value));
		}
		if (s->folds)
			json_object_set_new(o, "cv", folds_json(s));
		ls_cmd_print_json_take(o);
	} else if (!s->quiet) {
		if (s->folds) {
			double mean, deviation;
			fold_spread(s, &mean, &deviation);
			printf("%u folds: valid %s %.6f, standard deviation %.6f; then %u epoch%s "
			       "over all rows\n",
			       s->split.folds, ls_metric_name(t->metric), mean, deviation,
			       t->epochs, t->epochs == 1 ? "" : "s");
		}
		if (t->valid)
			printf("best epoch %u, valid %s %.6f\n", r->best_epoch,
			       ls_metric_name(t->metric), r->best_value);
		ls_cmd_print_name(t->output);
		printf(": digest %s\n", r->digest);
	}
}

/* The place behind the last newline of an open file, or -1. */
static off_t last_line(FILE *f, off_t size)
{
	enum { LINE = 1 << 16 };
	static char end[LINE];
	off_t from = size < LINE ? 0 : size - LINE;
	size_t n = (size_t)(size - from);
	if (fseeko(f, from, SEEK_SET) < 0 || fread(end, 1, n, f) != n)
		return -1;
	const char *newline = memrchr(end, '\n', n);
	return newline ? from + (newline + 1 - end) : from ? -1 : 0;
}

/* A line that a kill or a full disk has cut short is removed; its step, if it was done, is
 * in no checkpoint and comes again. */
static int mend_log(const char *path, struct ls_err *err)
{
	struct stat st;
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size)
		return 0;
	FILE *f = fopen(path, "r+e");
	if (!f)
		return ls_err_errno(err, path, "open");
	off_t end = last_line(f, st.st_size);
	int rc = end >= 0 && end < st.st_size && ftruncate(fileno(f), end) < 0
			 ? ls_err_errno(err, path, "write")
			 : 0;
	fclose(f);
	return rc;
}

static int open_log(struct session *s, struct ls_err *err)
{
	const char *path = ls_args_get(s->args, "log");
	int rc = path ? mend_log(path, err) : 0;
	if (rc || !path)
		return rc;
	s->log = fopen(path, "ae");
	return s->log ? 0 : ls_err_errno(err, path, "open");
}

/* After the model is written: a full disk elsewhere is no reason to lose it. */
static int close_log(struct session *s, struct ls_err *err)
{
	if (s->log && fclose(s->log) && !s->log_errno)
		s->log_errno = errno;
	if (!s->log_errno)
		return 0;
	return ls_err_set(err, LS_EIO, "--log %s: cannot write: %s; the model %s is written",
			  ls_args_get(s->args, "log"), strerror(s->log_errno), s->train.output);
}

static bool will_validate(const struct session *s)
{
	return ls_args_has(s->args, "valid") || s->split.fraction > 0 || s->split.folds;
}

static int prepare(struct session *s, struct ls_err *err)
{
	int rc = ls_fm_model_options(s->args, &s->train.opts, err);
	if (rc == 0)
		rc = ls_fm_split_options(s->args, &s->split, err);
	if (rc == 0)
		rc = ls_fm_run_options(s->args, will_validate(s), &s->train, &s->engine, err);
	if (rc == 0)
		rc = file_options(s, err);
	if (rc == 0)
		rc = check_files(s, err);
	if (rc == 0)
		rc = load_data(s, err);
	if (rc == 0)
		rc = ls_fm_course_options(s->args, will_validate(s), &s->train, &s->split,
					  &s->engine, err);
	if (rc == 0)
		rc = open_log(s, err);
	return rc ? rc : ls_pool_new(s->engine.threads, &s->train.pool, err);
}

static int run(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct session s = {.args = args,
			    .quiet = ls_args_has(args, "quiet"),
			    .json = ls_args_has(args, "json")};
	struct ls_train_result result;
	struct ls_err err = {0};
	s.train.make_engine = make_engine;
	s.train.check = check_data;
	s.train.tell = tell;
	s.train.warn = warn;
	s.train.context = &s;
	s.train.stop = &stop_signal;
	ls_fm_guard_maps();
	ls_cmd_on_stop(on_early_signal);
	int rc = prepare(&s, &err);
	if (rc == 0) {
		ls_cmd_on_stop(on_signal);
		ls_progress_start(&s.progress, !s.quiet, s.train.resume);
		rc = split(&s, &err);
		if (rc == 0 && !s.quiet)
			ls_fm_print_summary(&s.train, &s.progress);
		if (rc == 0)
			rc = ls_fm_train(&s.train, &result, &err);
		ls_progress_clear(&s.progress);
	}
	if (rc == 0)
		report(&s, &result);
	int log_rc = close_log(&s, rc ? NULL : &err);
	rc = rc ? rc : log_rc;
	ls_pool_free(s.train.pool);
	ls_data_free(s.data);
	ls_data_free(s.valid);
	ls_fm_held_done(&s.held);
	free(s.folds);
	if (rc == 0)
		return LS_EXIT_YES;
	int status = ls_cmd_fail(&err);
	return rc == LS_EINTR ? 128 + (int)stop_signal : status;
}

const struct ls_cmd ls_cmd_fm_train = {
	.name = "train",
	.summary = "train a model: the same data, options and seed give the same bytes",
	.synopsis = "DATA -o MODEL [OPTION …]",
	.details = "DATA is libsvm or libffm text (gzip or not, - for standard input), a scipy CSR "
		   "matrix in .npz with\n"
		   "--labels, or .lsd. Threads, device and interruptions do not reach the bytes of "
		   "the model.",
	.opts = ls_fm_train_opts,
	.min_pos = 1,
	.max_pos = 1,
	.run = run,
};
