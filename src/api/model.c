#include "api/model.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/dataset.h"
#include "api/options.h"
#include "base/cpus.h"
#include "base/json.h"
#include "base/mem.h"
#include "fm/data/csr.h"
#include "fm/eval/check_rows.h"
#include "fm/eval/metric.h"
#include "fm/model/tensors.h"
#include "fm/train/options.h"
#include "fm/train/scale.h"

struct ls_model *ls_model_of_take(struct ls_fm_model *m, const struct ls_fm_position *at)
{
	struct ls_model *model = ls_xalloc(sizeof *model);
	*model = (struct ls_model){.m = m, .at = *at};
	return model;
}

void ls_model_free(struct ls_model *m)
{
	if (!m)
		return;
	ls_fm_model_free(m->m);
	ls_fm_model_free(m->trained);
	free(m);
}

/* --- files --- */

int ls_model_read(const char *path, int threads, struct ls_model **ret, struct ls_err *err)
{
	struct ls_fm_model *m;
	struct ls_fm_position at;
	int rc = ls_fm_load_model_at(path, threads, &m, &at, err);
	if (rc == 0)
		*ret = ls_model_of_take(m, &at);
	return rc;
}

int ls_model_load(const char *path, struct ls_model **ret, struct ls_err *err)
{
	LS_CALL(err, ls_model_read(path, ls_cpus(), ret, err));
}

int ls_model_save(const struct ls_model *m, const char *path, struct ls_err *err)
{
	LS_CALL(err, ls_fm_save_model(path, m->m, &m->at, ls_cpus(), NULL, err));
}

static int save_state(const struct ls_model *m, const char *path, struct ls_err *err)
{
	if (!m->state)
		return ls_err_set(err, LS_EINPUT,
				  "%s: not written: the model has no optimizer's state, which one "
				  "has that a training without validation left in memory",
				  path);
	return ls_fm_save_checkpoint(path, m->trained ? m->trained : m->m, &m->at, ls_cpus(), err);
}

int ls_model_save_state(const struct ls_model *m, const char *path, struct ls_err *err)
{
	LS_CALL(err, save_state(m, path, err));
}

static int load_state(const char *path, struct ls_model **ret, struct ls_err *err)
{
	struct ls_fm_model *m, *out = NULL;
	struct ls_fm_position at;
	int rc = ls_fm_load_checkpoint(path, ls_cpus(), &m, &at, err);
	if (rc)
		return rc;
	if (ls_fm_is_scaled(m))
		rc = ls_fm_model_new_bare(&m->opts, m->n_features, m->n_fields, &out, err);
	if (rc) {
		ls_fm_model_free(m);
		return rc;
	}
	if (out)
		ls_fm_scale_out(m, out);
	*ret = ls_model_of_take(out ? out : m, &at);
	(*ret)->state = true;
	(*ret)->trained = out ? m : NULL;
	return 0;
}

int ls_model_load_state(const char *path, struct ls_model **ret, struct ls_err *err)
{
	LS_CALL(err, load_state(path, ret, err));
}

/* --- what it is --- */

static int digest(const struct ls_model *m, char ret_hex[65])
{
	ls_fm_model_digest(m->m, ret_hex);
	return 0;
}

int ls_model_digest(const struct ls_model *m, char ret_hex[65], struct ls_err *err)
{
	LS_CALL(err, digest(m, ret_hex));
}

static int info(const struct ls_model *model, char **ret_json, struct ls_err *err)
{
	const struct ls_fm_model *m = model->m;
	const struct ls_fm_position *at = &model->at;
	char *text = ls_fm_opts_text(&m->opts);
	json_t *options;
	int rc = ls_json_parse(text, strlen(text), "options", &options, err);
	free(text);
	if (rc)
		return rc;
	json_t *o = json_pack("{s:s,s:s,s:I,s:I,s:I,s:I,s:i,s:I,s:s,s:s,s:o}", "kind",
			      ls_fm_kind_of(&m->opts), "task", ls_fm_task_name(m->opts.task),
			      "n_features", (json_int_t)m->n_features, "n_fields",
			      (json_int_t)m->n_fields, "outputs", (json_int_t)m->outputs, "factors",
			      (json_int_t)m->opts.factors, "numerics_version", LS_NUMERICS_VERSION,
			      "steps", (json_int_t)at->step, "data_digest", at->data_digest,
			      "warm_start", at->warm_digest, "options", options);
	*ret_json = ls_json_text(o);
	json_decref(o);
	return 0;
}

