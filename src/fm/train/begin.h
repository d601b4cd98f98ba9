/* A new model as a training begins with it: how it scales its rows (scale.h), first
 * factors, the constant that the labels come to as bias (constant.h). The caller frees it.
 * Between ls_fp_enter and ls_fp_leave. One thread. */
#ifndef LS_FM_TRAIN_BEGIN_H
#define LS_FM_TRAIN_BEGIN_H

#include "base/err.h"
#include "base/pool.h"
#include "fm/data/rows.h"
#include "fm/model/model.h"

/* Sizes of the model: at least those of the rows. */
int ls_fm_begin(const struct ls_fm_opts *opts, const struct ls_rows *rows, uint64_t features,
		uint32_t fields, struct ls_pool *pool, struct ls_fm_model **ret,
		struct ls_err *err);
/* With the parameters of another model, which has no more features than `features`;
 * features that it lacks begin as above. *state: whether it has the optimizer's state, as in
 * a checkpoint; becomes false unless that can be taken over: the optimizer is the same. */
int ls_fm_begin_from(const struct ls_fm_opts *opts, const struct ls_rows *rows, uint64_t features,
		     uint32_t fields, const struct ls_fm_model *old, bool *state,
		     struct ls_pool *pool, struct ls_fm_model **ret, struct ls_err *err);

#endif
