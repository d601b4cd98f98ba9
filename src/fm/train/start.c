/* The start of a training: fresh, from another model, or from a checkpoint, with all that is
 * checked before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "fm/eval/check_rows.h"
#include "fm/model/batch.h"
#include "fm/model/row_weight.h"
#include "fm/train/begin.h"
#include "fm/train/difference.h"
#include "fm/train/run.h"
#include "num/sum.h"

const struct ls_fm_model *ls_run_model(const struct run *r)
{
	return r->out ? r->out : r->m;
}

static int check_start(const struct ls_train *t, const struct ls_fm_model *old, struct ls_err *err)
{
	const struct ls_fm_opts *o = &t->opts;
	const char *path = t->warm_start ? t->warm_start : "the model to start from";
	uint32_t outputs = ls_fm_outputs(o);
	if (strcmp(ls_fm_kind_of(&old->opts), ls_fm_kind_of(o)) != 0 || old->opts.task != o->task)
		return ls_err_set(err, LS_EINPUT,
				  "%s: cannot start from it: it is of kind %s, task %s", path,
				  ls_fm_kind_of(&old->opts), ls_fm_task_name(old->opts.task));
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

/* A model to start from. */
struct begin {
	struct ls_fm_model *own;       /* or NULL */
	const struct ls_fm_model *old; /* own, or borrowed */
	bool state;                    /* it has the optimizer's, and its training's units */
	uint64_t steps;                /* that it has taken */
	char digest[LS_SHA256_HEX];
};

/* The model or checkpoint that --warm-start names, with its digest. */
static int load_start(const struct run *r, struct begin *ret, struct ls_err *err)
{
	const char *path = r->t->warm_start;
	struct ls_fm_position at;
	*ret = (struct begin){.state = ls_fm_is_checkpoint(path)};
	int rc = (ret->state ? ls_fm_load_checkpoint : ls_fm_load_model_at)(path, r->threads,
									    &ret->own, &at, err);
	if (rc)
		return rc;
	ret->old = ret->own;
	ret->steps = at.step + ret->own->opts.steps_before;
	return ls_fm_scale_digest(ret->own, ret->digest, err);
}

/* One in memory. */
static int take_start(const struct ls_train *t, struct begin *ret, struct ls_err *err)
{
	*ret = (struct begin){.old = t->warm_model, .state = t->warm_state, .steps = t->warm_steps};
	return ls_fm_scale_digest(ret->old, ret->digest, err);
}

/* With another model's parameters, and all its features and fields. */
static int model_from(struct run *r, struct begin *b, uint64_t features, uint32_t fields,
		      struct ls_err *err)
{
	const struct ls_fm_model *old = b->old;
	int rc = check_start(r->t, old, err);
	if (rc == 0)
		rc = ls_fm_begin_from(&r->t->opts, r->t->rows,
				      old->n_features > features ? old->n_features : features,
				      old->n_fields > fields ? old->n_fields : fields, old,
				      &b->state, r->t->pool, &r->m, err);
	if (rc == 0 && b->state)
		r->m->opts.steps_before = b->steps;
	memcpy(r->at.warm_digest, b->digest, sizeof b->digest);
	return rc;
}

