/* Environment variables that change numerics: what each does and whether a value is the
 * deterministic one. Constant data, borrowed for ever; any thread. */
#ifndef LS_ENV_FACTS_VARS_H
#define LS_ENV_FACTS_VARS_H

#include <stdbool.h>

enum ls_verdict {
	LS_VAR_DETERMINISTIC, /* as it should be for repeatable results */
	LS_VAR_FREE,          /* leaves results to chance, or changes the arithmetic */
	LS_VAR_RECORDED, /* changes what runs, not what comes out, or a choice that is only to be
			    written down */
};

struct ls_var {
	const char *name;
	const char *wanted; /* the deterministic state, for people: ":4096:8 or :16:8", "not set or
			       0"; NULL: any */
	const char *why;    /* what the variable does */
};

extern const struct ls_var ls_vars[]; /* ends with a NULL name */

/* value NULL: not set. name must be one of the table's. */
enum ls_verdict ls_var_judge(const char *name, const char *value);
const char *ls_verdict_text(enum ls_verdict v);

#endif
