/* Through real files: a training begun on one device, resumed on another and ended on the
 * first; and the scores of a model that comes from its file, on every device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "fm/data/data.h"
#include "fm/model/batch.h"
#include "fm/model/save.h"
#include "fm/proof/validate_internal.h"

enum { KINDS = 3, EPOCHS = 2, BATCH = 96 };

/* One stretch of the training, on one way. */
struct leg {
	const struct ls_val_way *way;
	uint64_t stop_at; /* a step; past the end: runs to it */
	volatile sig_atomic_t stop;
};

static int make_engine(void *context, struct ls_fm_model *m, const struct ls_rows *rows,
		       struct ls_pool *pool, struct ls_engine *ret, struct ls_err *err)
{
	const struct leg *leg = context;
	return leg->way->make_engine(leg->way->context, m, rows, pool, ret, err);
}

static int tell(void *context, const struct ls_train_event *e)
{
	struct leg *leg = context;
	if (e->step >= leg->stop_at)
		leg->stop = 1;
	return 0;
}

/* All that the legs of one training share. */
struct journey {
	struct ls_fm_opts opts;
	const struct ls_rows *rows;
	uint64_t third; /* steps between two changes */
	char data_digest[LS_SHA256_HEX];
	char *output, *checkpoint;
};

static int travel(const struct journey *j, const struct ls_val_way *way, uint64_t stop_at,
		  bool resume, struct ls_err *err)
{
	struct leg leg = {.way = way, .stop_at = stop_at};
	struct ls_train t = {.opts = j->opts,
			     .rows = j->rows,
			     .data_digest = j->data_digest,
			     .epochs = EPOCHS,
			     .metric = ls_metric_default(LS_BINARY),
			     .output = j->output,
			     .checkpoint = j->checkpoint,
			     .checkpoint_every = j->third,
			     .resume = resume,
			     .pool = way->pool,
			     .make_engine = make_engine,
			     .tell = tell,
			     .context = &leg,
			     .stop = &leg.stop};
	struct ls_train_result result;
	int rc = ls_fm_train(&t, &result, err);
	return rc == LS_EINTR && leg.stop ? 0 : rc; /* it stopped at the step that was given */
}

/* The digest of the file after the trip there and back. *ret_on_b: whether b failed. */
static int whole(const struct journey *j, const struct ls_val_way *a, const struct ls_val_way *b,
		 char ret[LS_SHA256_HEX], bool *ret_on_b, struct ls_err *err)
{
	*ret_on_b = false;
	int rc = travel(j, a, a == b ? UINT64_MAX : j->third, false, err);
	if (rc == 0 && a != b) {
		*ret_on_b = true;
		rc = travel(j, b, 2 * j->third, true, err);
	}
	if (rc == 0 && a != b) {
		*ret_on_b = false;
		rc = travel(j, a, UINT64_MAX, true, err);
	}
	return rc ? rc : ls_sha256_file(j->output, ret, err);
}

static void remove_files(const struct journey *j)
{
	unlink(j->output);
	unlink(j->checkpoint);
}

/* What came out of a way's turn; culprit: whose failure rc would be. */
static void take_result(struct ls_val_session *s, enum ls_val_part part, size_t way, size_t culprit,
			const char *cell, int rc, const struct ls_err *err, const char *expected,
			const char *got)
{
	char *reason = NULL;
	enum ls_val_state state = ls_val_judge(s, culprit, rc, err, &reason);
	if (state == LS_VAL_PASSED)
		ls_val_compare(s, part, way, cell, expected, got);
	else
		ls_val_add_take(s, part, way, cell, state, expected, NULL, reason);
}

static bool is_dead(struct ls_val_session *s, enum ls_val_part part, size_t way, const char *cell,
		    const char *expected)
{
	if (s->dead[way])
		ls_val_add_take(s, part, way, cell, LS_VAL_NOT_RUN, expected, NULL,
				ls_xstrdup(s->dead[way]));
	return s->dead[way];
}

/* Between the reference and a way: from (0) reference to way and back, or (1) from way to
 * reference and back. */
static void exchange(struct ls_val_session *s, const struct journey *j, size_t way, int direction,
		     const char *expected)
{
	const struct ls_val_way *reference = &s->plan->ways[0], *other = &s->plan->ways[way];
	const struct ls_val_way *a = direction ? other : reference,
				*b = direction ? reference : other;
	char got[LS_SHA256_HEX];
	char *cell = ls_xasprintf("%s, %s → %s → %s", ls_fm_kind_name(j->opts.kind), a->name,
				  b->name, a->name);
	struct ls_err err = {0};
	bool on_b;
	if (!is_dead(s, LS_VAL_HANDOVER, way, cell, expected)) {
		int rc = whole(j, a, b, got, &on_b, &err);
		remove_files(j);
		take_result(s, LS_VAL_HANDOVER, way, on_b == (direction == 0) ? way : 0, cell, rc,
			    &err, expected, got);
	}
	free(cell);
}

