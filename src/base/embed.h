/* Files that travel inside the program: shipped specs, compatibility tables, the Python
 * hook (tools/embed.cmake). Constant data, borrowed for ever; any thread. */
#ifndef LS_BASE_EMBED_H
#define LS_BASE_EMBED_H

#include <stddef.h>

struct ls_blob {
	const char *name;          /* path in the source tree, "specs/kaggle-2025-09.json" */
	const unsigned char *data; /* a NUL follows the last byte */
	size_t len;
};

extern const struct ls_blob ls_embedded[]; /* ends with a NULL name */

const struct ls_blob *ls_embed_find(const char *name); /* NULL when there is none */

#endif
