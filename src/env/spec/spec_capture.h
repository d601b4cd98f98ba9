/* This machine as a spec: the facts that are known, as exact expectations. The result is
 * a document that ls_spec_parse reads again and that the same machine matches. The facts
 * are borrowed for the call. No state; any thread. */
#ifndef LS_ENV_SPEC_SPEC_CAPTURE_H
#define LS_ENV_SPEC_SPEC_CAPTURE_H

#include "base/json.h"
#include "env/facts/facts.h"
#include "env/spec/spec.h"

struct ls_capture {
	const char *name;        /* of the new spec */
	const char *date;        /* YYYY-MM-DD */
	const char *description; /* one line */
};

/* New reference. Facts whose value cannot be written as a matcher are left out; their
 * keys go to skipped (a list of texts, new reference), so that the caller can say so. */
json_t *ls_spec_capture(const struct ls_facts *facts, const struct ls_capture *how,
			json_t **ret_skipped);

#endif