/* Of the training's model, by an engine that only predicts. */
static int scores_of_file(const struct journey *j, const struct ls_val_way *way,
			  char ret[LS_SHA256_HEX], struct ls_err *err)
{
	struct ls_fm_model *m = NULL;
	struct ls_engine e = {0};
	int rc = ls_fm_load_model(j->output, ls_pool_threads(way->pool), &m, err);
	if (rc == 0)
		rc = way->make_engine(way->context, m, NULL, way->pool, &e, err);
	if (rc == 0)
		rc = ls_trial_scores(&e, j->rows, m->outputs, 0, ret, err);
	if (e.free)
		e.free(e.state);
	ls_fm_model_free(m);
	return rc;
}

static void file_on_way(struct ls_val_session *s, const struct journey *j, size_t way,
			const char *expected)
{
	char got[LS_SHA256_HEX],
		*cell = ls_xasprintf("%s, from its file", ls_fm_kind_name(j->opts.kind));
	struct ls_err err = {0};
	if (!is_dead(s, LS_VAL_SCORES, way, cell, expected)) {
		int rc = scores_of_file(j, &s->plan->ways[way], got, &err);
		take_result(s, LS_VAL_SCORES, way, way, cell, rc, &err, expected, got);
	}
	free(cell);
}

/* As the reference scores from memory, right after the same training. */
static int files_of_kind(struct ls_val_session *s, const struct journey *j, struct ls_err *err)
{
	const struct ls_val_plan *p = s->plan;
	const struct ls_val_way *reference = &p->ways[0];
	struct ls_trial t = {.opts = &j->opts,
			     .rows = j->rows,
			     .steps = ls_fm_steps_per_epoch(&j->opts, j->rows->n_rows) * EPOCHS,
			     .predict = true,
			     .pool = reference->pool,
			     .make_engine = reference->make_engine,
			     .context = reference->context};
	struct ls_trial_result memory;
	int rc = ls_trial_run(&t, &memory, err);
	for (size_t way = 0; way < p->n_ways && rc == 0; way++) {
		if (!p->ways[way].main)
			continue;
		rc = ls_val_turn(s, "scores from a file", way, err);
		if (rc == 0)
			file_on_way(s, j, way, memory.scores);
	}
	return rc;
}

static int exchanges_of_kind(struct ls_val_session *s, struct journey *j, struct ls_err *err)
{
	const struct ls_val_plan *p = s->plan;
	char expected[LS_SHA256_HEX];
	bool on_b;
	int rc = whole(j, &p->ways[0], &p->ways[0], expected, &on_b, err);
	if (rc == 0)
		rc = files_of_kind(s, j, err);
	remove_files(j);
	if (rc)
		/* the reference cannot train, or the folder cannot be written: nothing to
		 * compare with */
		return rc;
	for (size_t way = 1; way < p->n_ways; way++)
		for (int direction = 0; direction < 2 && rc == 0 && p->ways[way].main;
		     direction++) {
			rc = ls_val_turn(s, "stopped and resumed", way, err);
			if (rc == 0)
				exchange(s, j, way, direction, expected);
		}
	return rc;
}

size_t ls_val_handover_count(const struct ls_val_plan *p)
{
	return KINDS * (2 * (ls_val_mains(p) - 1) + ls_val_mains(p));
}

int ls_val_handover(struct ls_val_session *s, struct ls_err *err)
{
	const struct ls_val_plan *p = s->plan;
	struct journey j = {.rows = p->small,
			    .output = ls_xasprintf("%s/model", p->scratch),
			    .checkpoint = ls_xasprintf("%s/checkpoint", p->scratch)};
	int rc = 0;
	ls_rows_digest(p->small, ls_pool_threads(p->ways[0].pool), j.data_digest);
	for (int kind = 0; kind < KINDS && rc == 0; kind++) {
		j.opts = ls_fm_defaults((enum ls_fm_kind)kind, LS_BINARY, LS_ADAM);
		j.opts.batch = BATCH;
		if (kind == LS_FFM)
			j.opts.factors--; /* padding */
		j.third = ls_fm_steps_per_epoch(&j.opts, p->small->n_rows) * EPOCHS / 3;
		rc = exchanges_of_kind(s, &j, err);
	}
	free(j.output);
	free(j.checkpoint);
	return rc;
}
