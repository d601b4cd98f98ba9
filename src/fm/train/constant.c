#include "fm/train/constant.h"

#include <stdlib.h>

#include "base/mem.h"
#include "fm/model/cell.h"
#include "fm/model/row_weight.h"
#include "num/num.h"

/* The largest exponents of labels and of weights: they bound the terms of a sum. */
struct tops {
	int label, weight;
};

static int larger(int a, int b)
{
	return a > b ? a : b;
}

static struct tops tops_of(const struct ls_fm_opts *o, const struct ls_rows *rows)
{
	struct tops t = {LS_EXP_MIN, LS_EXP_MIN};
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		float y = rows->label[i];
		t.label = larger(t.label, ls_exp_of(y));
		t.weight = larger(t.weight, ls_exp_of(ls_row_weight(o, rows, i, y)));
	}
	return t;
}

/* The sums of the weights, a class each; regression has but one. */
static void class_weights(const struct ls_fm_opts *o, const struct ls_rows *rows, int top,
			  uint32_t classes, double *ret)
{
	int p = ls_sum_grid(top + 1, rows->n_rows);
	double scale = ls_pow2(p);
	int64_t *acc = ls_xalloc(sizeof *acc * classes);
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		float y = rows->label[i], w = ls_row_weight(o, rows, i, y);
		acc[classes > 1 ? ls_cell_class((int)o->task, y) : 0] +=
			ls_sum_term((double)w * scale);
	}
	for (uint32_t c = 0; c < classes; c++)
		ret[c] = ls_sum_value(acc[c], p);
	free(acc);
}

static double weighted_labels(const struct ls_fm_opts *o, const struct ls_rows *rows,
			      const struct tops *t)
{
	int p = ls_sum_grid(t->label + t->weight + 2, rows->n_rows);
	double scale = ls_pow2(p);
	int64_t acc = 0;
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		float y = rows->label[i];
		acc += ls_sum_term((double)y * (double)ls_row_weight(o, rows, i, y) * scale);
	}
	return ls_sum_value(acc, p);
}

/* From the sums of the weights to the scores of the classes. */
static void log_priors(const struct ls_fm_opts *o, double *v, uint32_t classes, uint64_t n_rows,
		       float *ret)
{
	double all = 0;
	for (uint32_t c = 0; c < classes; c++)
		all += v[c];
	double half = all / (2.0 * (double)n_rows);
	for (uint32_t c = 0; c < classes; c++)
		v[c] += half;
	if (o->task == LS_BINARY) {
		ret[0] = ls_logf((float)(v[1] / v[0]));
		return;
	}
	all = 0;
	for (uint32_t c = 0; c < classes; c++)
		all += v[c];
	for (uint32_t c = 0; c < classes; c++)
		ret[c] = ls_logf((float)(v[c] / all));
}

void ls_fm_constant(const struct ls_fm_opts *o, const struct ls_rows *rows, float *ret)
{
	struct tops t = tops_of(o, rows);
	uint32_t classes = o->task == LS_REGRESSION ? 1 : ls_fm_classes(o);
	double *v = ls_xalloc(sizeof *v * classes);
	class_weights(o, rows, t.weight, classes, v);
	if (o->task == LS_REGRESSION)
		ret[0] = (float)(weighted_labels(o, rows, &t) / v[0]);
	else
		log_priors(o, v, classes, rows->n_rows, ret);
	free(v);
}

/* The squared loss has as many values as there are labels. */
static double squared_loss(const struct ls_fm_opts *o, const struct ls_rows *rows, float score)
{
	double loss = 0, weight = 0;
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		float y = rows->label[i], w = ls_row_weight(o, rows, i, y);
		loss += (double)w * (double)ls_cell_squared_loss(score, y);
		weight += (double)w;
	}
	return loss / weight;
}

/* The others have one a class. */
static double class_loss(const struct ls_fm_opts *o, const struct ls_rows *rows, const float *score)
{
	uint32_t outputs = ls_fm_outputs(o), classes = ls_fm_classes(o);
	float *slope = ls_xalloc(sizeof *slope * outputs);
	double *v = ls_xalloc(sizeof *v * classes), loss = 0, weight = 0;
	class_weights(o, rows, tops_of(o, rows).weight, classes, v);
	for (uint32_t c = 0; c < classes; c++) {
		loss += v[c] * (double)ls_cell_row_loss((int)o->task, o->label_smoothing, score,
							outputs, (float)c, 1.0f, slope);
		weight += v[c];
	}
	free(slope);
	free(v);
	return loss / weight;
}

double ls_fm_constant_loss(const struct ls_fm_opts *o, const struct ls_rows *rows,
			   const float *score)
{
	return o->task == LS_REGRESSION ? squared_loss(o, rows, score[0])
					: class_loss(o, rows, score);
}
