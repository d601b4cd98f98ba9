#include "fm/eval/more_metrics.h"

#include <stdlib.h>

#include "base/mem.h"
#include "fm/eval/auc.h"
#include "fm/model/cell.h"
#include "num/num.h"

static const char *const names[LS_MORE_METRICS] = {
	"mae", "r2", "precision", "recall", "pr-auc", "auc", "brier", "calibration", "ndcg"};

const char *ls_more_name(enum ls_more_metric metric)
{
	return names[metric];
}

static void set(struct ls_more_metrics *ret, enum ls_more_metric metric, double value)
{
	ret->has[metric] = true;
	ret->value[metric] = value;
}

static double weight_of(const struct ls_rows *rows, uint64_t row)
{
	return rows->weight ? (double)rows->weight[row] : 1.0;
}

/* --- regression --- */

static void regression(const struct ls_rows *rows, const float *score, struct ls_more_metrics *ret)
{
	double weights = 0, labels = 0, off = 0, left = 0, all = 0;
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		double w = weight_of(rows, i), e = (double)score[i] - (double)rows->label[i];
		weights += w;
		labels += w * (double)rows->label[i];
		off += w * (e < 0 ? -e : e);
		left += w * e * e;
	}
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		double d = (double)rows->label[i] - labels / weights;
		all += weight_of(rows, i) * d * d;
	}
	set(ret, LS_MORE_MAE, off / weights);
	if (all > 0)
		set(ret, LS_MORE_R2, 1.0 - left / all);
	else
		ret->why[LS_MORE_R2] = "all labels are the same";
}

/* --- classes --- */

/* Of each class: the weight of rows that are of it, are said to be, and both. */
struct counts {
	double *is, *said, *both;
};

static uint32_t said_class(const struct ls_fm_model *m, const float *score)
{
	uint32_t best = 0;
	if (m->opts.task == LS_BINARY)
		return score[0] > 0.0f;
	for (uint32_t c = 1; c < m->outputs; c++)
		best = score[c] > score[best] ? c : best;
	return best;
}

static void count_classes(const struct ls_fm_model *m, const struct ls_rows *rows,
			  const float *score, struct counts *n)
{
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		uint32_t is = ls_cell_class((int)m->opts.task, rows->label[i]),
			 said = said_class(m, score + i * m->outputs);
		double w = weight_of(rows, i);
		n->is[is] += w;
		n->said[said] += w;
		n->both[is] += is == said ? w : 0;
	}
}

static void binary_precision(const struct counts *n, struct ls_more_metrics *ret)
{
	if (n->said[1] > 0)
		set(ret, LS_MORE_PRECISION, n->both[1] / n->said[1]);
	else
		ret->why[LS_MORE_PRECISION] = "no row is predicted to be of class 1";
	if (n->is[1] > 0)
		set(ret, LS_MORE_RECALL, n->both[1] / n->is[1]);
	else
		ret->why[LS_MORE_RECALL] = "no row is of class 1";
}

static void mean_precision(const struct counts *n, uint32_t classes, struct ls_more_metrics *ret)
{
	double precision = 0, recall = 0, known = 0;
	for (uint32_t c = 0; c < classes; c++)
		if (n->is[c] > 0 || n->said[c] > 0) {
			precision += n->said[c] > 0 ? n->both[c] / n->said[c] : 0;
			recall += n->is[c] > 0 ? n->both[c] / n->is[c] : 0;
			known++;
		}
	set(ret, LS_MORE_PRECISION, precision / known);
	set(ret, LS_MORE_RECALL, recall / known);
}

static void precision_and_recall(const struct ls_fm_model *m, const struct ls_rows *rows,
				 const float *score, struct ls_more_metrics *ret)
{
	uint32_t classes = ls_fm_classes(&m->opts);
	double *all = ls_xalloc(sizeof *all * 3 * classes);
	struct counts n = {all, all + classes, all + 2 * classes};
	count_classes(m, rows, score, &n);
	if (m->opts.task == LS_BINARY)
		binary_precision(&n, ret);
	else
		mean_precision(&n, classes, ret);
	free(all);
}

/* --- two classes --- */

struct ranked {
	double group;
	float score, label, weight;
};

/* Groups ascending, in them the highest score first; then a written order, so that sums do
 * not depend on the sort. */
