/* The part of YAML that environment files are written in: block mappings and lists,
 * scalars on one line (plain, quoted), and lists in brackets on one line. Anchors, tags,
 * block scalars, braces and several documents are errors that name the line; nothing is
 * ever guessed. The tree owns its texts (ls_yaml_free, NULL is fine). No state; any
 * thread. */
#ifndef LS_ENV_IMPORT_YAML_H
#define LS_ENV_IMPORT_YAML_H

#include <stddef.h>

#include "base/err.h"

enum ls_yaml_kind { LS_YAML_SCALAR, LS_YAML_LIST, LS_YAML_MAP };

struct ls_yaml {
	enum ls_yaml_kind kind;
	unsigned line;         /* where it begins, from 1 */
	char *key;             /* in a map; else NULL */
	char *text;            /* of a scalar, "" for nothing; else NULL */
	struct ls_yaml *items; /* of a list or a map */
	size_t n, cap;
};

/* path names the text in messages. LS_EINPUT for what is not of this part of YAML. */
int ls_yaml_parse(const char *text, size_t len, const char *path, struct ls_yaml **ret,
		  struct ls_err *err);
void ls_yaml_free(struct ls_yaml *node);
/* The value of key in a map, or NULL. */
const struct ls_yaml *ls_yaml_get(const struct ls_yaml *map, const char *key);

#endif
