/* What the parts of a validation share: turns, single trainings and the list of
 * checks. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "fm/proof/validate_internal.h"

size_t ls_val_mains(const struct ls_val_plan *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_ways; i++)
		n += p->ways[i].main;
	return n;
}

bool ls_val_has_gpu(const struct ls_val_plan *p)
{
	for (size_t i = 0; i < p->n_ways; i++)
		if (p->ways[i].gpu && !p->ways[i].absent)
			return true;
	return false;
}

int ls_val_turn(struct ls_val_session *s, const char *cell, size_t way, struct ls_err *err)
{
	const struct ls_val_plan *p = s->plan;
	if (p->stop && *p->stop)
		return ls_err_set(err, LS_EINTR, "stopped; nothing is kept");
	char what[256];
	snprintf(what, sizeof what, "%s: %s", p->ways[way].name, cell);
	if (p->tell)
		p->tell(p->context, s->done, s->total, what);
	s->done++;
	return 0;
}

enum ls_val_state ls_val_judge(struct ls_val_session *s, size_t way, int rc,
			       const struct ls_err *err, char **ret_reason)
{
	if (rc == 0)
		return LS_VAL_PASSED;
	*ret_reason = ls_xstrdup(err->msg);
	if (rc == LS_EUNKNOWN && !s->dead[way])
		s->dead[way] = ls_xstrdup(err->msg);
	return rc == LS_EDIFFER ? LS_VAL_DIFFERS : LS_VAL_NOT_RUN;
}

enum ls_val_state ls_val_try(struct ls_val_session *s, size_t way, struct ls_trial *t,
			     struct ls_trial_result *ret, char **ret_reason)
{
	const struct ls_val_way *w = &s->plan->ways[way];
	struct ls_err err = {0};
	if (s->dead[way]) {
		*ret_reason = ls_xstrdup(s->dead[way]);
		return LS_VAL_NOT_RUN;
	}
	t->pool = w->pool;
	t->make_engine = w->make_engine;
	t->context = w->context;
	int rc = ls_trial_run(t, ret, &err);
	return ls_val_judge(s, way, rc, &err, ret_reason);
}

void ls_val_add_take(struct ls_val_session *s, enum ls_val_part part, size_t way, const char *cell,
		     enum ls_val_state state, const char *expected, const char *got, char *reason)
{
	struct ls_val *v = s->v;
	v->checks = ls_grow(v->checks, v->n_checks, &v->cap_checks, sizeof *v->checks);
	struct ls_val_check *c = &v->checks[v->n_checks++];
	*c = (struct ls_val_check){.part = part,
				   .way = way,
				   .cell = ls_xstrdup(cell),
				   .state = state,
				   .reason = reason};
	if (expected)
		snprintf(c->expected, sizeof c->expected, "%s", expected);
	if (got)
		snprintf(c->got, sizeof c->got, "%s", got);
}

void ls_val_add_failed(struct ls_val_session *s, enum ls_val_part part, enum ls_val_part also,
		       size_t way, const char *cell, enum ls_val_state state, char *reason_take)
{
	ls_val_add_take(s, also, way, cell, LS_VAL_NOT_RUN, NULL, NULL, ls_xstrdup(reason_take));
	ls_val_add_take(s, part, way, cell, state, NULL, NULL, reason_take);
}

void ls_val_compare(struct ls_val_session *s, enum ls_val_part part, size_t way, const char *cell,
		    const char *expected, const char *got)
{
	bool same = strcmp(expected, got) == 0, wanted = part != LS_VAL_CONTROL;
	char *reason = NULL;
	if (same != wanted)
		reason = wanted ? ls_xasprintf("%.12s…, expected %.12s…", got, expected)
				: ls_xasprintf("another seed gives the same digest %.12s…", got);
	ls_val_add_take(s, part, way, cell, same == wanted ? LS_VAL_PASSED : LS_VAL_DIFFERS,
			expected, got, reason);
}
