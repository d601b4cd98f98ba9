#include "fm/train/classes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "fm/model/cell.h"

int ls_fm_set_classes(struct ls_fm_opts *o, const struct ls_rows *rows, uint32_t wanted,
		      struct ls_err *err)
{
	float top = 1.0f;
	o->classes = 1;
	if (o->task != LS_MULTICLASS)
		return !wanted ? 0
			       : ls_err_set(err, LS_EINPUT, "--classes needs --task multiclass");
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		top = rows->label[i] > top ? rows->label[i] : top;
		if (!wanted && top >= (float)LS_FM_MAX_CLASSES)
			return ls_rows_fault(rows, LS_OF_LABEL, i, LS_EINPUT, err,
					     "label %g is beyond the most classes, %d", (double)top,
					     LS_FM_MAX_CLASSES);
	}
	o->classes = wanted ? wanted : (uint32_t)top + 1;
	return 0;
}

/* n / (classes × rows of the class), as scikit-learn's "balanced". A label that is no
 * class is passed over here and refused when training starts. */
static void balance(struct ls_fm_opts *o, const struct ls_rows *rows)
{
	uint64_t count[LS_FM_MAX_CLASSES] = {0};
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		float y = rows->label[i];
		if (o->task == LS_BINARY || (y >= 0.0f && y < (float)o->n_class_weights))
			count[ls_cell_class((int)o->task, y)]++;
	}
	for (uint32_t c = 0; c < o->n_class_weights; c++)
		o->class_weight[c] =
			count[c] ? (float)((double)rows->n_rows /
					   ((double)o->n_class_weights * (double)count[c]))
				 : 1.0f;
}

/* W0,W1,… */
static int read_weights(const char *list, uint32_t classes, float *ret, struct ls_err *err)
{
	uint32_t n = 0;
	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",");
		double v;
		if (n == classes)
			return ls_err_set(err, LS_EINPUT, "--class-weight: more than %u weights",
					  classes);
		char *word = ls_xstrndup(p, len);
		int rc = ls_str_to_double(word, 0, 1e6, "option --class-weight", &v, err);
		free(word);
		if (rc)
			return rc;
		ret[n++] = (float)v;
		p += len;
		if (!*p)
			break;
	}
	return n == classes ? 0
			    : ls_err_set(err, LS_EINPUT,
					 "--class-weight: %u weights for %u classes", n, classes);
}

int ls_fm_set_class_weights(struct ls_fm_opts *o, const struct ls_rows *rows, const char *list,
			    struct ls_err *err)
{
	if (o->task == LS_REGRESSION)
		return ls_err_set(
			err, LS_EINPUT,
			"--class-weight is for classification, not for --task regression");
	o->n_class_weights = ls_fm_classes(o);
	if (strcmp(list, "balanced") != 0)
		return read_weights(list, o->n_class_weights, o->class_weight, err);
	balance(o, rows);
	return 0;
}
