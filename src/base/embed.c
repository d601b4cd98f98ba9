#include "base/embed.h"

#include <string.h>

const struct ls_blob *ls_embed_find(const char *name)
{
	for (const struct ls_blob *b = ls_embedded; b->name; b++)
		if (strcmp(b->name, name) == 0)
			return b;
	return NULL;
}
