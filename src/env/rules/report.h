/* Doctor's report: facts, findings and verdict as one JSON document (docs/FORMATS.md,
 * "Doctor report"). Arguments are borrowed; the result is a new reference. Any thread. */
#ifndef LS_ENV_RULES_REPORT_H
#define LS_ENV_RULES_REPORT_H

#include <stdbool.h>

#include "base/json.h"
#include "env/facts/facts.h"
#include "env/rules/findings.h"

struct ls_report {
	const struct ls_facts *facts;
	const struct ls_findings *findings;
	const struct ls_spec *spec; /* or NULL */
	bool cuda, deep;            /* what was asked for */
	const char *created;        /* "2026-11-15T02:00:00Z" */
};

json_t *ls_report_json(const struct ls_report *report);

#endif
