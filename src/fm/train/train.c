#include "fm/train/train.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/str.h"
#include "fm/eval/check_rows.h"
#include "fm/model/batch.h"
#include "fm/model/row_weight.h"
#include "fm/model/tensors.h"
#include "fm/train/difference.h"
#include "fm/train/notes.h"
#include "num/num.h"

struct run {
	const struct ls_train *t;
	/* where links lead from t's, which may lead elsewhere once it is replaced */
	char *output; /* NULL: there is none, and the best epoch's model stays here: */
	struct ls_fm_model *best;
	uint64_t best_step;
	bool told_to_stop;
	int threads; /* for files */
	struct ls_fm_model *m;
	struct ls_engine engine;
	struct ls_fm_position at;
	uint64_t per_epoch, total;
	double mean_weight; /* of the training rows */
	float *score;       /* of the validation rows */
	double seconds, last_loss;
	bool resumed;
	bool engine_failed;
	bool kept;                  /* the checkpoint file is of this training … */
	uint64_t saved;             /* … and of this step */
	bool warned;                /* that the last one could not be written */
	char digest[LS_SHA256_HEX]; /* of the model's file, where it is known */
	/* that file, as it was when the model was written to it, */
	struct ls_file_id left;
	uint64_t sum; /* and the checksum of that model's parameters */
	/* why the last checkpoint is not written, which the model need not wait for */
	struct ls_err late;
};

/* --- the start --- */

/* Features that the other one lacks keep their start. */
static void take_parameters(struct ls_fm_model *m, const struct ls_fm_model *old)
{
	ls_fm_model_copy(m, old);
	ls_fm_model_start_states(m);
}

static int check_start(const struct ls_train *t, const struct ls_fm_model *old, struct ls_err *err)
{
	const struct ls_fm_opts *o = &t->opts;
	const char *path = t->warm_start ? t->warm_start : "the model to start from";
	uint32_t outputs = ls_fm_outputs(o);
	if (old->opts.kind != o->kind || old->opts.task != o->task)
		return ls_err_set(err, LS_EINPUT,
				  "%s: cannot start from it: it is of kind %s, task %s", path,
				  ls_fm_kind_name(old->opts.kind), ls_fm_task_name(old->opts.task));
	if (old->opts.factors != o->factors || old->outputs != outputs)
		return ls_err_set(err, LS_EINPUT,
				  "%s: cannot start from it: it has %u factors and %u output(s), "
				  "not %u and %u",
				  path, old->opts.factors, old->outputs, o->factors, outputs);
	if (o->kind != LS_FM && old->n_fields < t->rows->n_fields)
		return ls_err_set(
			err, LS_EINPUT,
			"%s: cannot start from it: it has %u fields, and the data have %u", path,
			old->n_fields, t->rows->n_fields);
	return 0;
}

/* The model that --warm-start names, with its digest. */
static int load_start(const struct run *r, struct ls_fm_model **ret, char ret_digest[LS_SHA256_HEX],
		      struct ls_err *err)
{
	int rc = ls_fm_load_model(r->t->warm_start, r->threads, ret, err);
	if (rc == 0)
		ls_fm_model_digest(*ret, ret_digest);
	return rc;
}

/* With first parameters. */
static int fresh_model(struct run *r, uint64_t features, uint32_t fields, struct ls_err *err)
{
	int rc = ls_fm_model_new(&r->t->opts, features, fields, &r->m, err);
	if (rc == 0)
		ls_fm_model_init(r->m, r->t->pool);
	return rc;
}

/* With another model's, and all its features and fields. */
static int model_from(struct run *r, const struct ls_fm_model *old, uint64_t features,
		      uint32_t fields, struct ls_err *err)
{
	int rc = check_start(r->t, old, err);
	if (rc == 0)
		rc = fresh_model(r, old->n_features > features ? old->n_features : features,
				 old->n_fields > fields ? old->n_fields : fields, err);
	if (rc == 0)
		take_parameters(r->m, old);
	return rc;
}

/* With those of --warm-start, or of a model in memory. */
static int warm_model(struct run *r, uint64_t features, uint32_t fields, struct ls_err *err)
{
	struct ls_fm_model *old = NULL;
	if (r->t->warm_model) {
		ls_fm_model_digest(r->t->warm_model, r->at.warm_digest);
		return model_from(r, r->t->warm_model, features, fields, err);
	}
	int rc = load_start(r, &old, r->at.warm_digest, err);
	if (rc == 0)
		rc = model_from(r, old, features, fields, err);
	ls_fm_model_free(old);
	return rc;
}

