#include "fm/train/begin.h"

#include <string.h>

#include "fm/train/constant.h"
#include "fm/train/scale.h"
#include "num/sum.h"

/* Rows without weight have no mean. */
static void start_bias(struct ls_fm_model *m, const struct ls_rows *rows)
{
	double scale = ls_pow2(-2 * m->label_exp);
	ls_fm_constant(&m->opts, rows, m->bias);
	for (uint32_t o = 0; o < m->outputs; o++)
		m->bias[o] = ls_exp_of(m->bias[o]) < LS_EXP_INF
				     ? (float)((double)m->bias[o] * scale)
				     : 0.0f;
}

int ls_fm_begin(const struct ls_fm_opts *opts, const struct ls_rows *rows, uint64_t features,
		uint32_t fields, struct ls_pool *pool, struct ls_fm_model **ret, struct ls_err *err)
{
	struct ls_fm_model *m;
	int rc = ls_fm_model_new(opts, features, fields, &m, err);
	if (rc)
		return rc;
	rc = ls_fm_scale_find(m, rows, err);
	if (rc) {
		ls_fm_model_free(m);
		return rc;
	}
	start_bias(m, rows);
	ls_fm_model_init(m, pool);
	*ret = m;
	return 0;
}

/* --- from another model --- */

/* Parameters and states of the features that the old one has. */
static void take_all(struct ls_fm_model *m, const struct ls_fm_model *old)
{
	size_t pairs = (size_t)m->outputs * m->n_pairs;
	for (uint64_t j = 0; j < old->n_features; j++)
		memcpy(m->linear + j * ls_fm_stride(m), old->linear + j * ls_fm_stride(old),
		       sizeof(float) * ls_fm_stride(m));
	memcpy(m->bias, old->bias, sizeof(float) * ls_fm_linear_size(m));
	if (pairs)
		memcpy(m->pair, old->pair, sizeof(float) * pairs * (1 + m->states));
}

static void take_parameters(struct ls_fm_model *m, const struct ls_fm_model *old)
{
	ls_fm_model_copy(m, old);
	ls_fm_scale_from(m, old);
	ls_fm_model_start_states(m);
}

int ls_fm_begin_from(const struct ls_fm_opts *opts, const struct ls_rows *rows, uint64_t features,
		     uint32_t fields, const struct ls_fm_model *old, bool *state,
		     struct ls_pool *pool, struct ls_fm_model **ret, struct ls_err *err)
{
	struct ls_fm_model *m;
	int rc = ls_fm_model_new(opts, features, fields, &m, err);
	if (rc)
		return rc;
	*state = *state && old->opts.optimizer == opts->optimizer && old->states == m->states;
	rc = *state ? ls_fm_scale_follow(m, old, rows, err) : ls_fm_scale_find(m, rows, err);
	if (rc) {
		ls_fm_model_free(m);
		return rc;
	}
	ls_fm_model_init(m, pool);
	(*state ? take_all : take_parameters)(m, old);
	*ret = m;
	return 0;
}
