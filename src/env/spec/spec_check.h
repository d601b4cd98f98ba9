/* Is a spec consistent in itself, does what it names exist, is it supported and not past
 * its end of life? Findings own their texts; ls_spec_findings_done frees them. The spec
 * and the tables are borrowed for the call. No state; any thread. */
#ifndef LS_ENV_SPEC_SPEC_CHECK_H
#define LS_ENV_SPEC_SPEC_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "env/spec/compat.h"
#include "env/spec/spec.h"

enum ls_finding_kind {
	LS_FINDING_INCONSISTENT, /* two parts of the spec cannot both hold */
	LS_FINDING_MISSING,      /* names something that was never released */
	LS_FINDING_ENDED,        /* past its end of life */
	LS_FINDING_NOTE          /* worth knowing; does not make the answer no */
};

struct ls_spec_finding {
	enum ls_finding_kind kind;
	char *key;    /* the spec's member: "torch", "image" */
	char *text;   /* what is wrong */
	char *advice; /* what to do, or NULL */
	char *source; /* where that is known from, or NULL */
};

struct ls_spec_findings {
	struct ls_spec_finding *items;
	size_t n, cap;
	size_t faults; /* those that are not notes */
};

/* today: YYYY-MM-DD, the day against which ends of life are judged. */
void ls_spec_check(const struct ls_spec *spec, const struct ls_compat *compat, const char *today,
		   struct ls_spec_findings *ret);
void ls_spec_findings_done(struct ls_spec_findings *f);
const char *
ls_finding_kind_name(enum ls_finding_kind kind); /* "inconsistent", "missing", "ended", "note" */
json_t *ls_spec_findings_json(const struct ls_spec_findings *f); /* new reference: a list */

#endif
