/* One look at the machine, shared by the files that gather facts (fact_*.c). Internal to
 * src/env. The look borrows the request and the facts and owns what it found on the way.
 * One thread at a time an object. */
#ifndef LS_ENV_GATHER_LOOK_H
#define LS_ENV_GATHER_LOOK_H

#include "base/err.h"
#include "env/facts/facts.h"
#include "env/gather/gather.h"
#include "env/python/dists.h"
#include "env/python/interp.h"

struct ls_look {
	const struct ls_gather *how;
	const char *root;
	struct ls_facts *facts;
	struct ls_interp *python; /* NULL: none found */
	struct ls_err no_python;  /* and why */
	struct ls_dists *dists;   /* what is installed in it; NULL without a Python */
	char *torch_dir;          /* folder of the torch package, or NULL */
};

void ls_look_system(struct ls_look *look);       /* os, kernel, glibc, cpu, ram */
void ls_look_container(struct ls_look *look);    /* container, image, container_toolkit */
void ls_look_driver(struct ls_look *look);       /* driver*, gpu* */
void ls_look_visible(struct ls_look *look);      /* gpu_visible; after the driver */
void ls_look_toolkit(struct ls_look *look);      /* cuda, cuda_version_txt, nvcc */
void ls_look_libraries(struct ls_look *look);    /* lib.*: what the loader would take */
void ls_look_python(struct ls_look *look);       /* python*, torch*, package.* */
void ls_look_requirements(struct ls_look *look); /* requires.*: what torch's metadata ask for */
/* bundled.*, torch_lib.*, torch_missing, cudnn, nccl; after libraries and python */
void ls_look_bundled(struct ls_look *look);
void ls_look_variables(struct ls_look *look); /* env.* */
void ls_look_deep(struct ls_look *look);      /* deep.*: starts Python */

/* The fact of a distribution that is there twice in one folder: unknown, with both
 * versions. */
void ls_look_rival(struct ls_look *look, const char *key, const struct ls_dist *dist);
/* Version in a Debian package database ("1.17.8-1" as it stands there), or NULL; caller
 * frees. */
char *ls_look_dpkg(const struct ls_look *look, const char *package);

#endif
