#include "fm/train/notes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "fm/model/batch.h"
#include "fm/model/row_weight.h"
#include "fm/train/constant.h"

static void __attribute__((format(printf, 2, 3)))
add(struct ls_train_result *r, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(r->notes[r->n_notes++], LS_TRAIN_NOTE, fmt, ap);
	va_end(ap);
}

/* The metric that a constant has on the validation rows. False: it has none. */
static bool constant_metric(const struct ls_train *t, const struct ls_fm_model *m,
			    const float *constant, double *ret)
{
	const struct ls_rows *v = t->valid;
	struct ls_metrics got = {0};
	float *score = ls_alloc_array(v->n_rows * m->outputs, sizeof *score);
	for (uint64_t i = 0; score && i < v->n_rows * m->outputs; i++)
		score[i] = constant[i % m->outputs];
	bool ok = score && ls_metrics_compute(m, v, score, &got, NULL) == 0 && got.has[t->metric];
	free(score);
	*ret = ok ? got.value[t->metric] : 0.0;
	return ok;
}

static void against_constant(const struct ls_train *t, const struct ls_fm_model *m,
			     struct ls_train_result *r)
{
	float *constant = ls_xalloc(sizeof *constant * m->outputs);
	double value;
	ls_fm_constant(&t->opts, t->rows, constant);
	if (t->valid && constant_metric(t, m, constant, &value)) {
		double gain = r->best_value - value;
		if ((ls_metric_more_is_better(t->metric) ? gain : -gain) < 0)
			add(r,
			    "the model is worse than a constant: without any feature the valid %s "
			    "would be %.6g, and it is %.6g",
			    ls_metric_name(t->metric), value, r->best_value);
	} else if (!t->valid && !t->warm_start && !t->warm_model && !isnan(r->last_loss)) {
		value = ls_fm_constant_loss(&t->opts, t->rows, constant);
		if (r->last_loss > value)
			add(r,
			    "the last epoch was worse than a constant, whose mean loss would be "
			    "%.6g: more --epochs or another --lr may help",
			    value);
	}
	free(constant);
}

void ls_train_notes(const struct ls_train *t, const struct ls_fm_model *m,
		    struct ls_train_result *r)
{
	uint64_t n = t->rows->n_rows;
	if (n > 1 && ls_fm_steps_per_epoch(&t->opts, n) == 1)
		add(r,
		    "an epoch has one step, over all %llu rows: a smaller --batch learns more in "
		    "an "
		    "epoch",
		    (unsigned long long)n);
	if (t->valid && !r->best_epoch && r->epochs)
		add(r,
		    "no epoch was better than the start, which is the model: another --lr or more "
		    "--early-stop may help");
	else if (t->valid && r->best_epoch == t->epochs)
		add(r, "the last epoch was the best: more --epochs may be better");
	against_constant(t, m, r);
}

/* The mean of 1 + |x|^2, which bounds the curvature of the mean loss in the weights; for
 * the logistic loss four times less. */
static double curvature(const struct ls_train *t, const struct ls_rows *rows)
{
	double sum = 0, weights = 0;
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		double squares = 0, w = (double)ls_row_weight(&t->opts, rows, i, rows->label[i]);
		for (uint64_t e = rows->start[i]; e < rows->start[i + 1]; e++)
			squares +=
				rows->value ? (double)rows->value[e] * (double)rows->value[e] : 1.0;
		sum += w * (t->opts.normalize ? 2.0 : 1.0 + squares);
		weights += 1.0;
	}
	return (t->opts.task == LS_REGRESSION ? sum : sum / 4.0) / weights;
}

void ls_train_advise_rate(const struct ls_train *t, const struct ls_rows *rows, struct ls_err *err)
{
	double rate = 0.5 / curvature(t, rows), most = (double)t->opts.lr / 10.0;
	char advice[80];
	snprintf(advice, sizeof advice, "for sgd try --lr %.1g", rate < most ? rate : most);
	ls_err_advise(err, advice);
}
