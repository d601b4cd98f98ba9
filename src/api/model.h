/* A model that the public functions give to each other. Any number of threads read. */
#ifndef LS_API_MODEL_H
#define LS_API_MODEL_H

#include "api/dataset.h"
#include "fm/eval/more_metrics.h"
#include "fm/model/model.h"
#include "fm/model/save.h"

struct ls_model {
	struct ls_fm_model *m;
	struct ls_fm_position at; /* where its training stood */
	/* Of a model that stayed in memory after its last step: m has the optimizer's state, or,
	 * where the training had other units than the data, this one, in those units. */
	bool state;
	struct ls_fm_model *trained; /* or NULL */
};

/* Of parameters that a call has made; they belong to the result. */
struct ls_model *ls_model_of_take(struct ls_fm_model *m, const struct ls_fm_position *at);

/* ls_model_eval with the metrics that `fm eval` adds, by its option group, too. */
int ls_model_eval_more(const struct ls_model *m, const struct ls_dataset *rows,
		       const struct ls_options *o, struct ls_metrics *ret,
		       struct ls_more_metrics *ret_more, struct ls_err *err);

int ls_model_read(const char *path, int threads, struct ls_model **ret, struct ls_err *err);

#endif
