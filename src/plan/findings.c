#include "plan/findings.h"

/* By insertion, which keeps the order of equals: qsort need not. */
static void sort(struct ls_plan *p)
{
	for (size_t i = 1; i < p->n_findings; i++) {
		struct ls_plan_finding moved = p->findings[i];
		size_t k = i;
		for (; k > 0 && p->findings[k - 1].risk > moved.risk; k--)
			p->findings[k] = p->findings[k - 1];
		p->findings[k] = moved;
	}
}

void ls_plan_find(const struct ls_plan_ask *ask, struct ls_plan *p)
{
	ls_plan_find_batch(ask, p);
	ls_plan_find_hardware(ask, p);
	ls_plan_find_data(ask, p);
	sort(p);
}