static int make_model(struct run *r, struct ls_err *err)
{
	const struct ls_train *t = r->t;
	r->at = (struct ls_fm_position){.epochs = t->epochs};
	memcpy(r->at.data_digest, t->data_digest, strlen(t->data_digest) + 1);
	if (t->valid_digest)
		memcpy(r->at.valid_digest, t->valid_digest, strlen(t->valid_digest) + 1);
	if (t->valid)
		snprintf(r->at.metric, sizeof r->at.metric, "%s", ls_metric_name(t->metric));
	bool warm = t->warm_start || t->warm_model;
	return (warm ? warm_model : fresh_model)(r, t->rows->n_features, t->rows->n_fields, err);
}

/* The number of epochs must not be behind what is done. */
static int check_epochs(const struct run *r, struct ls_err *err)
{
	const struct ls_train *t = r->t;
	uint64_t step = r->at.step, per_epoch = ls_fm_steps_per_epoch(&t->opts, t->rows->n_rows);
	if (step <= t->epochs * per_epoch)
		return 0;
	return ls_err_set(err, LS_EINPUT,
			  "%s: of epoch %llu already, beyond --epochs %u: give as many or more, or "
			  "start without "
			  "--resume",
			  t->checkpoint, (unsigned long long)((step - 1) / per_epoch + 1),
			  t->epochs);
}

/* With validation every epoch that is done is the best or counted since the best, and
 * without none is. */
static int check_best_epoch(const struct run *r, struct ls_err *err)
{
	const struct ls_train *t = r->t;
	uint64_t done = r->at.step / ls_fm_steps_per_epoch(&t->opts, t->rows->n_rows),
		 best = r->at.best_epoch;
	if (best + r->at.stale_epochs == (t->valid ? done : 0) && (best || !done || !t->valid))
		return 0;
	return ls_err_set(
		err, LS_EINPUT,
		"%s: its best epoch cannot be: the file is damaged; start without --resume",
		t->checkpoint);
}

/* The model that --warm-start names is the one that the training started from, or, if
 * that is trained on in its place, what the training has left there. */
static int check_warm_start(const struct run *r, struct ls_err *err)
{
	const struct ls_train *t = r->t;
	struct ls_fm_model *old;
	char digest[LS_SHA256_HEX];
	int rc = t->warm_start ? load_start(r, &old, digest, err) : 0;
	if (rc || !t->warm_start)
		return rc;
	ls_fm_model_free(old);
	if (strcmp(digest, r->at.warm_digest) == 0 ||
	    (ls_file_same(t->warm_start, r->output) && *r->at.warm_digest &&
	     ls_fm_check_model(r->output, &t->opts, t->data_digest, r->at.warm_digest, NULL) == 0))
		return 0;
	return ls_err_set(
		err, LS_EINPUT,
		"%s: did not start from %s; resume with the --warm-start it was made with",
		t->checkpoint, t->warm_start);
}

/* The best epoch so far is in the output file, or, if a kill came between the two files,
 * a later one. Whether it is that very model is seen at the end, if no better one takes
 * its place. */
static int check_best(const struct run *r, struct ls_err *err)
{
	const struct ls_train *t = r->t;
	struct ls_err why;
	if (!t->valid || !r->at.best_epoch ||
	    ls_fm_check_model(r->output, &t->opts, t->data_digest, r->at.warm_digest, &why) == 0)
		return 0;
	return ls_err_set(err, LS_EINPUT,
			  "%.500s: it should be the model of epoch %u, the best until the "
			  "checkpoint %s; give the -o of "
			  "that training, or start without --resume",
			  why.msg, r->at.best_epoch, t->checkpoint);
}

/* A checkpoint belongs to this training only if options and data are the same to the
 * bit. */
