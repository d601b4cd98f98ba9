/* What a training refuses before it looks at any data: options that contradict each
 * other, or that would do nothing. Pure functions; any thread. */
#ifndef LS_FM_TRAIN_CHECK_OPTIONS_H
#define LS_FM_TRAIN_CHECK_OPTIONS_H

#include <stdbool.h>

#include "base/err.h"
#include "fm/eval/metric.h"
#include "fm/model/model.h"

/* Whether the user gave an option, by its name without dashes. */
typedef bool ls_fm_given(const void *context, const char *option);

int ls_fm_check_options(const struct ls_fm_opts *o, ls_fm_given *given, const void *context,
			struct ls_err *err);
int ls_fm_check_metric(enum ls_fm_task task, enum ls_metric metric, struct ls_err *err);

#endif
