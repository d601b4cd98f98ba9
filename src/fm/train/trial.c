#include "fm/train/trial.h"

#include <stdlib.h>

#include "base/mem.h"
#include "fm/model/batch.h"
#include "fm/train/begin.h"
#include "fm/train/scale.h"
#include "num/sum.h"

/* Steps in one call of the engine. */
enum { STRETCH = 4096 };

static int take_steps(const struct ls_trial *t, const struct ls_engine *e, struct ls_err *err)
{
	int rc = 0;
	double loss = 0;
	for (uint64_t at = 0; at < t->steps && rc == 0; at += STRETCH) {
		uint64_t n = t->steps - at < STRETCH ? t->steps - at : STRETCH;
		rc = e->steps(e->state, at, n, &loss, err);
	}
	return rc;
}

int ls_trial_scores(const struct ls_engine *e, const struct ls_rows *rows, uint32_t outputs,
		    int label_exp, char ret[LS_SHA256_HEX], struct ls_err *err)
{
	float *score = ls_alloc_array(rows->n_rows * outputs, sizeof *score);
	if (!score)
		return ls_err_set(err, LS_ENOMEM, "no memory for the scores of %llu rows",
				  (unsigned long long)rows->n_rows);
	int rc = e->predict(e->state, rows, score, err);
	for (uint64_t i = 0; rc == 0 && label_exp && i < rows->n_rows * outputs; i++)
		score[i] *= (float)ls_pow2(2 * label_exp);
	if (rc == 0)
		ls_sha256(score, rows->n_rows * outputs * sizeof *score, ret);
	free(score);
	return rc;
}

/* The last step of an epoch takes what is left of the rows. */
static uint64_t rows_passed(const struct ls_trial *t)
{
	uint64_t per_epoch = ls_fm_steps_per_epoch(t->opts, t->rows->n_rows);
	uint64_t rest = t->steps % per_epoch * t->opts->batch;
	return t->steps / per_epoch * t->rows->n_rows + rest;
}

int ls_trial_run(const struct ls_trial *t, struct ls_trial_result *ret, struct ls_err *err)
{
	struct ls_trial_result res = {.rows = rows_passed(t)};
	struct ls_engine e = {0};
	struct ls_fm_model *m;
	struct ls_fm_scaled rows = {.value = NULL};
	int rc = ls_fm_begin(t->opts, t->rows, t->rows->n_features, t->rows->n_fields, t->pool, &m,
			     err);
	if (rc)
		return rc;
	rc = ls_fm_scale_rows(m, t->rows, true, &rows, err);
	if (rc == 0)
		rc = t->make_engine(t->context, m, &rows.rows, t->pool, &e, err);
	if (rc == 0)
		rc = take_steps(t, &e, err);
	if (rc == 0)
		rc = e.fetch(e.state, err);
	if (rc == 0 && t->predict)
		rc = ls_trial_scores(&e, &rows.rows, m->outputs, m->label_exp, res.scores, err);
	if (rc == 0)
		rc = ls_fm_scale_digest(m, res.digest, err);
	if (rc == 0)
		*ret = res;
	if (e.free)
		e.free(e.state);
	ls_fm_model_free(m);
	ls_fm_scaled_done(&rows);
	return rc;
}