static int check_resume(const struct run *r, struct ls_err *err)
{
	const struct ls_train *t = r->t;
	char *was = ls_fm_opts_text(&r->m->opts), *is = ls_fm_opts_text(&t->opts);
	struct ls_str text = {0};
	int rc = 0;
	ls_fm_first_difference(was, is, &text);
	if (strcmp(was, is) != 0)
		rc = ls_err_set(err, LS_EINPUT, "%s: made with other options: %.200s",
				t->checkpoint, text.s);
	else if (strcmp(r->at.data_digest, t->data_digest) != 0)
		rc = ls_err_set(err, LS_EINPUT,
				"%s: made with other training data (digest %.12s, now %.12s)",
				t->checkpoint, r->at.data_digest, t->data_digest);
	else if (strcmp(r->at.valid_digest, t->valid_digest ? t->valid_digest : "") != 0)
		rc = ls_err_set(err, LS_EINPUT, "%s: made with other validation data",
				t->checkpoint);
	else if (t->valid && strcmp(r->at.metric, ls_metric_name(t->metric)) != 0)
		rc = ls_err_set(err, LS_EINPUT, "%s: made with --metric %s, not %s", t->checkpoint,
				r->at.metric, ls_metric_name(t->metric));
	free(was);
	free(is);
	ls_str_done(&text);
	if (rc == 0)
		rc = check_epochs(r, err);
	if (rc == 0)
		rc = check_best_epoch(r, err);
	if (rc == 0)
		rc = check_warm_start(r, err);
	return rc ? rc : check_best(r, err);
}

/* What can be seen without the model, which may take long to make. */
static int check_rows(const struct ls_train *t, struct ls_err *err)
{
	int rc = ls_fm_check_train_rows(&t->opts, t->rows, err);
	return rc || !t->valid ? rc : ls_fm_check_labels(&t->opts, t->valid, err);
}

/* With it, which knows the features that count. */
static int check_valid(const struct run *r, struct ls_err *err)
{
	const struct ls_train *t = r->t;
	int rc = t->valid ? ls_fm_check_eval_rows(r->m, t->valid, err) : 0;
	return rc || !t->valid ? rc : ls_metric_check(t->metric, t->valid, err);
}

static double mean_weight(const struct ls_train *t)
{
	double sum = 0;
	if (!t->rows->weight && !t->opts.n_class_weights)
		return 1.0;
	for (uint64_t i = 0; i < t->rows->n_rows; i++)
		sum += (double)ls_row_weight(&t->opts, t->rows, i, t->rows->label[i]);
	return sum / (double)t->rows->n_rows;
}

static int start(struct run *r, struct ls_err *err)
{
	const struct ls_train *t = r->t;
	int rc = check_rows(t, err);
	if (rc)
		return rc;
	r->mean_weight = mean_weight(t);
	if (t->resume) {
		rc = ls_fm_load_checkpoint(t->checkpoint, r->threads, &r->m, &r->at, err);
		r->kept = rc == 0;
		r->saved = r->at.step;
		if (rc == LS_ENOENT)
			return ls_err_set(
				err, LS_EINPUT,
				"%s: there is no checkpoint to resume from; start without --resume",
				t->checkpoint);
		r->resumed = true;
		if (rc == 0)
			rc = check_resume(r, err);
		r->at.epochs = t->epochs;
	} else {
		rc = make_model(r, err);
	}
	if (rc == 0)
		rc = check_valid(r, err);
	if (rc == 0 && t->valid) {
		r->score = ls_alloc_array(t->valid->n_rows * r->m->outputs, sizeof(float));
		if (!r->score)
			rc = ls_err_set(err, LS_ENOMEM,
					"no memory for the scores of the validation rows");
	}
	return rc ? rc : t->make_engine(t->context, r->m, t->rows, t->pool, &r->engine, err);
}

/* --- the middle --- */

/* Remembers whether the engine failed. */
static int answered(struct run *r, int rc)
{
	r->engine_failed = rc != 0;
	return rc;
}

static int check_data(const struct run *r, struct ls_err *err)
{
	return r->t->check ? r->t->check(r->t->context, err) : 0;
}

/* Brings the model up to date, to be written. */
static int fetch(struct run *r, struct ls_err *err)
{
	int rc = check_data(r, err);
	return rc ? rc : answered(r, r->engine.fetch(r->engine.state, err));
}

static int save_checkpoint_at(struct run *r, const char *path, struct ls_err *err)
{
	int rc = fetch(r, err);
	return rc ? rc : ls_fm_save_checkpoint(path, r->m, &r->at, r->threads, err);
}

