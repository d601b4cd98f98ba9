/* Values and labels of about 1 for a training, whatever the data have: features are divided
 * by powers of two and the labels of a regression by a power of four, which is exact. The
 * model is then the same model in other units: one that is written has those of the data,
 * by products with powers of two alone.
 *
 *   values  x' = x / 2^e of the feature. With m the mean of the squares of its values that
 *           are not 0, added in stored order in binary64, 2^(2e - 1) <= m < 2^(2e + 1); but
 *           e = 0 where 2^-6 <= m < 4, where all values are 1, and with --normalize
 *   labels  y' = y / 4^t, with V their variance by weight, summed likewise,
 *           4^(2t - 1) <= V < 4^(2t + 1); t = 0 of other tasks, and where V is 0
 *
 * Without --scaling none. So a weight is 4^t / 2^e, and a factor 2^t / 2^e, of what it is in
 * the training; the bias is 4^t; weights of fields stay. Calls between ls_fp_enter and
 * ls_fp_leave. One thread. */
#ifndef LS_FM_TRAIN_SCALE_H
#define LS_FM_TRAIN_SCALE_H

#include "base/digest.h"
#include "base/err.h"
#include "fm/data/rows.h"
#include "fm/model/model.h"

/* Finds how a new model's training is to scale, from its rows: sets m->exps and
 * m->label_exp. */
int ls_fm_scale_find(struct ls_fm_model *m, const struct ls_rows *rows, struct ls_err *err);
/* Of features that the model has and `old`, whose state it takes over, has not; the others
 * are scaled as in old. */
int ls_fm_scale_follow(struct ls_fm_model *m, const struct ls_fm_model *old,
		       const struct ls_rows *rows, struct ls_err *err);

/* Rows as a model's training has them; what is not changed is borrowed. */
struct ls_fm_scaled {
	struct ls_rows rows;
	float *value, *label;
};
/* labels: scale them, too. */
int ls_fm_scale_rows(const struct ls_fm_model *m, const struct ls_rows *rows, bool labels,
		     struct ls_fm_scaled *ret, struct ls_err *err);
void ls_fm_scaled_done(struct ls_fm_scaled *s);

/* Whether a training has other units than the data. */
bool ls_fm_is_scaled(const struct ls_fm_model *m);
/* The parameters of `m` in the units of the data, into a model of the same size. */
void ls_fm_scale_out(const struct ls_fm_model *m, struct ls_fm_model *ret);
/* Brings what m has of `old`, its first features and its bias, from the units of old into
 * its own. */
void ls_fm_scale_from(struct ls_fm_model *m, const struct ls_fm_model *old);

/* The digest of the model in the units of the data. */
int ls_fm_scale_digest(const struct ls_fm_model *m, char ret_hex[LS_SHA256_HEX],
		       struct ls_err *err);

#endif
