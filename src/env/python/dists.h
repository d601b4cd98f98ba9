/* The distributions installed in an interpreter's site folders, as importlib.metadata
 * would list them: *.dist-info and *.egg-info. The index owns its texts until
 * ls_dists_free (NULL is fine). Read-only once made; any thread. */
#ifndef LS_ENV_PYTHON_DISTS_H
#define LS_ENV_PYTHON_DISTS_H

#include <stddef.h>

#include "env/python/site.h"

struct ls_dist {
	char *name; /* normalised: lower case, dashes */
	char *version;
	char *source; /* the file that says the version */
	size_t site;  /* index of its folder */
	size_t order; /* position among all that were found */
	char *rival;  /* another version of the same name in the same folder, or NULL */
	char *rival_source;
};

struct ls_dists {
	struct ls_dist *items; /* sorted by name; one for each name: that of the first folder */
	size_t n, cap;
};

struct ls_dists *ls_dists_read(const char *root, const struct ls_sites *sites);
void ls_dists_free(struct ls_dists *dists);
/* By normalised name; NULL when no folder has it. */
const struct ls_dist *ls_dists_find(const struct ls_dists *dists, const char *name);

#endif
