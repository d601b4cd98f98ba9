/* What the readers of the import share: the spec that grows, and the list of what was
 * left out. For the files of this folder only. The builder borrows the import it fills.
 * One thread. */
#ifndef LS_ENV_IMPORT_BUILD_H
#define LS_ENV_IMPORT_BUILD_H

#include <stdbool.h>

#include "env/import/import.h"

struct ls_build {
	struct ls_import *out;
	const char *path;
	json_t *packages, *env, *requirements, *lines, *image, *apt;
	size_t understood; /* things that the file asks for, whether or not they had a place */
	char *name;        /* that the file gives itself, or NULL */
};

/* text and why are copied; control characters are shown as \xNN. */
void ls_build_left(struct ls_build *b, unsigned line, const char *text, const char *why);
/* One expectation as the spec writes it: ">=2.0,<3", "1.26.*"; "" or NULL for any. What
 * no matcher reads is left. A second expectation of the same name is left, too, unless
 * one of them takes any version. */
void ls_build_package(struct ls_build *b, unsigned line, const char *name, const char *want);
/* A plain member such as "python". */
void ls_build_member(struct ls_build *b, unsigned line, const char *key, const char *want);
void ls_build_variable(struct ls_build *b, unsigned line, const char *name, const char *value);
/* A requirement that doctor cannot check, kept for pip. */
void ls_build_line(struct ls_build *b, unsigned line, const char *requirement, const char *why);

/* A requirement as pip takes it on a line or as an argument, with options behind it. */
void ls_build_requirement(struct ls_build *b, unsigned line, const char *text);
/* An option of pip with its value: "--index-url". False when it is none that is known. */
bool ls_build_pip_option(struct ls_build *b, unsigned line, const char *option, const char *value);
bool ls_pip_option_has_value(const char *option);

/* The readers. */
int ls_import_pip(struct ls_build *b, const char *text, struct ls_err *err);
int ls_import_conda(struct ls_build *b, const char *text, size_t len, struct ls_err *err);
int ls_import_dockerfile(struct ls_build *b, const char *text, struct ls_err *err);

#endif
