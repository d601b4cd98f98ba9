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
#include "fm/model/batch.h"
#include "fm/model/tensors.h"
#include "fm/train/begin.h"
#include "fm/train/notes.h"
#include "fm/train/run.h"
#include "num/num.h"
#include "num/sum.h"

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
	if (rc == 0)
		rc = answered(r, r->engine.fetch(r->engine.state, err));
	if (rc == 0 && r->out)
		ls_fm_scale_out(r->m, r->out);
	return rc;
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
	const struct ls_fm_model *m;
	struct ls_fm_position at; /* where m stands */
	struct ls_err *err;
	int rc;
};

static void save_task(void *context, size_t task)
{
	struct saving *s = context;
	struct run *r = s->r;
	if (task == 0)
		s->rc = ls_fm_save_model(r->output, s->m, &s->at, r->threads, &r->left, s->err);
	else
		ls_fm_model_digest(s->m, r->digest);
}

/* The best model so far, where there is no file for it. */
static int keep_model(struct run *r, const struct ls_fm_model *m, uint64_t step, struct ls_err *err)
{
	int rc = ls_fm_check_finite(m, r->threads, "the model", err);
	if (rc == 0 && !r->best)
		rc = ls_fm_model_new_bare(&m->opts, m->n_features, m->n_fields, &r->best, err);
	if (rc)
		return rc;
	ls_fm_model_copy(r->best, m);
	r->best_step = step;
	return 0;
}

/* A fresh start once more, in the units of the data. */
static int fresh_start(const struct run *r, struct ls_fm_model **ret, struct ls_err *err)
{
	const struct ls_train *t = r->t;
	struct ls_fm_model *m, *out;
	int rc = ls_fm_begin(&t->opts, t->rows, r->m->n_features, r->m->n_fields, t->pool, &m, err);
	if (rc)
		return rc;
	rc = ls_fm_model_new_bare(&t->opts, m->n_features, m->n_fields, &out, err);
	if (rc == 0) {
		ls_fm_scale_out(m, out);
		*ret = out;
	}
	ls_fm_model_free(m);
	return rc;
}

/* Writes m, which has taken so many steps, or keeps it. */
static int put_model(struct run *r, const struct ls_fm_model *m, uint64_t step, struct ls_err *err)
{
	if (!r->output)
		return r->t->kept ? keep_model(r, m, step, err) : 0;
	struct saving s = {r, m, r->at, err, 0};
	bool wanted =
		/* a checkpoint tells which model is the best */
		r->threads > 1 || r->t->checkpoint;
	s.at.step = step;
	r->digest[0] = 0;
	ls_parallel(r->threads, wanted ? 2 : 1, save_task, &s);
	if (s.rc == 0 && !wanted &&
	    !r->left.known) /* a device or a pipe, which cannot be read again */
		ls_fm_model_digest(m, r->digest);
	if (s.rc == 0 && r->t->valid)
		r->sum = ls_fm_model_checksum(m, 0, r->threads);
	return s.rc;
}

/* The model as it is now. */
static int save_model(struct run *r, struct ls_err *err)
{
	if (!r->output && !r->t->kept)
		return 0;
	int rc = fetch(r, err);
	return rc ? rc : put_model(r, ls_run_model(r), r->at.step, err);
}

/* The model as it was before the first step, which no epoch has bettered yet. */
static int save_start(struct run *r, struct ls_err *err)
{
	struct ls_fm_model *m = r->first;
	int rc = 0;
	if (!m)
		rc = fresh_start(r, &m, err);
	if (rc == 0)
		rc = put_model(r, m, 0, err);
	ls_fm_model_free(m);
	r->first = NULL;
	return rc;
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
		.loss = r->at.loss_so_far / ((double)rows * r->mean_weight) *
			ls_pow2(4 * r->m->label_exp),
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
	double gain = value - r->at.best_value;
	return (ls_metric_more_is_better(r->t->metric) ? gain : -gain) > r->t->least_gain;
}

/* Validation at the end of an epoch: the best model so far goes to the output file at
 * once, so a kill keeps it. */
static int validate(struct run *r, struct ls_train_event *e, struct ls_err *err)
{
	const struct ls_train *t = r->t;
	int rc = ls_run_judge(r, &e->valid, err);
	if (rc)
		return rc;
	e->has_valid = true;
	e->is_best = is_better(r, e->valid.value[t->metric]);
	r->at.stale_epochs = e->is_best ? 0 : r->at.stale_epochs + 1;
	if (e->is_best) {
		r->at.best_epoch = e->epoch;
		r->at.best_value = e->valid.value[t->metric];
		ls_fm_model_free(r->first);
		r->first = NULL;
		rc = save_model(r, err);
	} else if (e->epoch == 1) {
		rc = save_start(r, err);
	}
	if (e->is_best || e->epoch == 1)
		memcpy(r->at.best_digest, r->digest, sizeof r->digest);
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

/* Whether there is a best model so far, and that is in the output. */
static bool is_judged(const struct run *r)
{
	return r->at.best_epoch || r->at.stale_epochs;
}

/* With validation: whether the file is the one that the best epoch's model was written
 * to, if that was in this process. */
static bool is_as_left(const struct run *r)
{
	return is_judged(r) && ls_file_is(r->output, &r->left);
}

/* Of the best epoch's model, which must be in the output still, if by another file. */
static int digest_best(const struct run *r, char ret[LS_SHA256_HEX], struct ls_err *err)
{
	struct ls_fm_model *m;
	char epoch[24] = "the start";
	int rc = ls_fm_load_model(r->output, r->threads, &m, err);
	bool same = rc == 0;
	if (r->at.best_epoch)
		snprintf(epoch, sizeof epoch, "epoch %u", r->at.best_epoch);
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
				 "%s: not the model that %s of this training left there, the best "
				 "one: it was changed meanwhile; train again%s",
				 r->output, epoch, r->resumed ? " without --resume" : "");
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
	if (is_judged(r) &&
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
	ls_fm_model_free(r->out);
	r->m = r->out = NULL;
}

/* The model that stays in memory: the best epoch's where there is one, and otherwise as it
 * is. The engine ends here. */
static int hand_over(struct run *r, struct ls_train_kept *ret, struct ls_err *err)
{
	struct ls_fm_position at = r->at;
	int rc = r->best ? 0 : fetch(r, err);
	if (rc == 0 && !r->best)
		rc = ls_fm_check_finite(ls_run_model(r), r->threads, "the model", err);
	if (rc)
		return rc;
	at.step = r->best ? r->best_step : at.step;
	*ret = (struct ls_train_kept){.at = at};
	if (r->best) {
		ret->model = r->best;
		r->best = NULL;
		return 0;
	}
	ret->state = true;
	ret->model = r->out ? r->out : r->m;
	ret->trained = r->out ? r->m : NULL;
	r->m = r->out = NULL;
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
		ls_fm_model_digest(ls_run_model(r), r->digest);
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
	int rc = ls_run_start(&r, &why), changed = 0;
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
		ls_train_advise_rate(t, &r.rows.rows, &why);
	if (r.engine_failed && rc != LS_EDIFFER && !changed)
		add_what_is_kept(&r, &why);
	rc = changed ? changed : rc;
	if (rc && err)
		*err = why;
	drop_model(&r);
	ls_fm_model_free(r.best);
	ls_fm_model_free(r.first);
	ls_fm_scaled_done(&r.rows);
	ls_fm_scaled_done(&r.valid);
	free(r.output);
	ls_fp_leave(saved);
	return rc;
}
