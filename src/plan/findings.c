#include "plan/findings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void __attribute__((format(printf, 4, 5)))
say(struct ls_plan *p, enum ls_risk risk, const char *what, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		ls_no_memory();
	va_end(ap);
	p->findings = ls_grow(p->findings, p->n_findings, &p->cap_findings, sizeof *p->findings);
	p->findings[p->n_findings++] = (struct ls_plan_finding){risk, what, text};
}

static double percent(uint64_t now, uint64_t was)
{
	return ((double)now / (double)was - 1) * 100;
}

/* What would happen to the global batch if nothing but the GPUs changed. */
static void find_unchanged(struct ls_plan *p)
{
	const struct ls_plan_layout *was = &p->baseline.layout, *now = &p->unchanged.layout;
	if (p->unchanged.same_global)
		return;
	say(p, LS_RISK_HIGH, "unchanged_batch",
	    "with %" PRIu64 " a GPU as before, the global batch would be %" PRIu64
	    " and not %" PRIu64
	    " (%+.1f %%): another noise of the gradient, and another training; change the batch "
	    "size or the accumulation with the GPUs",
	    was->batch, now->global, was->global, percent(now->global, was->global));
}

static void find_epochs(struct ls_plan *p)
{
	const struct ls_plan_schedule *was = &p->baseline.schedule, *now = &p->unchanged.schedule;
	if (!was->steps_per_epoch || was->steps_per_epoch == now->steps_per_epoch)
		return;
	say(p, LS_RISK_HIGH, "unchanged_schedule",
	    "with that batch an epoch would have %" PRIu64 " steps and not %" PRIu64
	    ": whatever is counted in epochs (warm-up, decay, evaluation) would move; count in "
	    "optimizer steps",
	    now->steps_per_epoch, was->steps_per_epoch);
}

static void find_inexact(struct ls_plan *p)
{
	const struct ls_plan_layout *was = &p->baseline.layout, *now = &p->options[0].layout;
	char text[LS_PLAN_LAYOUT_TEXT];
	if (p->exact)
		return;
	ls_plan_layout_text(now, text);
	say(p, LS_RISK_HIGH, "global_batch",
	    "%" PRIu64 " GPUs cannot share a global batch of %" PRIu64
	    "; the nearest is %s (%+.2f %%), which is another training: results are not comparable "
	    "without several seeds on both sides",
	    now->ranks, was->global, text, percent(now->global, was->global));
	if (!p->fewer)
		return;
	ls_plan_layout_text(&p->fewer->layout, text);
	say(p, LS_RISK_NONE, "fewer_gpus", "on fewer GPUs the global batch stays: %s", text);
}

static void find_steps(struct ls_plan *p)
{
	const struct ls_plan_option *o = &p->options[0];
	if (o->same_steps || !o->same_global)
		return;
	say(p, LS_RISK_MEDIUM, "steps_per_epoch",
	    "the global batch stays, but an epoch has %" PRIu64 " steps and not %" PRIu64
	    ", because drop_last leaves out other samples: end by optimizer steps, not by epochs",
	    o->layout.steps_per_epoch, p->baseline.layout.steps_per_epoch);
}

static int by_risk(const void *a, const void *b)
{
	const struct ls_plan_finding *x = a, *y = b;
	return (x->risk > y->risk) - (x->risk < y->risk);
}

/* qsort may change the order of equals; few findings need nothing quicker than insertion. */
static void sort_findings(struct ls_plan *p)
{
	for (size_t i = 1; i < p->n_findings; i++) {
		struct ls_plan_finding moved = p->findings[i];
		size_t k = i;
		for (; k > 0 && by_risk(&p->findings[k - 1], &moved) > 0; k--)
			p->findings[k] = p->findings[k - 1];
		p->findings[k] = moved;
	}
}

void ls_plan_find(const struct ls_plan_ask *ask, struct ls_plan *p)
{
	(void)ask;
	find_inexact(p);
	find_steps(p);
	find_unchanged(p);
	find_epochs(p);
	sort_findings(p);
}
