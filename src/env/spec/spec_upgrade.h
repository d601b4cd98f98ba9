/* The newest set of driver, CUDA, torch, image and Python for a GPU of which the tables
 * know that all parts fit and that none has ended. The upgrade owns its texts and the new
 * document (ls_spec_upgrade_done); spec and tables are borrowed for the call. No state;
 * any thread. */
#ifndef LS_ENV_SPEC_SPEC_UPGRADE_H
#define LS_ENV_SPEC_SPEC_UPGRADE_H

#include "env/spec/compat.h"
#include "env/spec/spec.h"

/* One line of the answer; ends are dates, or NULL where none is published. */
struct ls_upgrade_part {
	const char *key;      /* "driver", "cuda", "torch", "image", "python", … */
	char *now, *now_ends; /* NULL: the spec does not name it */
	char *next, *next_ends;
};

struct ls_upgrade_how {
	const char *today;      /* YYYY-MM-DD */
	const char *capability; /* the GPU's ("7.5"), instead of those that the spec names; or
				   NULL */
};

enum { LS_UPGRADE_PARTS = 16 };

struct ls_upgrade {
	json_t *doc; /* the spec with its pins moved; NULL: no set is known to fit */
	struct ls_upgrade_part parts[LS_UPGRADE_PARTS];
	size_t n_parts;
	json_t *passed;  /* list of {"torch", "why"}: newer or fitting wheels not taken */
	json_t *by_hand; /* list of texts: what the caller has to look at */
};

/* The lowest compute capability that the spec asks for, or NULL: it names none. */
const char *ls_spec_upgrade_capability(const struct ls_spec *spec, const struct ls_compat *compat);

void ls_spec_upgrade(const struct ls_spec *spec, const struct ls_compat *compat,
		     const struct ls_upgrade_how *how, struct ls_upgrade *ret);
void ls_spec_upgrade_done(struct ls_upgrade *u);
void ls_spec_upgrade_text(const struct ls_upgrade *u, struct ls_str *out);
json_t *ls_spec_upgrade_json(const struct ls_upgrade *u); /* new reference */

#endif
