/* One look at the machine, shared by the files that gather facts (fact_*.c). Internal to src/env.
 * The look borrows the request and the facts and owns what it found on the way. One thread at a
 * time an object. */
#ifndef LS_ENV_GATHER_LOOK_H
#define LS_ENV_GATHER_LOOK_H

#include "base/err.h"
#include "env/facts/facts.h"
#include "env/gather/gather.h"
#include "env/python/interp.h"

struct ls_look {
	const struct ls_gather *how;
	const char *root;
	struct ls_facts *facts;
	struct ls_interp *python; /* NULL: none found */
	struct ls_err no_python;  /* and why */
	char *torch_dir;          /* folder of the torch package, or NULL */
};

const char *ls_look_env(const struct ls_look *look, const char *name); /* NULL when it is not set */

void ls_look_system(struct ls_look *look);    /* os, kernel, glibc, cpu, ram */
void ls_look_container(struct ls_look *look); /* container, image, container_toolkit */
void ls_look_driver(struct ls_look *look);    /* driver*, gpu* */
void ls_look_toolkit(struct ls_look *look);   /* cuda, cuda_version_txt, nvcc */
void ls_look_libraries(struct ls_look *look); /* lib.*: what the loader would take */
void ls_look_python(struct ls_look *look);    /* python*, torch*, package.* */
void ls_look_bundled(struct ls_look *look); /* bundled.*, cudnn, nccl; after libraries and python */
void ls_look_variables(struct ls_look *look); /* env.* */
void ls_look_deep(struct ls_look *look);      /* deep.*: starts Python */

/* Version in a Debian package database ("1.17.8-1" as it stands there), or NULL; caller frees. */
char *ls_look_dpkg(const struct ls_look *look, const char *package);

#endif