static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->label != y->label)
		return x->label > y->label ? -1 : 1;
	return (x->weight < y->weight) - (x->weight > y->weight);
}

/* Rows that count, in order of rank; NULL: no memory. */
static struct ranked *rank(const struct ls_rows *rows, const float *score, const float *group,
			   uint64_t *ret_n)
{
	struct ranked *r = ls_alloc_array(rows->n_rows, sizeof *r);
	uint64_t n = 0;
	for (uint64_t i = 0; i < rows->n_rows && r; i++)
		if (weight_of(rows, i) > 0)
			r[n++] = (struct ranked){group ? (double)group[i] : 0, score[i] + 0.0f,
						 rows->label[i], (float)weight_of(rows, i)};
	if (n)
		qsort(r, n, sizeof *r, by_rank);
	*ret_n = n;
	return r;
}

/* The sum over the scores that differ, from above, of precision times the recall that each
 * adds. */
static void average_precision(const struct ranked *r, uint64_t n, struct ls_more_metrics *ret)
{
	double all = 0, hit = 0, seen = 0, sum = 0;
	for (uint64_t i = 0; i < n; i++)
		all += r[i].label > 0.0f ? (double)r[i].weight : 0;
	for (uint64_t i = 0; i < n;) {
		double before = hit;
		float score = r[i].score;
		for (; i < n && r[i].score == score; i++) {
			seen += (double)r[i].weight;
			hit += r[i].label > 0.0f ? (double)r[i].weight : 0;
		}
		sum += (hit - before) * (hit / seen);
	}
	if (all > 0)
		set(ret, LS_MORE_PR_AUC, sum / all);
	else
		ret->why[LS_MORE_PR_AUC] = "no row is of class 1";
}

/* The bin of a probability: (0, 0.1], (0.1, 0.2], …, 0 in the first. */
static int bin_of(double p)
{
	int bin = 0;
	for (int k = 1; k < 10; k++)
		bin += p > (double)k / 10.0;
	return bin;
}

static void calibration(const struct ls_rows *rows, const float *score, struct ls_more_metrics *ret)
{
	double said[10] = {0}, is[10] = {0}, weights = 0, squares = 0, off = 0;
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		double w = weight_of(rows, i), p = (double)ls_sigmoidf(score[i]),
		       y = rows->label[i] > 0.0f ? 1.0 : 0.0;
		said[bin_of(p)] += w * p;
		is[bin_of(p)] += w * y;
		squares += w * (p - y) * (p - y);
		weights += w;
	}
	for (int k = 0; k < 10; k++)
		off += said[k] > is[k] ? said[k] - is[k] : is[k] - said[k];
	set(ret, LS_MORE_BRIER, squares / weights);
	set(ret, LS_MORE_CALIBRATION, off / weights);
}

static bool binary(const struct ls_rows *rows, const float *score, struct ls_more_metrics *ret)
{
	uint64_t n;
	struct ranked *r = rank(rows, score, NULL, &n);
	if (!r)
		return false;
	average_precision(r, n, ret);
	calibration(rows, score, ret);
	free(r);
	return true;
}

/* --- many classes --- */

/* Of class c against all others: by the probabilities, as the scores of different rows do
 * not compare. */
static bool class_auc(const struct ls_rows *rows, const float *p, uint32_t outputs, uint32_t c,
		      float *scratch, bool *has, double *ret)
{
	float *label = scratch, *score = scratch + rows->n_rows;
	struct ls_rows one = *rows;
	one.label = label;
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		label[i] = rows->label[i] == (float)c ? 1.0f : 0.0f;
		score[i] = p[i * outputs + c];
	}
	return ls_auc(&one, score, has, ret);
}

static bool multiclass(const struct ls_fm_model *m, const struct ls_rows *rows, const float *score,
		       struct ls_more_metrics *ret)
{
	uint64_t n = rows->n_rows;
	float *p = ls_alloc_array(n * m->outputs, sizeof *p),
	      *scratch = ls_alloc_array(2 * n, sizeof *scratch);
	bool ok = p && scratch, has = true;
	double sum = 0, auc = 0;
	for (uint64_t i = 0; i < n && ok; i++)
		ls_softmaxf(score + i * m->outputs, p + i * m->outputs, (int)m->outputs);
	for (uint32_t c = 0; c < m->outputs && ok && has; c++) {
		ok = class_auc(rows, p, m->outputs, c, scratch, &has, &auc);
		sum += auc;
	}
	if (ok && has)
		set(ret, LS_MORE_AUC, sum / m->outputs);
	else if (ok)
		ret->why[LS_MORE_AUC] = "a class has no row, or all";
	free(p);
	free(scratch);
	return ok;
}

