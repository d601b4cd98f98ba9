/* Files that travel inside the program: shipped specs, compatibility tables, the Python
 * hook (tools/embed.cmake). Borrowed for ever. Any thread, once nothing is replaced any
 * more. */
#ifndef LS_BASE_EMBED_H
#define LS_BASE_EMBED_H

#include <stddef.h>

#include "base/err.h"

struct ls_blob {
	const char *name;          /* path in the source tree, "specs/kaggle-2025-09.json" */
	const unsigned char *data; /* a NUL follows the last byte */
	size_t len;
};

extern const struct ls_blob ls_embedded[]; /* ends with a NULL name */

const struct ls_blob *ls_embed_find(const char *name); /* NULL when there is none */

/* From now on the files of dir stand in for those of the same name under prefix
 * ("data/"): dir/torch.json is found as data/torch.json. Call it before other threads
 * run. LS_EINPUT when dir has none of them. */
int ls_embed_replace(const char *prefix, const char *dir, struct ls_err *err);

#endif
