#include "base/embed.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

enum { MAX_REPLACED = 32, SIZE_LIMIT = 64 << 20 };

static struct ls_blob replaced[MAX_REPLACED];
static size_t n_replaced;

const struct ls_blob *ls_embed_find(const char *name)
{
	for (size_t i = n_replaced; i-- > 0;)
		if (strcmp(replaced[i].name, name) == 0)
			return &replaced[i];
	for (const struct ls_blob *b = ls_embedded; b->name; b++)
		if (strcmp(b->name, name) == 0)
			return b;
	return NULL;
}

/* Takes one file in, if it is there. */
static int replace_one(const char *name, const char *path, struct ls_err *err)
{
	char *text;
	size_t len;
	if (!ls_file_exists(path))
		return 0;
	int rc = ls_file_read(path, SIZE_LIMIT, &text, &len, err);
	if (rc)
		return rc;
	if (n_replaced == MAX_REPLACED) {
		free(text);
		return ls_err_set(err, LS_EINTERNAL, "more than %d files replaced", MAX_REPLACED);
	}
	replaced[n_replaced++] = (struct ls_blob){name, (const unsigned char *)text, len};
	return 0;
}

int ls_embed_replace(const char *prefix, const char *dir, struct ls_err *err)
{
	size_t before = n_replaced;
	for (const struct ls_blob *b = ls_embedded; b->name; b++) {
		if (!ls_str_starts(b->name, prefix))
			continue;
		char *path = ls_xasprintf("%s/%s", dir, b->name + strlen(prefix));
		int rc = replace_one(b->name, path, err);
		free(path);
		if (rc)
			return rc;
	}
	if (n_replaced == before)
		return ls_err_set(err, LS_EINPUT,
				  "%s: none of the files is there that would replace the built-in "
				  "%s*.json",
				  dir, prefix);
	return 0;
}