/* --- groups --- */

static double discount(uint64_t rank)
{
	return 0.69314718055994530942 / ls_log_d((double)rank + 2.0);
}

static double gain(const struct ls_fm_model *m, const struct ranked *r)
{
	return m->opts.task == LS_BINARY ? (r->label > 0.0f ? 1.0 : 0.0) : (double)r->label;
}

/* Equal scores have the mean of their gains. */
static double gain_by_score(const struct ls_fm_model *m, const struct ranked *r, uint64_t n)
{
	double sum = 0;
	for (uint64_t i = 0, from = 0; i < n; from = i) {
		double gains = 0, discounts = 0;
		for (; i < n && r[i].score == r[from].score; i++) {
			gains += gain(m, &r[i]);
			discounts += discount(i);
		}
		sum += gains / (double)(i - from) * discounts;
	}
	return sum;
}

static int by_label(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	return (x->label < y->label) - (x->label > y->label);
}

/* Sorts the group. */
static double best_gain(const struct ls_fm_model *m, struct ranked *r, uint64_t n)
{
	double sum = 0;
	qsort(r, n, sizeof *r, by_label);
	for (uint64_t i = 0; i < n; i++)
		sum += gain(m, &r[i]) * discount(i);
	return sum;
}

/* The mean over the groups that have something to find. */
static void ndcg(const struct ls_fm_model *m, struct ranked *r, uint64_t n,
		 struct ls_more_metrics *ret)
{
	double sum = 0, groups = 0;
	for (uint64_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && r[end].group == r[i].group; end++)
			continue;
		double got = gain_by_score(m, r + i, end - i), best = best_gain(m, r + i, end - i);
		sum += best > 0 ? got / best : 0;
		groups += best > 0;
	}
	if (groups > 0)
		set(ret, LS_MORE_NDCG, sum / groups);
	else
		ret->why[LS_MORE_NDCG] = "no group has a label above 0";
}

static int check_gains(const struct ls_fm_model *m, const struct ls_rows *rows, struct ls_err *err)
{
	for (uint64_t i = 0; i < rows->n_rows && m->opts.task == LS_REGRESSION; i++)
		if (rows->label[i] < 0.0f)
			return ls_rows_fault(rows, LS_OF_LABEL, i, LS_EINPUT, err,
					     "label %g is negative: ndcg takes labels as gains",
					     (double)rows->label[i]);
	return m->opts.task != LS_MULTICLASS
		       ? 0
		       : ls_err_set(err, LS_EINPUT,
				    "ndcg is not of a multiclass model, which has no "
				    "one score to rank by");
}

static bool grouped(const struct ls_fm_model *m, const struct ls_rows *rows, const float *score,
		    const float *group, struct ls_more_metrics *ret)
{
	uint64_t n;
	struct ranked *r = rank(rows, score, group, &n);
	if (!r)
		return false;
	ndcg(m, r, n, ret);
	free(r);
	return true;
}

int ls_more_compute(const struct ls_fm_model *m, const struct ls_rows *rows, const float *score,
		    const float *group, struct ls_more_metrics *ret, struct ls_err *err)
{
	struct ls_more_metrics out = {0};
	int rc = group ? check_gains(m, rows, err) : 0;
	if (rc)
		return rc;
	uint64_t saved = ls_fp_enter();
	bool ok = true;
	if (m->opts.task == LS_REGRESSION)
		regression(rows, score, &out);
	else
		precision_and_recall(m, rows, score, &out);
	if (m->opts.task != LS_REGRESSION)
		ok = m->opts.task == LS_BINARY ? binary(rows, score, &out)
					       : multiclass(m, rows, score, &out);
	if (ok && group)
		ok = grouped(m, rows, score, group, &out);
	ls_fp_leave(saved);
	if (!ok)
		return ls_err_set(err, LS_ENOMEM, "no memory for the metrics of %llu rows",
				  (unsigned long long)rows->n_rows);
	*ret = out;
	return 0;
}