static int save_checkpoint(struct run *r, struct ls_err *err)
{
	int rc = r->t->checkpoint ? save_checkpoint_at(r, r->t->checkpoint, err) : 0;
	if (rc && r->kept && !r->engine_failed)
		ls_err_advise(err, "the checkpoint before it stands, and the same command with "
				   "--resume goes on from it");
	if (rc == 0 && r->t->checkpoint) {
		r->kept = true;
		r->warned = false;
		r->saved = r->at.step;
	}
	return rc;
}

/* A full disk is no reason to stop, as long as the checkpoint before stands and another
 * one will come. */
static int try_checkpoint(struct run *r, struct ls_err *err)
{
	struct ls_err why = {0};
	int rc = save_checkpoint(r, &why);
	if (rc != LS_EIO || !r->kept || r->engine_failed || check_data(r, NULL)) {
		if (rc)
			*err = why;
		return rc;
	}
	ls_err_advise(&why, "training goes on");
	if (r->t->warn && !r->warned)
		r->t->warn(r->t->context, why.msg);
	r->warned = true;
	return 0;
}

/* Writing the file waits for the disk and the digest for the processor: with several
 * threads both run at once. */
struct saving {
	struct run *r;
	struct ls_err *err;
	int rc;
};

static void save_task(void *context, size_t task)
{
	struct saving *s = context;
	struct run *r = s->r;
	if (task == 0)
		s->rc = ls_fm_save_model(r->output, r->m, &r->at, r->threads, &r->left, s->err);
	else
		ls_fm_model_digest(r->m, r->digest);
}

/* The best epoch's model so far, where there is no file for it. */
static int keep_model(struct run *r, struct ls_err *err)
{
	int rc = fetch(r, err);
	if (rc == 0)
		rc = ls_fm_check_finite(r->m, r->threads, "the model", err);
	if (rc == 0 && !r->best)
		rc = ls_fm_model_new_bare(&r->m->opts, r->m->n_features, r->m->n_fields, &r->best,
					  err);
	if (rc)
		return rc;
	ls_fm_model_copy(r->best, r->m);
	r->best_step = r->at.step;
	return 0;
}

static int save_model(struct run *r, struct ls_err *err)
{
	if (!r->output)
		return r->t->kept ? keep_model(r, err) : 0;
	struct saving s = {r, err, fetch(r, err)};
	bool wanted =
		/* a checkpoint tells which model is the best */
		r->threads > 1 || r->t->checkpoint;
	r->digest[0] = 0;
	if (s.rc == 0)
		ls_parallel(r->threads, wanted ? 2 : 1, save_task, &s);
	if (s.rc == 0 && !wanted &&
	    !r->left.known) /* a device or a pipe, which cannot be read again */
		ls_fm_model_digest(r->m, r->digest);
	if (s.rc == 0 && r->t->valid)
		r->sum = ls_fm_model_checksum(r->m, 0, r->threads);
	return s.rc;
}

static struct ls_train_event event_at(const struct run *r, enum ls_train_what what)
{
	uint64_t in_epoch = r->at.step % r->per_epoch, rows = in_epoch * r->t->opts.batch;
	if (in_epoch == 0 || rows > r->t->rows->n_rows)
		rows = r->t->rows->n_rows;
	return (struct ls_train_event){
		.what = what,
		.step = r->at.step,
		.steps_per_epoch = r->per_epoch,
		.total_steps = r->total,
		.epoch = (uint32_t)((r->at.step + r->per_epoch - 1) / r->per_epoch),
		.loss = r->at.loss_so_far / ((double)rows * r->mean_weight),
		.seconds = r->seconds,
		.at_work = r->engine.at_work ? r->engine.at_work(r->engine.state) : 0};
}

static void tell(struct run *r, const struct ls_train_event *e)
{
	if (r->t->tell && r->t->tell(r->t->context, e))
		r->told_to_stop = true;
}

static bool is_better(const struct run *r, double value)
{
	if (!r->at.best_epoch)
		return true;
	double gain = value - r->at.best_value;
	return (ls_metric_more_is_better(r->t->metric) ? gain : -gain) > r->t->least_gain;
}

/* Validation at the end of an epoch: the best model so far goes to the output file at
 * once, so a kill keeps it. */
