#include "cmd/fm_summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "fm/model/batch.h"
#include "fm/model/cell.h"

static void add_range(const struct ls_rows *rows, struct ls_str *text)
{
	double sum = 0;
	float least = rows->label[0], most = least;
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		float y = rows->label[i];
		sum += (double)y;
		least = y < least ? y : least;
		most = y > most ? y : most;
	}
	ls_str_addf(text, "labels from %g to %g, mean %.4g", (double)least, (double)most,
		    sum / (double)rows->n_rows);
}

/* A label that is no class is refused when training starts. */
static void count_classes(const struct ls_train *t, uint64_t *count)
{
	const struct ls_rows *rows = t->rows;
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		float y = rows->label[i];
		if (t->opts.task == LS_BINARY || (y >= 0.0f && y < (float)t->opts.classes))
			count[ls_cell_class((int)t->opts.task, y)]++;
	}
}

static void add_balance(const struct ls_train *t, struct ls_str *text)
{
	uint32_t n = ls_fm_classes(&t->opts), rare = 0, common = 0;
	uint64_t *count = ls_xalloc(sizeof *count * n);
	double share = 100.0 / (double)t->rows->n_rows;
	count_classes(t, count);
	for (uint32_t c = 0; c < n; c++) {
		rare = count[c] < count[rare] ? c : rare;
		common = count[c] > count[common] ? c : common;
	}
	if (t->opts.task == LS_BINARY)
		ls_str_addf(text, "%.3g %% of class 1", (double)count[1] * share);
	else
		ls_str_addf(text, "%u classes, from %.3g %% (class %u) to %.3g %% (class %u)", n,
			    (double)count[rare] * share, rare, (double)count[common] * share,
			    common);
	free(count);
}

static void print_data(const struct ls_train *t, const struct ls_progress *p)
{
	struct ls_str text = {0};
	ls_str_addf(&text, "%" PRIu64 " rows, %" PRIu64 " features, ", t->rows->n_rows,
		    t->rows->n_features);
	if (t->rows->n_fields && t->opts.kind != LS_FM)
		ls_str_addf(&text, "%u fields, ", t->rows->n_fields);
	ls_str_addf(&text, "%.3g entries a row, ",
		    (double)t->rows->n_entries / (double)t->rows->n_rows);
	if (t->opts.task == LS_REGRESSION)
		add_range(t->rows, &text);
	else
		add_balance(t, &text);
	if (t->valid)
		ls_str_addf(&text, "; %" PRIu64 " rows to validate", t->valid->n_rows);
	ls_progress_line(p, text.s);
	ls_str_done(&text);
}

static void add_penalties(const struct ls_fm_opts *o, struct ls_str *text)
{
	if (o->l2[LS_ON_LINEAR] > 0.0f || o->l2[LS_ON_FACTORS] > 0.0f)
		ls_str_addf(text, "l2 %.3g", (double)o->l2[LS_ON_LINEAR]);
	if (o->l2[LS_ON_FACTORS] != o->l2[LS_ON_LINEAR] && o->factors)
		ls_str_addf(text, " (factors %.3g)", (double)o->l2[LS_ON_FACTORS]);
	if (o->l2[LS_ON_LINEAR] > 0.0f || o->l2[LS_ON_FACTORS] > 0.0f)
		ls_str_add(text, ", ");
}

static void print_options(const struct ls_train *t, const struct ls_progress *p)
{
	const struct ls_fm_opts *o = &t->opts;
	uint64_t steps = ls_fm_steps_per_epoch(o, t->rows->n_rows);
	struct ls_str text = {0};
	ls_str_addf(&text, "%s, %s, ", ls_fm_kind_of(o), ls_fm_task_name(o->task));
	if (o->factors)
		ls_str_addf(&text, "%u factors, ", o->factors);
	ls_str_addf(&text, "%s with rate %.3g, ", ls_fm_optimizer_name(o->optimizer),
		    (double)o->lr);
	add_penalties(o, &text);
	ls_str_addf(&text, "batch %u: %" PRIu64 " step%s an epoch, ", o->batch, steps,
		    steps == 1 ? "" : "s");
	if (t->epochs)
		ls_str_addf(&text, "%u epoch%s", t->epochs, t->epochs == 1 ? "" : "s");
	else
		ls_str_add(&text, "none of them, for none was better than a constant");
	if (t->valid && t->early_stop)
		ls_str_addf(&text, " or until %u %s no better by %s", t->early_stop,
			    t->early_stop == 1 ? "is" : "are", ls_metric_name(t->metric));
	ls_progress_line(p, text.s);
	ls_str_done(&text);
}

void ls_fm_print_summary(const struct ls_train *t, const struct ls_progress *p)
{
	print_data(t, p);
	print_options(t, p);
}
