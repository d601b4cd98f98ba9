/* One finding more. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "plan/findings.h"

void ls_plan_say(struct ls_plan *p, enum ls_risk risk, const char *what, const char *fmt, ...)
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

const char *ls_risk_name(enum ls_risk risk)
{
	static const char *const names[] = {"high", "medium", "low", "none"};
	return names[risk];
}