/* With those of --warm-start, or of a model in memory. */
static int warm_model(struct run *r, uint64_t features, uint32_t fields, struct ls_err *err)
{
	struct begin b = {0};
	int rc = r->t->warm_model ? take_start(r->t, &b, err) : load_start(r, &b, err);
	if (rc == 0)
		rc = model_from(r, &b, features, fields, err);
	ls_fm_model_free(b.own);
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
	if (t->warm_start || t->warm_model)
		return warm_model(r, t->rows->n_features, t->rows->n_fields, err);
	return ls_fm_begin(&t->opts, t->rows, t->rows->n_features, t->rows->n_fields, t->pool,
			   &r->m, err);
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
	if (best + r->at.stale_epochs == (t->valid ? done : 0))
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
	struct begin b = {0};
	int rc = t->warm_start ? load_start(r, &b, err) : 0;
	if (!t->warm_start)
		return 0;
	ls_fm_model_free(b.own);
	if (rc)
		return rc;
	if (strcmp(b.digest, r->at.warm_digest) == 0 ||
	    (ls_file_same(t->warm_start, r->output) && *r->at.warm_digest &&
	     ls_fm_check_model(r->output, &r->m->opts, t->data_digest, r->at.warm_digest, NULL) ==
		     0))
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
	if (!t->valid || (!r->at.best_epoch && !r->at.stale_epochs) ||
	    ls_fm_check_model(r->output, &r->m->opts, t->data_digest, r->at.warm_digest, &why) == 0)
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
	struct ls_fm_opts now = t->opts;
	now.steps_before = r->m->opts.steps_before;
	char *was = ls_fm_opts_text(&r->m->opts), *is = ls_fm_opts_text(&now);
	struct ls_str text = {0};
	int rc = 0;
	ls_fm_first_difference(was, is, &text);
	if (strcmp(r->at.data_digest, t->data_digest) != 0)
		rc = ls_err_set(err, LS_EINPUT,
				"%s: made with other training data (digest %.12s, now %.12s)",
				t->checkpoint, r->at.data_digest, t->data_digest);
	else if (strcmp(was, is) != 0)
		rc = ls_err_set(err, LS_EINPUT, "%s: made with other options: %.200s",
				t->checkpoint, text.s);
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

/* Rows in the units of the training, and room for the model in those of the data. */
static int scale(struct run *r, struct ls_err *err)
{
	const struct ls_train *t = r->t;
	const struct ls_fm_model *m = r->m;
	int rc = ls_fm_scale_rows(m, t->rows, true, &r->rows, err);
	if (rc == 0 && t->valid)
		rc = ls_fm_scale_rows(m, t->valid, false, &r->valid, err);
	if (rc == 0 && ls_fm_is_scaled(m))
		rc = ls_fm_model_new_bare(&m->opts, m->n_features, m->n_fields, &r->out, err);
	return rc;
}

/* What the metric says of the parameters as they are. */
int ls_run_judge(struct run *r, struct ls_metrics *ret, struct ls_err *err)
{
	const struct ls_train *t = r->t;
	float unit = (float)ls_pow2(2 * r->m->label_exp);
	int rc = r->engine.predict(r->engine.state, &r->valid.rows, r->score, err);
	r->engine_failed = rc != 0;
	for (uint64_t i = 0; rc == 0 && r->m->label_exp && i < t->valid->n_rows * r->m->outputs;
	     i++)
		r->score[i] *= unit;
	if (rc == 0)
		rc = ls_metrics_compute(r->m, t->valid, r->score, ret, err);
	if (rc == 0 && !ret->has[t->metric])
		rc = ls_err_set(err, LS_EINPUT,
				"the validation data cannot be judged by %s (one class only, or "
				"another task)",
				ls_metric_name(t->metric));
	return rc;
}

/* The start is the first candidate for the best model: a constant, or what a warm start
 * has. */
static int judge_start(struct run *r, struct ls_err *err)
{
	struct ls_metrics got;
	int rc = ls_run_judge(r, &got, err);
	if (rc)
		return rc;
	r->at.best_value = got.value[r->t->metric];
	if (r->t->start_value)
		*r->t->start_value = r->at.best_value;
	if (!r->t->warm_start && !r->t->warm_model)
		return 0;
	rc = ls_fm_model_new_bare(&r->m->opts, r->m->n_features, r->m->n_fields, &r->first, err);
	if (rc == 0)
		ls_fm_scale_out(r->m, r->first);
	return rc;
}

int ls_run_start(struct run *r, struct ls_err *err)
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
	if (rc == 0)
		rc = scale(r, err);
	if (rc == 0 && t->valid) {
		r->score = ls_alloc_array(t->valid->n_rows * r->m->outputs, sizeof(float));
		if (!r->score)
			rc = ls_err_set(err, LS_ENOMEM,
					"no memory for the scores of the validation rows");
	}
	if (rc == 0)
		rc = t->make_engine(t->context, r->m, &r->rows.rows, t->pool, &r->engine, err);
	return rc || !t->valid || t->resume ? rc : judge_start(r, err);
}
