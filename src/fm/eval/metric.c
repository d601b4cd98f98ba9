#include "fm/eval/metric.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fm/eval/auc.h"
#include "fm/eval/check_rows.h"
#include "fm/model/cell.h"
#include "num/num.h"

static const char *const names[LS_METRICS] = {"logloss", "rmse", "accuracy", "auc", "macro-f1"};

const char *ls_metric_name(enum ls_metric metric)
{
	return names[metric];
}

enum ls_metric ls_metric_find(const char *name)
{
	for (int i = 0; i < LS_METRICS; i++)
		if (strcmp(names[i], name) == 0)
			return (enum ls_metric)i;
	return LS_METRICS;
}

bool ls_metric_more_is_better(enum ls_metric metric)
{
	return metric == LS_ACCURACY || metric == LS_AUC || metric == LS_MACRO_F1;
}

enum ls_metric ls_metric_default(enum ls_fm_task task)
{
	return task == LS_REGRESSION ? LS_RMSE : LS_LOGLOSS;
}

/* The grid of the order-free sum of n finite floats, which depends on nothing but
 * them. */
static int grid_of(const float *t, uint64_t n)
{
	int top = LS_EXP_MIN;
	for (uint64_t i = 0; i < n; i++) {
		int e = ls_exp_of(t[i]);
		top = e > top ? e : top;
	}
	return ls_sum_grid(top + 1, n);
}

static double sum_of(const float *t, uint64_t n)
{
	int p = grid_of(t, n);
	double scale = ls_pow2(p);
	int64_t acc = 0;
	for (uint64_t i = 0; i < n; i++)
		acc += ls_sum_term((double)t[i] * scale);
	return ls_sum_value(acc, p);
}

/* How much a row counts, in integers: 1, or its weight in units of a grid. */
static uint64_t count(const struct ls_rows *rows, uint64_t row, double scale)
{
	return rows->weight ? (uint64_t)ls_sum_term((double)rows->weight[row] * scale) : 1;
}

static uint32_t best_class(const float *score, uint32_t n)
{
	uint32_t best = 0;
	for (uint32_t c = 1; c < n; c++)
		if (score[c] > score[best])
			best = c;
	return best;
}

static uint32_t predicted_class(const struct ls_fm_model *m, const float *score)
{
	return m->opts.task == LS_BINARY ? score[0] > 0.0f : best_class(score, m->outputs);
}

static float row_logloss(const struct ls_fm_model *m, const float *score, float label)
{
	if (m->opts.task == LS_BINARY)
		return ls_cell_logistic_loss(score[0], label > 0.0f ? 1.0f : 0.0f);
	float loss = ls_logsumexpf(score, (int)m->outputs) - score[(uint32_t)label];
	return loss <= FLT_MAX ? loss : FLT_MAX; /* of scores beyond half of it */
}

/* The exponent to subtract from numbers whose largest exponent is this one, so that they
 * are well within binary32. 0: they are anyway. */
static int out_of_range(int top)
{
	enum { ROOM = 60 };
	return top >= -ROOM && top <= ROOM ? 0 : top;
}

/* Numbers in binary64, of which the largest has this exponent. */
static int top_of_double(int so_far, double x)
{
	int e = (int)(ls_bits_d(x) >> 52 & 0x7ff) - 1023;
	return e > so_far ? e : so_far;
}

/* Sum over rows of weight × what, divided by the sum of the weights. what is scratch. */
static double weighted_mean(const struct ls_rows *rows, float *what)
{
	uint64_t n = rows->n_rows;
	int top = LS_POW2_MIN;
	if (!rows->weight)
		return sum_of(what, n) / (double)n;
	for (uint64_t i = 0; i < n; i++)
		top = top_of_double(top, (double)what[i] * (double)rows->weight[i]);
	int e = out_of_range(top);
	for (uint64_t i = 0; i < n; i++) /* exact, and rounded once */
		what[i] = (float)((double)what[i] * (double)rows->weight[i] * ls_pow2(-e));
	return sum_of(what, n) / sum_of(rows->weight, n) * ls_pow2(e);
}

/* The root of the mean of the squares. */
static double rmse(const struct ls_rows *rows, const float *score, float *what)
{
	uint64_t n = rows->n_rows;
	int top = LS_POW2_MIN;
	for (uint64_t i = 0; i < n; i++)
		top = top_of_double(top, (double)score[i] - (double)rows->label[i]);
	int e = out_of_range(top);
	for (uint64_t i = 0; i < n; i++) {
		what[i] = (float)(((double)score[i] - (double)rows->label[i]) * ls_pow2(-e));
		what[i] *= what[i];
	}
	return __builtin_sqrt(weighted_mean(rows, what)) * ls_pow2(e);
}

