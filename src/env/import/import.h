/* A spec made of what another tool's file asks for: conda's environment.yml, pip's
 * requirements.txt or the output of pip freeze, a Dockerfile. Nothing in the file is run
 * and no other file is opened. What has no place in a spec, or is not understood, is
 * listed with its line. The result owns its texts (ls_import_free, NULL is fine). No
 * state; any thread. */
#ifndef LS_ENV_IMPORT_IMPORT_H
#define LS_ENV_IMPORT_IMPORT_H

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

enum ls_import_kind { LS_IMPORT_ANY, LS_IMPORT_CONDA, LS_IMPORT_PIP, LS_IMPORT_DOCKERFILE };

enum { LS_IMPORT_LIMIT = 4 << 20 }; /* bytes that a file may have */

struct ls_import_left {
	unsigned line;
	char *text; /* what the file says, cut to a readable length */
	char *why;  /* why it is not in the spec, or is there as an unchecked line only */
};

struct ls_import {
	enum ls_import_kind kind; /* what the file was read as */
	json_t *spec;             /* a document that ls_spec_parse reads */
	struct ls_import_left *left;
	size_t n_left, cap_left;
};

/* name: of the new spec, or NULL for the file's own (an environment.yml has one) or
 * "imported". kind: LS_IMPORT_ANY asks the file's name and then its text. date:
 * YYYY-MM-DD. LS_EINPUT for what is no such file. */
struct ls_import_how {
	const char *name, *date;
	enum ls_import_kind kind;
};

int ls_import(const char *text, size_t len, const char *path, const struct ls_import_how *how,
	      struct ls_import **ret, struct ls_err *err);
void ls_import_free(struct ls_import *im);
const char *ls_import_kind_name(enum ls_import_kind kind); /* "conda", "pip", "dockerfile" */

#endif
