/* Site folders of an interpreter: which there are, and what distributions lie in them. Part of
 * interp.h's module. The interpreter owns what is collected. One thread at a time an object. */
#ifndef LS_ENV_PYTHON_SITE_H
#define LS_ENV_PYTHON_SITE_H

#include "env/python/interp.h"

/* Fills py->sites in the order of sys.path: PYTHONPATH, the venv, the user's, the installation's,
 * each with its .pth.
 */
void ls_site_collect(const char *root, const char *const *env, struct ls_interp *py, bool venv,
		     bool system_site);

#endif