int ls_model_info(const struct ls_model *m, char **ret_json, struct ls_err *err)
{
	LS_CALL(err, info(m, ret_json, err));
}

uint32_t ls_model_outputs(const struct ls_model *m)
{
	return m->m->outputs;
}

/* --- scores --- */

/* Into score: rows × outputs. */
static int compute(const struct ls_model *m, const struct ls_rows *rows, const struct ls_args *args,
		   float *score, struct ls_err *err)
{
	struct ls_fm_device device;
	struct ls_pool *pool = NULL;
	struct ls_engine engine = {0};
	int rc = ls_fm_engine_options(args, NULL, &device, err);
	if (rc == 0)
		rc = ls_pool_new(device.threads, &pool, err);
	if (rc == 0)
		rc = ls_options_engine(args, &device, m->m, NULL, pool, &engine, err);
	if (rc == 0)
		rc = engine.predict(engine.state, rows, score, err);
	if (engine.free)
		engine.free(engine.state);
	ls_pool_free(pool);
	return rc;
}

/* A file that has changed explains other errors. */
static int unless_changed(struct ls_dataset *d, int rc, struct ls_err *err)
{
	int changed = ls_dataset_unchanged(d, err);
	return changed ? changed : rc;
}

static int predict(const struct ls_model *m, struct ls_dataset *d, const struct ls_options *o,
		   float *ret, struct ls_err *err)
{
	struct ls_options *own;
	const struct ls_args *args;
	const struct ls_rows *rows = ls_dataset_rows(d);
	int rc = ls_options_use(o, 1u << LS_FM_PREDICT, &own, &args, err);
	if (rc == 0)
		rc = ls_dataset_check_needs(d, false, m->m->n_fields > 0, err);
	if (rc == 0)
		rc = ls_fm_check_score_rows(m->m, rows, err);
	if (rc == 0)
		rc = compute(m, rows, args, ret, err);
	rc = unless_changed(d, rc, err);
	if (rc == 0)
		rc = ls_scores_finite(m->m, rows, ret, err);
	if (rc == 0 && !ls_args_has(args, "raw"))
		ls_fm_link(m->m, ret, rows->n_rows);
	ls_options_free(own);
	return rc;
}

int ls_model_predict(const struct ls_model *m, const struct ls_dataset *rows,
		     const struct ls_options *o, float *ret, struct ls_err *err)
{
	LS_CALL(err, predict(m, (struct ls_dataset *)rows, o, ret, err));
}

static int more_metrics(const struct ls_model *m, const struct ls_rows *rows,
			const struct ls_args *args, const float *score, struct ls_more_metrics *ret,
			struct ls_err *err)
{
	const char *groups = ls_args_get(args, "group");
	float *group = NULL;
	int rc = groups ? ls_csr_vector(groups, rows->n_rows, "group", -FLT_MAX, &group, err) : 0;
	if (rc == 0)
		rc = ls_more_compute(m->m, rows, score, group, ret, err);
	free(group);
	return rc;
}