static int validate(struct run *r, struct ls_train_event *e, struct ls_err *err)
{
	const struct ls_train *t = r->t;
	int rc = answered(r, r->engine.predict(r->engine.state, t->valid, r->score, err));
	if (rc == 0)
		rc = ls_metrics_compute(r->m, t->valid, r->score, &e->valid, err);
	if (rc)
		return rc;
	if (!e->valid.has[t->metric])
		return ls_err_set(err, LS_EINPUT,
				  "the validation data cannot be judged by %s (one class only, or "
				  "another task)",
				  ls_metric_name(t->metric));
	e->has_valid = true;
	e->is_best = is_better(r, e->valid.value[t->metric]);
	r->at.stale_epochs = e->is_best ? 0 : r->at.stale_epochs + 1;
	if (e->is_best) {
		r->at.best_epoch = e->epoch;
		r->at.best_value = e->valid.value[t->metric];
		rc = save_model(r, err);
		memcpy(r->at.best_digest, r->digest, sizeof r->digest);
	}
	return rc;
}

static bool is_over(const struct run *r)
{
	bool stale = r->t->early_stop && r->t->valid && r->at.stale_epochs >= r->t->early_stop;
	return r->at.step >= r->total || stale;
}

static int end_of_epoch(struct run *r, struct ls_err *err)
{
	struct ls_train_event e = event_at(r, LS_TRAIN_EPOCH);
	r->last_loss = e.loss;
	int rc = r->t->valid ? validate(r, &e, err) : 0;
	if (rc == 0)
		rc = check_data(r, err);
	if (rc)
		return rc;
	/* before the checkpoint: after a kill the epoch is repeated, and the log lacks
	 * nothing */
	tell(r, &e);
	r->at.loss_so_far = 0;
	r->seconds = 0;
	if (!is_over(r))
		return try_checkpoint(r, err);
	rc = save_checkpoint(r, err);
	if (rc == 0 || r->engine_failed || check_data(r, NULL))
		return rc;
	r->late = *err;
	return 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Steps until something must be done between two steps. */
static uint64_t stretch(const struct run *r)
{
	const struct ls_train *t = r->t;
	uint64_t step = r->at.step, n = r->engine.stretch_rows / t->opts.batch;
	n = least(n ? n : 1, r->per_epoch - step % r->per_epoch);
	if (t->checkpoint_every)
		n = least(n, t->checkpoint_every - step % t->checkpoint_every);
	if (t->tell_every)
		n = least(n, t->tell_every - step % t->tell_every);
	return n;
}

static int one_stretch(struct run *r, struct ls_err *err)
{
	const struct ls_train *t = r->t;
	const uint64_t per_epoch = r->per_epoch;
	assert(per_epoch);
	uint64_t n = stretch(r);
	double from = ls_clock();
	int rc = answered(r,
			  r->engine.steps(r->engine.state, r->at.step, n, &r->at.loss_so_far, err));
	if (rc)
		return rc;
	r->seconds += ls_clock() - from;
	r->at.step += n;
	if (r->at.step % per_epoch ==
	    /* NOLINT(clang-analyzer-core.DivideZero): asserted above, and it forgets */
	    0)
		return end_of_epoch(r, err);
	struct ls_train_event e = event_at(r, LS_TRAIN_STEPS);
	tell(r, &e);
	return t->checkpoint_every && r->at.step % t->checkpoint_every == 0 ? try_checkpoint(r, err)
									    : 0;
}

/* With validation: whether the file is the one that the best epoch's model was written
 * to, if that was in this process. */
static bool is_as_left(const struct run *r)
{
	return r->at.best_epoch && ls_file_is(r->output, &r->left);
}

/* Of the best epoch's model, which must be in the output still, if by another file. */
static int digest_best(const struct run *r, char ret[LS_SHA256_HEX], struct ls_err *err)
{
	struct ls_fm_model *m;
	int rc = ls_fm_load_model(r->output, r->threads, &m, err);
	bool same = rc == 0;
	if (rc == LS_ENOMEM)
		return rc;
	if (same) {
		ls_fm_model_digest(m, ret);
		same = !r->left.known || ls_fm_model_checksum(m, 0, r->threads) == r->sum;
		same &= !*r->at.best_digest || strcmp(ret, r->at.best_digest) == 0;
		ls_fm_model_free(m);
	}
	return same ? 0
		    : ls_err_set(err, LS_EINPUT,
				 "%s: not the model that epoch %u of this training left there, the "
				 "best one: it was "
				 "changed meanwhile; train again%s",
				 r->output, r->at.best_epoch,
				 r->resumed ? " without --resume" : "");
}

/* A name beside the model that no file has: MODEL.ckpt, MODEL.ckpt.2, …; caller frees. */
static int find_place(const char *output, char **ret, struct ls_err *err)
{
	enum { TRIES = 100 };
	struct stat st;
	if (stat(output, &st) == 0 && !S_ISREG(st.st_mode))
		return ls_err_set(err, LS_EINPUT, "%s is no file that one could go beside", output);
	for (int i = 1; i < TRIES; i++) {
		char *path = i == 1 ? ls_xasprintf("%s.ckpt", output)
				    : ls_xasprintf("%s.ckpt.%d", output, i);
		if (lstat(path, &st) < 0) {
			*ret = path;
			return 0;
		}
		free(path);
	}
	return ls_err_set(err, LS_EINPUT, "%s.ckpt and all that follow are there already", output);
}

/* Without --checkpoint it goes beside the model. The folder is locked, lest two trainings
 * find the same name. */
static int save_beside(struct run *r, char **ret_path, struct ls_err *err)
{
	int held = ls_file_hold_folder(r->output), rc = 0;
	if (r->at.best_epoch &&
	    !r->at.best_digest[0]) /* with one thread it has not been computed yet */
		rc = digest_best(r, r->at.best_digest, err);
	if (rc == 0)
		rc = find_place(r->output, ret_path, err);
	if (rc == 0)
		rc = save_checkpoint_at(r, *ret_path, err);
	if (held >= 0)
		close(held);
	return rc;
}

/* Where there is no checkpoint. */
static const char *what_else_is_kept(const struct run *r)
{
	return r->output && is_as_left(r) ? "the best epoch's model is kept" : "nothing is kept";
}

static int stopped(struct run *r, struct ls_err *err)
{
	char *path = NULL, *word = NULL;
	struct ls_err why;
	if (!r->output)
		return ls_err_set(err, LS_EINTR, "stopped after step %llu",
				  (unsigned long long)r->at.step);
	if (save_beside(r, &path, &why) == 0)
		ls_err_set(err, LS_EINTR,
			   "stopped after step %llu; the checkpoint %s is written: the same "
			   "command with --checkpoint "
			   "%s --resume goes on",
			   (unsigned long long)r->at.step, path, word = ls_str_shell(path));
	else
		ls_err_set(err, LS_EINTR,
			   "stopped after step %llu; %s; no checkpoint is written (%.500s): "
			   "--checkpoint FILE says where",
			   (unsigned long long)r->at.step, what_else_is_kept(r), why.msg);
	free(path);
	free(word);
	return LS_EINTR;
}

static int interrupted(struct run *r, struct ls_err *err)
{
	if (!r->t->checkpoint)
		return stopped(r, err);
	int rc = save_checkpoint(r, err);
	return rc ? rc
		  : ls_err_set(err, LS_EINTR,
			       "stopped after step %llu; the checkpoint %s is written: the same "
			       "command with --resume "
			       "goes on",
			       (unsigned long long)r->at.step, r->t->checkpoint);
}

static int steps(struct run *r, struct ls_err *err)
{
	int rc = 0;
	r->per_epoch = ls_fm_steps_per_epoch(&r->t->opts, r->t->rows->n_rows);
	r->total = r->per_epoch * r->t->epochs;
	while (rc == 0 && !is_over(r)) {
		if (r->told_to_stop || (r->t->stop && *r->t->stop))
			return interrupted(r, err);
		rc = one_stretch(r, err);
	}
	return rc;
}

/* --- the end --- */

static void drop_model(struct run *r)
{
	if (r->engine.free)
		r->engine.free(r->engine.state);
	r->engine = (struct ls_engine){0};
	ls_fm_model_free(r->m);
	r->m = NULL;
}

/* The model that stays in memory: the best epoch's where there is one, and otherwise as it
 * is. The engine ends here. */
static int hand_over(struct run *r, struct ls_train_kept *ret, struct ls_err *err)
{
	struct ls_fm_position at = r->at;
	int rc = r->best ? 0 : fetch(r, err);
	if (rc == 0 && !r->best)
		rc = ls_fm_check_finite(r->m, r->threads, "the model", err);
	if (rc)
		return rc;
	at.step = r->best ? r->best_step : at.step;
	*ret = (struct ls_train_kept){r->best ? r->best : r->m, at};
	r->m = r->best ? r->m : NULL;
	r->best = NULL;
	return 0;
}

static struct ls_train_result result_of(const struct run *r)
{
	struct ls_train_result res = {.steps = r->at.step,
				      .epochs = (uint32_t)(r->at.step / r->per_epoch),
				      .best_epoch = r->at.best_epoch,
				      .best_value = r->at.best_value,
				      .last_loss = r->last_loss,
				      .resumed = r->resumed};
	memcpy(res.engine, r->engine.name, sizeof res.engine);
	ls_train_notes(r->t, r->m, &res);
	return res;
}

/* Without validation the last parameters are the model. With validation it is the best
 * epoch's, whose file is already there; after a resume that file need not be what was
 * left. */
static int finish(struct run *r, struct ls_train_result *ret, struct ls_err *err)
{
	struct ls_train_result res = result_of(r);
	bool last = !r->t->valid || (r->at.best_epoch == res.epochs && !r->resumed);
	bool as_left = !r->t->valid || is_as_left(r);
	int rc = r->t->valid ? 0 : save_model(r, err);
	if (rc == 0 && as_left && last && !*r->digest) {
		ls_fm_model_digest(r->m, r->digest);
	} else if (rc == 0 && (!as_left || !*r->digest)) {
		drop_model(r); /* makes room for the best epoch's model */
		rc = digest_best(r, r->digest, err);
	}
	if (r->late.code) /* report the first of two failures */
		rc = rc ? ls_err_set(err, r->late.code, "%s", r->late.msg)
			: ls_err_set(err, r->late.code, "%.700s; the model %.250s is written",
				     r->late.msg, r->output);
	if (rc)
		return rc;
	memcpy(res.digest, r->digest, sizeof res.digest);
	*ret = res;
	return 0;
}

/* rc: 0, or LS_EINTR, which stays. */
static int finish_in_memory(struct run *r, int rc, struct ls_train_result *ret, struct ls_err *err)
{
	if (r->late.code)
		return ls_err_set(err, r->late.code, "%s", r->late.msg);
	struct ls_train_result res = result_of(r);
	int handed = r->t->kept ? hand_over(r, r->t->kept, err) : 0;
	if (handed)
		return handed;
	*ret = res;
	return rc;
}

/* The engine failed in the middle: what is left, and how to go on from it. */
static void add_what_is_kept(const struct run *r, struct ls_err *err)
{
	struct ls_err was = *err;
	if (r->kept)
		ls_err_set(err, was.code,
			   "%.700s; the checkpoint %s of step %llu stands: the same command with "
			   "--resume goes on from "
			   "it, on any --device",
			   was.msg, r->t->checkpoint, (unsigned long long)r->saved);
	else
		ls_err_set(err, was.code,
			   "%.700s; %s: --checkpoint FILE --checkpoint-every STEPS would have kept "
			   "more",
			   was.msg, what_else_is_kept(r));
}

int ls_fm_train(const struct ls_train *t, struct ls_train_result *ret, struct ls_err *err)
{
	struct run r = {.t = t,
			.last_loss = (double)NAN,
			.output = t->output ? ls_file_follow(t->output) : NULL,
			.threads = ls_pool_threads(t->pool)};
	struct ls_err why = {0};
	uint64_t saved = ls_fp_enter();
	int rc = start(&r, &why), changed = 0;
	if (rc == 0)
		rc = steps(&r, &why);
	free(r.score); /* ls_train_notes has an array as large */
	r.score = NULL;
	if (rc == 0 && t->output)
		rc = finish(&r, ret, &why);
	else if (!t->output && (rc == 0 || rc == LS_EINTR))
		rc = finish_in_memory(&r, rc, ret, &why);
	/* rows that were written to can cause any error: report that first */
	if (rc && rc != LS_EINTR)
		changed = check_data(&r, &why);
	if (rc == LS_EDIFFER && r.engine_failed && t->opts.optimizer == LS_SGD)
		ls_train_advise_rate(t, &why);
	if (r.engine_failed && rc != LS_EDIFFER && !changed)
		add_what_is_kept(&r, &why);
	rc = changed ? changed : rc;
	if (rc && err)
		*err = why;
	drop_model(&r);
	ls_fm_model_free(r.best);
	free(r.output);
	ls_fp_leave(saved);
	return rc;
}
