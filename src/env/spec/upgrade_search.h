/* The search behind spec_upgrade: which torch, driver branch, image and Python. For that
 * file only. Rows are borrowed from the tables. One thread. */
#ifndef LS_ENV_SPEC_UPGRADE_SEARCH_H
#define LS_ENV_SPEC_UPGRADE_SEARCH_H

#include "env/spec/compat.h"
#include "env/spec/spec.h"
#include "env/spec/spec_image.h"
#include "env/spec/spec_upgrade.h"

/* What is looked for, and what was found. */
struct ls_upgrade_search {
	const struct ls_spec *spec;
	const struct ls_compat *compat;
	const char *today, *capability, *machine;
	struct ls_image_ref image;                 /* of the spec */
	const json_t *torch, *branch, *cuda_image; /* rows of the answer, or NULL */
	char python[24];                           /* "3.12", or "" */
	struct ls_upgrade *out;                    /* its list of what was passed over grows */
};

/* Sets torch, branch, cuda_image and python, or leaves torch NULL. */
void ls_upgrade_choose(struct ls_upgrade_search *s);
/* For a spec without CUDA: the Python alone. False: none is known to be maintained. */
bool ls_upgrade_choose_python(const struct ls_upgrade_search *s, const json_t *torch, char ret[24]);
const char *ls_upgrade_driver(const struct ls_upgrade_search *s); /* the oldest that will do */
const json_t *ls_upgrade_pair(const struct ls_upgrade_search *s); /* torch's companions, or NULL */

/* Has the row's end not come? */
bool ls_upgrade_alive(const json_t *row, const char *today);
/* False also where one of them is NULL or no version. */
bool ls_upgrade_at_least(const char *version, const char *low);

#endif
