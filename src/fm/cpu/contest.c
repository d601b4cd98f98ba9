#include "fm/cpu/contest.h"

bool ls_contest_init(struct ls_contest *c, const char *name)
{
	*c = (struct ls_contest){0};
	c->n = ls_kern_rivals(name, c->rival);
	return c->n > 0;
}

bool ls_contest_is_open(const struct ls_contest *c)
{
	return c->n > 1 && c->turns < c->n * LS_CONTEST_TURNS;
}

const struct ls_kern *ls_contest_kern(const struct ls_contest *c)
{
	uint32_t quickest = 0;
	if (ls_contest_is_open(c))
		return c->rival[c->turns % c->n];
	for (uint32_t i = 1; i < c->n; i++)
		quickest = c->best[i] < c->best[quickest] ? i : quickest;
	return c->rival[quickest];
}

void ls_contest_did(struct ls_contest *c, uint64_t units, double seconds)
{
	if (!ls_contest_is_open(c) || !units)
		return;
	double each = seconds / (double)units, *best = &c->best[c->turns++ % c->n];
	*best = *best == 0.0 || each < *best ? each : *best;
}
