/* Two specs compared: what changed, what is new, what is gone, what stayed within the old
 * one's expectation. Items own nothing: they borrow from the two specs, which must
 * outlive the diff. ls_spec_diff_done frees the list. No state; any thread. */
#ifndef LS_ENV_SPEC_SPEC_DIFF_H
#define LS_ENV_SPEC_SPEC_DIFF_H

#include <stddef.h>

#include "base/str.h"
#include "env/spec/spec.h"

enum ls_drift {
	LS_DRIFT_SAME,    /* written the same */
	LS_DRIFT_WITHIN,  /* the new value is one that the old spec accepts: no drift */
	LS_DRIFT_CHANGED, /* drift */
	LS_DRIFT_ADDED,  /* drift, unless the new one is a capture, which lists more than a pin does
			  */
	LS_DRIFT_GONE,   /* drift: the new one lacks it, or a capture found it absent */
	LS_DRIFT_UNKNOWN /* the capture could not tell */
};

struct ls_drift_item {
	const char *key;
	enum ls_drift what;
	const char *old_text, *new_text; /* NULL where there is none */
	enum ls_level level;             /* of the old one, or of the new where there is no old */
	enum ls_level new_level;         /* of the new one, or the same */
	bool drifted;
	bool open; /* required and unknown, though it can be seen without a GPU */
};

struct ls_spec_diff {
	const struct ls_spec *old_spec, *new_spec;
	struct ls_drift_item *items;
	size_t n, cap;
	size_t drifted, open;
	size_t judged; /* items that are not unknown */
};

/* Drift, no drift, or, where something is open or nothing was judged, neither. */
enum ls_drift_answer { LS_NO_DRIFT, LS_DRIFTED, LS_DRIFT_OPEN };
enum ls_drift_answer ls_spec_diff_answer(const struct ls_spec_diff *d);

void ls_spec_diff(const struct ls_spec *old_spec, const struct ls_spec *new_spec,
		  struct ls_spec_diff *ret);
void ls_spec_diff_done(struct ls_spec_diff *d);
const char *
ls_drift_name(enum ls_drift what); /* "same", "within", "changed", "added", "gone", "unknown" */

void ls_spec_diff_text(const struct ls_spec_diff *d, struct ls_str *out);
void ls_spec_diff_markdown(const struct ls_spec_diff *d,
			   struct ls_str *out);          /* a pull-request body or an alert */
json_t *ls_spec_diff_json(const struct ls_spec_diff *d); /* new reference */

#endif
