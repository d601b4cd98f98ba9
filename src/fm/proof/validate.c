#include "fm/proof/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "fm/model/batch.h"
#include "fm/proof/validate_internal.h"

enum { KINDS = 3 };

const char *ls_val_part_name(enum ls_val_part part)
{
	static const char *const names[] = {"golden", "scores",  "batches",
					    "twins",  "control", "handover"};
	return names[part];
}

const char *ls_val_state_name(enum ls_val_state state)
{
	static const char *const names[] = {"passed", "differs", "not-run"};
	return names[state];
}

/* --- the golden table --- */

static uint64_t steps_of(const struct ls_fm_opts *o, const struct ls_rows *rows, uint32_t epochs)
{
	return ls_fm_steps_per_epoch(o, rows->n_rows) * epochs;
}

/* scores: of the reference, empty until it has them. */
static void golden_cell(struct ls_val_session *s, size_t way, const struct ls_val_cell *c,
			char scores[LS_SHA256_HEX])
{
	struct ls_trial t = {.opts = &c->opts,
			     .rows = c->rows,
			     .steps = steps_of(&c->opts, c->rows, c->epochs),
			     .predict = true};
	struct ls_trial_result r;
	char *reason = NULL;
	enum ls_val_state state = ls_val_try(s, way, &t, &r, &reason);
	if (state != LS_VAL_PASSED) {
		ls_val_add_failed(s, LS_VAL_GOLDEN, LS_VAL_SCORES, way, c->name, state, reason);
		return;
	}
	ls_val_compare(s, LS_VAL_GOLDEN, way, c->name, c->golden, r.digest);
	if (way == 0)
		memcpy(scores, r.scores, LS_SHA256_HEX);
	else if (*scores)
		ls_val_compare(s, LS_VAL_SCORES, way, c->name, scores, r.scores);
}

int ls_val_golden(struct ls_val_session *s, struct ls_err *err)
{
	const struct ls_val_plan *p = s->plan;
	int rc = 0;
	for (size_t i = 0; i < p->n_golden && rc == 0; i++) {
		char scores[LS_SHA256_HEX] = "";
		for (size_t way = 0; way < p->n_ways && rc == 0; way++) {
			rc = ls_val_turn(s, p->golden[i].name, way, err);
			if (rc == 0)
				golden_cell(s, way, &p->golden[i], scores);
		}
	}
	return rc;
}

/* --- twins --- */

static void twins_of_kind(struct ls_val_session *s, size_t way, enum ls_fm_kind kind)
{
	struct ls_fm_opts o = ls_fm_defaults(kind, LS_BINARY, LS_ADAGRAD);
	struct ls_trial t = {
		.opts = &o, .rows = s->plan->small, .steps = steps_of(&o, s->plan->small, 2)};
	struct ls_trial_result r[3];
	const char *cell = ls_fm_kind_name(kind);
	for (int i = 0; i < 3; i++) {
		char *reason = NULL;
		o.seed += i == 2;
		enum ls_val_state state = ls_val_try(s, way, &t, &r[i], &reason);
		if (state != LS_VAL_PASSED) {
			ls_val_add_failed(s, LS_VAL_TWINS, LS_VAL_CONTROL, way, cell, state,
					  reason);
			return;
		}
	}
	ls_val_compare(s, LS_VAL_TWINS, way, cell, r[0].digest, r[1].digest);
	ls_val_compare(s, LS_VAL_CONTROL, way, cell, r[0].digest, r[2].digest);
}

int ls_val_twins(struct ls_val_session *s, struct ls_err *err)
{
	int rc = 0;
	for (size_t way = 0; way < s->plan->n_ways; way++)
		for (int kind = 0; kind < KINDS && rc == 0 && s->plan->ways[way].main; kind++) {
			rc = ls_val_turn(s, "twin runs", way, err);
			if (rc == 0)
				twins_of_kind(s, way, (enum ls_fm_kind)kind);
		}
	return rc;
}

/* --- the whole --- */

int ls_val_run(const struct ls_val_plan *plan, struct ls_val **ret, struct ls_err *err)
{
	static int (*const parts[])(struct ls_val_session *, struct ls_err *) = {
		ls_val_golden, ls_val_batches, ls_val_twins, ls_val_handover};
	struct ls_val_session s = {.plan = plan, .v = ls_xalloc(sizeof *s.v)};
	double from = ls_clock();
	int rc = 0;
	s.dead = ls_xalloc((plan->n_ways + 1) * sizeof *s.dead);
	for (size_t i = 0; i < plan->n_ways; i++)
		s.dead[i] = plan->ways[i].absent ? ls_xstrdup(plan->ways[i].absent) : NULL;
	s.total = plan->n_golden * plan->n_ways + ls_val_batch_count(plan) +
		  KINDS * ls_val_mains(plan) + ls_val_handover_count(plan);
	for (size_t i = 0; i < sizeof parts / sizeof *parts && rc == 0; i++)
		rc = parts[i](&s, err);
	s.v->seconds = ls_clock() - from;
	for (size_t i = 0; i < plan->n_ways; i++)
		free(s.dead[i]);
	free(s.dead);
	if (rc == 0)
		*ret = s.v;
	else
		ls_val_free(s.v);
	return rc;
}

void ls_val_free(struct ls_val *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->n_checks; i++) {
		free(v->checks[i].cell);
		free(v->checks[i].reason);
	}
	free(v->checks);
	free(v);
}

enum ls_val_state ls_val_verdict(const struct ls_val *v)
{
	bool incomplete = v->n_checks == 0;
	for (size_t i = 0; i < v->n_checks; i++) {
		if (v->checks[i].state == LS_VAL_DIFFERS)
			return LS_VAL_DIFFERS;
		incomplete |= v->checks[i].state == LS_VAL_NOT_RUN;
	}
	return incomplete ? LS_VAL_NOT_RUN : LS_VAL_PASSED;
}
