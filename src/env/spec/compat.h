/* What is known about the stack: which torch wheels exist and what they bring, which
 * driver runs which CUDA, what has reached its end of life. Read from data/ (each row
 * with source and date), which travels inside the program. ls_compat_free frees all; rows
 * and texts are borrowed until then. Read-only after loading; any thread. */
#ifndef LS_ENV_SPEC_COMPAT_H
#define LS_ENV_SPEC_COMPAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

enum ls_compat_table {
	LS_COMPAT_TORCH,    /* torch, build, cuda, cudnn, python_min, python_max, arch_x86_64,
			       arch_aarch64, default */
	LS_COMPAT_PAIRS,    /* torch, torchvision, torchaudio */
	LS_COMPAT_CUDA,     /* cuda, driver_min, driver_shipped */
	LS_COMPAT_BRANCHES, /* branch, kind, eol, eol_is_latest */
	LS_COMPAT_IMAGES,   /* image, cuda, tags, branch */
	LS_COMPAT_PYTHON,   /* python, eol */
	LS_COMPAT_GPUS,     /* gpu, capability; env/facts/gpu_catalog.h reads the rest */
	LS_COMPAT_TABLES
};

struct ls_compat;

int ls_compat_load(struct ls_compat **ret, struct ls_err *err);
void ls_compat_free(struct ls_compat *c);

size_t ls_compat_rows(const struct ls_compat *c, enum ls_compat_table t);
const json_t *ls_compat_row(const struct ls_compat *c, enum ls_compat_table t, size_t i);
const char *ls_compat_file(enum ls_compat_table t); /* "data/torch.json" */
const char *ls_compat_date(const struct ls_compat *c,
			   enum ls_compat_table t);          /* when the table was made */
const char *ls_row_text(const json_t *row, const char *key); /* NULL when not there */
/* The first row whose text under key is value, or NULL. */
const json_t *ls_compat_find(const struct ls_compat *c, enum ls_compat_table t, const char *key,
			     const char *value);

/* The wheel of this version: "2.3.1+cu121", or "2.3.1" for the build that plain pip
 * installs. NULL: not in the table.
 */
const json_t *ls_compat_torch(const struct ls_compat *c, const char *version);
enum ls_torch_known {
	LS_TORCH_EXISTS,
	LS_TORCH_NO_BUILD,   /* the release exists, this +cuXXX of it does not */
	LS_TORCH_NO_RELEASE, /* between the oldest and the newest release of the table, and not one
				of them */
	LS_TORCH_UNKNOWN /* newer or older than the table, or a build it does not cover (cpu, rocm,
			    …) */
};
enum ls_torch_known ls_compat_torch_known(const struct ls_compat *c, const char *version);

/* The oldest driver that runs this CUDA ("12.1", "12.1.105"), or NULL when the table does
 * not have it. */
const char *ls_compat_min_driver(const struct ls_compat *c, const char *cuda);
/* "12.1.105" -> "12.1" into ret; false when cuda is not a version. */
bool ls_compat_minor(const char *version, char *ret, size_t size);
/* The branch row of a driver version ("535.161.08" -> R535), or NULL. */
const json_t *ls_compat_branch(const struct ls_compat *c, const char *driver);
/* Compute capability of a GPU by its name, or NULL. */
const char *ls_compat_capability(const struct ls_compat *c, const char *gpu_name);
/* Has this wheel code that runs on a GPU of that capability? A list entry runs on its own
 * major version at its minor or above; one with +PTX on everything newer. machine:
 * "x86_64" or "aarch64". *ret_list gets the list. False as well when the table has no
 * list for that machine; then *ret_list is NULL. */
bool ls_compat_runs_on(const json_t *torch_row, const char *machine, const char *capability,
		       const char **ret_list);

#endif
