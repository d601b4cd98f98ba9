/* The part of a validation on synthetic rows: the same digest at every batch size. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fm/data/synthetic.h"
#include "fm/model/batch.h"
#include "fm/proof/validate_internal.h"

static const uint32_t batches[] = {256, 4096, 65536};

enum {
	BATCHES = sizeof batches / sizeof *batches,
	KINDS = 3,
	TASKS = 3,
	CLASSES = 3,
	SEED = 20261115
};

static bool on_one_thread(const struct ls_val_way *w)
{
	return !w->gpu && ls_pool_threads(w->pool) == 1;
}

static struct ls_synthetic_spec made_spec(const struct ls_val_data *d, uint64_t seed)
{
	return (struct ls_synthetic_spec){.n_rows = d->rows,
					  .n_features = (uint64_t)d->features_a_field * d->fields,
					  .n_fields = d->fields,
					  .classes = 2,
					  .seed = seed};
}

struct ls_val_size ls_val_quick(void)
{
	return (struct ls_val_size){.batches = {70000, 8, 4096}};
}

/* A row as click-through data has them. */
struct ls_val_size ls_val_full(void)
{
	return (struct ls_val_size){.batches = {140000, 39, 2500}, .every_optimizer = true};
}

/* One thread repeats slowly what the golden table says; it only stands in where there is
 * no GPU. */
static bool is_compared(const struct ls_val_plan *p, size_t way)
{
	return way > 0 && p->ways[way].main && !(ls_val_has_gpu(p) && on_one_thread(&p->ways[way]));
}

static size_t compared(const struct ls_val_plan *p)
{
	size_t n = 1; /* the reference */
	for (size_t i = 0; i < p->n_ways; i++)
		n += is_compared(p, i);
	return n;
}

static int optimizers(const struct ls_val_plan *p)
{
	return p->size.every_optimizer ? LS_FTRL + 1 : 1;
}

size_t ls_val_batch_count(const struct ls_val_plan *p)
{
	return KINDS * BATCHES * (size_t)optimizers(p) * compared(p);
}

static void batch_cell(struct ls_val_session *s, size_t way, const char *cell, struct ls_trial *t,
		       struct ls_trial_result *reference)
{
	struct ls_trial_result r = {0};
	char *reason = NULL;
	enum ls_val_state state = ls_val_try(s, way, t, &r, &reason);
	if (way == 0)
		*reference = r;
	if (state != LS_VAL_PASSED || (way > 0 && !*reference->digest)) {
		if (!reason)
			reason = ls_xstrdup("the reference has no digest");
		ls_val_add_failed(s, LS_VAL_BATCHES, LS_VAL_SCORES, way, cell,
				  state == LS_VAL_PASSED ? LS_VAL_NOT_RUN : state, reason);
	} else if (way > 0) {
		ls_val_compare(s, LS_VAL_BATCHES, way, cell, reference->digest, r.digest);
		ls_val_compare(s, LS_VAL_SCORES, way, cell, reference->scores, r.scores);
	}
}

static int batches_of(struct ls_val_session *s, struct ls_fm_opts o, const struct ls_rows *rows,
		      struct ls_err *err)
{
	int rc = 0;
	for (int b = 0; b < BATCHES && rc == 0; b++) {
		struct ls_trial_result reference = {0};
		char cell[96];
		o.batch = batches[b];
		struct ls_trial t = {.opts = &o,
				     .rows = rows,
				     .steps = ls_fm_steps_per_epoch(&o, rows->n_rows),
				     .predict = true};
		snprintf(cell, sizeof cell, "%s-%s-%s, batch %u", ls_fm_kind_name(o.kind),
			 ls_fm_task_name(o.task), ls_fm_optimizer_name(o.optimizer), o.batch);
		for (size_t way = 0; way < s->plan->n_ways && rc == 0; way++) {
			if (way > 0 && !is_compared(s->plan, way))
				continue;
			rc = ls_val_turn(s, cell, way, err);
			if (rc == 0)
				batch_cell(s, way, cell, &t, &reference);
		}
	}
	return rc;
}

/* Every kind with every optimizer; the task goes round, so that all of them are met. */
static int one_combination(struct ls_val_session *s, int kind, int optimizer, struct ls_err *err)
{
	enum ls_fm_task task = (enum ls_fm_task)((kind + optimizer + 2) % TASKS);
	struct ls_synthetic_spec spec = made_spec(&s->plan->size.batches, SEED);
	spec.values = true;
	spec.classes = task == LS_REGRESSION ? 0 : task == LS_MULTICLASS ? CLASSES : 2;
	struct ls_fm_opts o =
		ls_fm_defaults((enum ls_fm_kind)kind, task, (enum ls_fm_optimizer)optimizer);
	struct ls_synthetic *made;
	o.classes = task == LS_MULTICLASS ? CLASSES : 1;
	int rc = ls_synthetic_new(&spec, s->plan->ways[0].pool, &made, err);
	if (rc)
		return rc;
	rc = batches_of(s, o, &made->rows, err);
	ls_synthetic_free(made);
	return rc;
}

int ls_val_batches(struct ls_val_session *s, struct ls_err *err)
{
	int rc = 0;
	for (int kind = 0; kind < KINDS; kind++)
		for (int i = 0; i < optimizers(s->plan) && rc == 0; i++)
			rc = one_combination(
				s, kind, s->plan->size.every_optimizer ? i : (int)LS_ADAGRAD, err);
	return rc;
}
