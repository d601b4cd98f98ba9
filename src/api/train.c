#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/dataset.h"
#include "api/model.h"
#include "api/options.h"
#include "base/mem.h"
#include "fm/train/options.h"
#include "fm/train/split.h"
#include "fm/train/train.h"

/* Everything that one training has open. */
struct session {
	const struct ls_training *asked;
	const struct ls_args *args;
	struct ls_train train;
	struct ls_train_kept kept;
	struct ls_fm_device device;
	struct ls_dataset *valid, *own_valid; /* own: loaded here */
	char digest[65], valid_digest[65];
	struct ls_fm_split split;
	struct ls_fm_held held; /* with --valid-fraction */
	struct ls_fm_fold *folds;
};

static int tell(void *context, const struct ls_train_event *e)
{
	const struct ls_training *asked = ((const struct session *)context)->asked;
	if (!asked->tell)
		return 0;
	struct ls_mem_guard *g = ls_mem_guard_suspend();
	int stop = asked->tell(asked->context, e);
	ls_mem_guard_resume(g);
	return stop;
}

static int check_data(void *context, struct ls_err *err)
{
	const struct session *s = context;
	int rc = ls_dataset_unchanged(s->asked->rows, err);
	return rc || !s->valid ? rc : ls_dataset_unchanged(s->valid, err);
}

static int make_engine(void *context, struct ls_fm_model *m, const struct ls_rows *rows,
		       struct ls_pool *pool, struct ls_engine *ret, struct ls_err *err)
{
	const struct session *s = context;
	return ls_options_engine(s->args, &s->device, m, rows, pool, ret, err);
}

static bool will_validate(const struct session *s)
{
	return s->asked->valid || ls_args_has(s->args, "valid") || s->split.fraction > 0;
}

/* What needs validation data, or a file. */
static int check_options(const struct session *s, struct ls_err *err)
{
	static const char *const need[] = {"metric", "early-stop", "least-gain"};
	const struct ls_train *t = &s->train;
	bool valid = will_validate(s) || s->split.folds;
	for (size_t i = 0; i < sizeof need / sizeof *need && !valid; i++)
		if (ls_args_has(s->args, need[i]))
			return ls_err_set(err, LS_EINPUT, "--%s needs validation data", need[i]);
	if (s->asked->valid && (s->split.folds || s->split.fraction > 0))
		return ls_err_set(err, LS_EINPUT,
				  "--cv and --valid-fraction do not go with validation rows");
	if (valid && t->checkpoint && !t->output)
		return ls_err_set(err, LS_EINPUT,
				  "--checkpoint with validation data needs --output, where the "
				  "best epoch's model is kept");
	if (t->warm_start && s->asked->start)
		return ls_err_set(err, LS_EINPUT,
				  "--warm-start and a model to start from: only one can be");
	return 0;
}

static int read_options(struct session *s, struct ls_err *err)
{
	int rc = ls_fm_model_options(s->args, &s->train.opts, err);
	if (rc == 0)
		rc = ls_fm_split_options(s->args, &s->split, err);
	if (rc == 0)
		rc = ls_fm_run_options(s->args, will_validate(s) || s->split.folds, &s->train,
				       &s->device, err);
	return rc ? rc : check_options(s, err);
}

static int load_valid(struct session *s, struct ls_err *err)
{
	const char *path = ls_args_get(s->args, "valid");
	struct ls_data *data;
	s->valid = s->asked->valid;
	if (s->valid || !path)
		return 0;
	int rc =
		ls_fm_load(s->args, path, LS_FM_VALID, false, false, s->device.threads, &data, err);
	if (rc == 0)
		s->valid = s->own_valid = ls_dataset_of_take(data);
	return rc;
}

static int take_data(struct session *s, struct ls_err *err)
{
	struct ls_train *t = &s->train;
	bool fields = t->opts.kind != LS_FM;
	int rc = ls_dataset_check_needs(s->asked->rows, true, fields, err);
	if (rc == 0)
		rc = load_valid(s, err);
	if (rc == 0 && s->valid)
		rc = ls_dataset_check_needs(s->valid, true, fields, err);
	if (rc)
		return rc;
	t->rows = ls_dataset_rows(s->asked->rows);
	ls_data_digest(s->asked->rows->data, s->digest);
	t->data_digest = s->digest;
	if (s->valid) {
		t->valid = ls_dataset_rows(s->valid);
		ls_data_digest(s->valid->data, s->valid_digest);
		t->valid_digest = s->valid_digest;
	}
	return ls_fm_course_options(s->args, will_validate(s) || s->split.folds, t, &s->split,
				    &s->device, err);
}

