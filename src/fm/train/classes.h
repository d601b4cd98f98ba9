/* The number of classes and their weights, which depend on the training data. Borrows its
 * arguments; one thread. */
#ifndef LS_FM_TRAIN_CLASSES_H
#define LS_FM_TRAIN_CLASSES_H

#include <stdint.h>

#include "base/err.h"
#include "fm/data/rows.h"
#include "fm/model/model.h"

/* Sets o->classes: `wanted`, or with 0 the largest label + 1; 1 unless the task is
 * multiclass. */
int ls_fm_set_classes(struct ls_fm_opts *o, const struct ls_rows *rows, uint32_t wanted,
		      struct ls_err *err);

/* Sets the class weights: from "W0,W1,…", or "balanced", which weighs every class alike.
 * After ls_fm_set_classes. */
int ls_fm_set_class_weights(struct ls_fm_opts *o, const struct ls_rows *rows, const char *list,
			    struct ls_err *err);

#endif