int ls_metric_check(enum ls_metric metric, const struct ls_rows *rows, struct ls_err *err)
{
	bool any[2] = {false, false};
	for (uint64_t i = 0; i < rows->n_rows && metric == LS_AUC; i++)
		any[rows->label[i] > 0.0f] |= !rows->weight || rows->weight[i] > 0.0f;
	if (metric != LS_AUC || (any[0] && any[1]))
		return 0;
	return ls_rows_fault(rows, LS_OF_LABEL, LS_ROWS_ALL, LS_EINPUT, err,
			     "all rows%s are of one class: there is no auc",
			     rows->weight ? " with a weight" : "");
}

/* Mean over the classes of 2 TP / (2 TP + FP + FN); over those that occur or are
 * predicted in rows that count. */
static double macro_f1(const struct ls_fm_model *m, const struct ls_rows *rows, const float *score)
{
	uint32_t classes = ls_fm_classes(&m->opts);
	uint64_t *hit = ls_xalloc(sizeof *hit * classes * 2), *either = hit + classes;
	double scale = rows->weight ? ls_pow2(grid_of(rows->weight, rows->n_rows)) : 1.0;
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		uint32_t is = ls_cell_class((int)m->opts.task, rows->label[i]),
			 predicted = predicted_class(m, score + i * m->outputs);
		uint64_t n = count(rows, i, scale);
		hit[is] += is == predicted ? n : 0;
		either[is] += n;
		either[predicted] += n;
	}
	double sum = 0, n = 0;
	for (uint32_t c = 0; c < classes; c++)
		if (either[c]) {
			sum += 2.0 * (double)hit[c] / (double)either[c];
			n++;
		}
	free(hit);
	return sum / n;
}

static void set(struct ls_metrics *ret, enum ls_metric metric, double value)
{
	ret->has[metric] = true;
	ret->value[metric] = value;
}

static void classification(const struct ls_fm_model *m, const struct ls_rows *rows,
			   const float *score, float *what, struct ls_metrics *ret)
{
	for (uint64_t i = 0; i < rows->n_rows; i++)
		what[i] = row_logloss(m, score + i * m->outputs, rows->label[i]);
	set(ret, LS_LOGLOSS, weighted_mean(rows, what));
	for (uint64_t i = 0; i < rows->n_rows; i++)
		what[i] = ls_cell_class((int)m->opts.task, rows->label[i]) ==
					  predicted_class(m, score + i * m->outputs)
				  ? 1.0f
				  : 0.0f;
	set(ret, LS_ACCURACY, weighted_mean(rows, what));
	set(ret, LS_MACRO_F1, macro_f1(m, rows, score));
}

int ls_scores_finite(const struct ls_fm_model *m, const struct ls_rows *rows, const float *score,
		     struct ls_err *err)
{
	for (uint64_t i = 0; i < rows->n_rows * m->outputs; i++)
		if (ls_exp_of(score[i]) == LS_EXP_INF)
			return ls_rows_fault(rows, LS_OF_ROW, i / m->outputs, LS_EDIFFER, err,
					     "the score is not finite: smaller feature values "
					     "would help, or a model "
					     "trained with --normalize");
	return 0;
}

static int check(const struct ls_fm_model *m, const struct ls_rows *rows, const float *score,
		 struct ls_err *err)
{
	int rc = ls_fm_check_labels(&m->opts, rows, err);
	return rc ? rc : ls_scores_finite(m, rows, score, err);
}

/* False: no memory. */
static bool compute(const struct ls_fm_model *m, const struct ls_rows *rows, const float *score,
		    struct ls_metrics *ret)
{
	if (m->opts.task == LS_BINARY &&
	    !ls_auc(rows, score, &ret->has[LS_AUC], &ret->value[LS_AUC]))
		return false;
	float *what = ls_alloc_array(rows->n_rows, sizeof *what);
	if (!what)
		return false;
	if (m->opts.task == LS_REGRESSION)
		set(ret, LS_RMSE, rmse(rows, score, what));
	else
		classification(m, rows, score, what, ret);
	free(what);
	return true;
}

int ls_metrics_compute(const struct ls_fm_model *m, const struct ls_rows *rows, const float *score,
		       struct ls_metrics *ret, struct ls_err *err)
{
	int rc = check(m, rows, score, err);
	if (rc)
		return rc;
	struct ls_metrics out = {0};
	uint64_t saved = ls_fp_enter();
	bool ok = compute(m, rows, score, &out);
	ls_fp_leave(saved);
	if (!ok)
		return ls_err_set(err, LS_ENOMEM, "no memory for the metrics of %llu rows",
				  (unsigned long long)rows->n_rows);
	*ret = out;
	return 0;
}

void ls_fm_link(const struct ls_fm_model *m, float *score, uint64_t n_rows)
{
	uint64_t saved = ls_fp_enter();
	for (uint64_t i = 0; i < n_rows && m->opts.task != LS_REGRESSION; i++) {
		float *s = score + i * m->outputs;
		if (m->opts.task == LS_BINARY)
			s[0] = ls_sigmoidf(s[0]);
		else
			ls_softmaxf(s, s, (int)m->outputs);
	}
	ls_fp_leave(saved);
}
