/* Doctor's report: facts, findings and verdict as one JSON document (docs/FORMATS.md,
 * "Doctor report"). Arguments are borrowed; the result is a new reference. Any thread. */
#ifndef LS_ENV_RULES_REPORT_H
#define LS_ENV_RULES_REPORT_H

#include <stdbool.h>

#include "base/json.h"
#include "env/facts/advice.h"
#include "env/facts/facts.h"
#include "env/facts/gpu_catalog.h"
#include "env/rules/findings.h"

struct ls_report {
	const struct ls_facts *facts;
	const struct ls_findings *findings;
	const struct ls_spec *spec; /* or NULL */
	bool cuda, deep;            /* what was asked for */
	const char *created;        /* "2026-11-15T02:00:00Z" */
	const struct ls_gpu_catalog *catalog;
	const struct ls_advice *advice;
	const char *symptom; /* that advice was asked for, or NULL */
};

/* The batch sizes to begin with on the i-th GPU; NULL: its memory is unknown or too
 * small. */
const struct ls_batch_range *ls_report_batch(const struct ls_report *report, size_t i);

json_t *ls_report_json(const struct ls_report *report);

#endif