/* With the optimizer's state, where it has that. */
static void take_start(struct ls_train *t, const struct ls_model *start)
{
	if (!start)
		return;
	t->warm_model = start->trained ? start->trained : start->m;
	t->warm_state = start->state;
	t->warm_steps = start->at.step + t->warm_model->opts.steps_before;
}

static int prepare(struct session *s, struct ls_err *err)
{
	struct ls_train *t = &s->train;
	int rc = read_options(s, err);
	if (rc == 0)
		rc = take_data(s, err);
	if (rc)
		return rc;
	t->kept = t->output ? NULL : &s->kept;
	take_start(t, s->asked->start);
	t->make_engine = make_engine;
	t->check = check_data;
	t->tell = tell;
	t->context = s;
	t->stop = s->asked->stop;
	return ls_pool_new(s->device.threads, &t->pool, err);
}

/* The model of a training that ended, or, without a file, was stopped. */
static int hand_over(struct session *s, struct ls_model **ret, struct ls_err *err)
{
	if (!ret)
		return 0;
	if (s->train.output)
		return ls_model_read(s->train.output, s->device.threads, ret, err);
	*ret = ls_model_of_take(s->kept.model, &s->kept.at);
	(*ret)->state = s->kept.state;
	(*ret)->trained = s->kept.trained;
	s->kept.model = s->kept.trained = NULL;
	return 0;
}

/* Mean and standard deviation (of a sample) of what the folds have. */
static void fold_spread(const struct session *s, struct ls_train_result *ret)
{
	uint32_t n = s->split.folds;
	double sum = 0, squares = 0;
	for (uint32_t f = 0; f < n; f++)
		sum += s->folds[f].value;
	for (uint32_t f = 0; f < n; f++)
		squares += (s->folds[f].value - sum / n) * (s->folds[f].value - sum / n);
	ret->folds = n;
	ret->fold_mean = sum / n;
	ret->fold_deviation = n > 1 ? sqrt(squares / (n - 1)) : 0.0;
}

static void tell_fold(void *context, uint32_t fold, const struct ls_fm_fold *r)
{
	(void)context, (void)fold, (void)r;
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

static int run(struct session *s, struct ls_model **ret_model, struct ls_train_result *ret,
	       struct ls_err *err)
{
	struct ls_train_result result = {0};
	int rc = prepare(s, err);
	if (rc == 0)
		rc = split(s, err);
	if (rc == 0)
		rc = ls_fm_train(&s->train, &result, err);
	bool kept = s->kept.model != NULL;
	if (rc && !(rc == LS_EINTR && kept))
		return rc;
	memcpy(result.data_digest, s->train.data_digest, sizeof result.data_digest);
	if (s->folds)
		fold_spread(s, &result);
	int handed = hand_over(s, ret_model, err);
	if (ret && handed == 0)
		*ret = result;
	return handed ? handed : rc;
}

static int train(const struct ls_training *t, struct ls_model **ret_model,
		 struct ls_train_result *ret, struct ls_err *err)
{
	struct session s = {.asked = t};
	struct ls_options *own;
	int rc = ls_options_use(t->options, 1u << LS_FM_TRAIN, &own, &s.args, err);
	if (rc == 0)
		rc = run(&s, ret_model, ret, err);
	ls_pool_free(s.train.pool);
	ls_fm_model_free(s.kept.model);
	ls_fm_model_free(s.kept.trained);
	ls_dataset_free(s.own_valid);
	ls_fm_held_done(&s.held);
	free(s.folds);
	ls_options_free(own);
	return rc;
}

int ls_model_train(const struct ls_training *t, struct ls_model **ret_model,
		   struct ls_train_result *ret, struct ls_err *err)
{
	LS_CALL(err, train(t, ret_model, ret, err));
}