/* ret_more may be NULL. */
static int eval_with(const struct ls_model *m, struct ls_dataset *d, const struct ls_args *args,
		     struct ls_metrics *ret, struct ls_more_metrics *ret_more, struct ls_err *err)
{
	const struct ls_rows *rows = ls_dataset_rows(d);
	int rc = ls_dataset_check_needs(d, true, m->m->n_fields > 0, err);
	if (rc == 0)
		rc = ls_fm_check_eval_rows(m->m, rows, err);
	if (rc)
		return unless_changed(d, rc, err);
	float *score = ls_alloc_array(rows->n_rows * m->m->outputs, sizeof *score);
	if (!score)
		return ls_err_set(err, LS_ENOMEM, "no memory for %" PRIu64 " scores", rows->n_rows);
	struct ls_metrics metrics = {0};
	rc = unless_changed(d, compute(m, rows, args, score, err), err);
	if (rc == 0)
		rc = ls_metrics_compute(m->m, rows, score, &metrics, err);
	if (rc == 0 && ret_more)
		rc = more_metrics(m, rows, args, score, ret_more, err);
	if (rc == 0) /* their labels, too */
		rc = ls_dataset_unchanged(d, err);
	if (rc == 0)
		*ret = metrics;
	free(score);
	return rc;
}

static int eval(const struct ls_model *m, struct ls_dataset *d, const struct ls_options *o,
		struct ls_metrics *ret, struct ls_more_metrics *ret_more, struct ls_err *err)
{
	struct ls_options *own;
	const struct ls_args *args;
	int rc = ls_options_use(o, 1u << LS_FM_EVAL, &own, &args, err);
	if (rc == 0)
		rc = eval_with(m, d, args, ret, ret_more, err);
	ls_options_free(own);
	return rc;
}

int ls_model_eval(const struct ls_model *m, const struct ls_dataset *rows,
		  const struct ls_options *o, struct ls_metrics *ret, struct ls_err *err)
{
	LS_CALL(err, eval(m, (struct ls_dataset *)rows, o, ret, NULL, err));
}

int ls_model_eval_more(const struct ls_model *m, const struct ls_dataset *rows,
		       const struct ls_options *o, struct ls_metrics *ret,
		       struct ls_more_metrics *ret_more, struct ls_err *err)
{
	LS_CALL(err, eval(m, (struct ls_dataset *)rows, o, ret, ret_more, err));
}

/* --- tensors --- */

/* Their names are those of the program, not of the list that is made for a call. */
static const char *lasting_name(const char *name)
{
	static const char *const names[] = {"bias", "linear", "factors", "field_weights"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return names[i];
	return "";
}

static int view(const struct ls_fm_group *g, struct ls_model_tensor *ret, struct ls_err *err)
{
	struct ls_tensor t;
	int rc = ls_fm_group_describe(g, &t, err);
	if (rc)
		return rc;
	struct ls_model_tensor v = {.name = lasting_name(g->name),
				    .type = ls_dtype_name(t.dtype),
				    .dimensions = t.ndim,
				    .data = t.data};
	for (int i = 0; i < t.ndim && i < 4; i++) {
		v.shape[i] = t.shape[i];
		v.stride[i] = t.stride[i] * (int64_t)sizeof(float);
	}
	*ret = v;
	return 0;
}

size_t ls_model_tensors(const struct ls_model *m)
{
	struct ls_fm_group groups[LS_FM_GROUPS];
	return ls_fm_groups(m->m, 0, groups);
}

int ls_model_tensor_at(const struct ls_model *m, size_t i, struct ls_model_tensor *ret,
		       struct ls_err *err)
{
	struct ls_fm_group groups[LS_FM_GROUPS];
	size_t n = ls_fm_groups(m->m, 0, groups);
	if (i >= n)
		return ls_err_set(err, LS_ENOENT, "there is no tensor %zu: the model has %zu", i,
				  n);
	return view(&groups[i], ret, err);
}

int ls_model_tensor_find(const struct ls_model *m, const char *name, struct ls_model_tensor *ret,
			 struct ls_err *err)
{
	struct ls_fm_group groups[LS_FM_GROUPS];
	size_t n = ls_fm_groups(m->m, 0, groups);
	for (size_t i = 0; i < n; i++)
		if (strcmp(groups[i].name, name) == 0)
			return view(&groups[i], ret, err);
	return ls_err_set(err, LS_ENOENT, "the model has no tensor \"%.80s\"", name);
}
