#include "run/bytecode.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/embed.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "gpu/cache.h"

enum { MOST_BYTES = 1 << 20 };

/* The source of "lockstep_hook.cpython-311.pyc", or NULL: another file, or a temporary
 * one. */
static const struct ls_blob *source_of(const char *name)
{
	size_t stem = strcspn(name, ".");
	if (!ls_str_ends(name, ".pyc"))
		return NULL;
	if (stem == strlen(LS_HOOK_SHARED) && ls_str_starts(name, LS_HOOK_SHARED))
		return ls_embed_find(LS_HOOK_SHARED_SOURCE);
	char *path = ls_xasprintf("python/hook/%.*s.py", (int)stem, name);
	const struct ls_blob *source = ls_embed_find(path);
	free(path);
	return source;
}

static void key_of(const char *name, const struct ls_blob *source, char ret[LS_SHA256_HEX])
{
	struct ls_sha256 *h = ls_sha256_new();
	ls_sha256_add(h, name, strlen(name) + 1);
	ls_sha256_add(h, source->data, source->len);
	ls_sha256_final(h, ret);
}

static bool is_ours(const char *cache)
{
	struct stat st;
	return stat(cache, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 022);
}

static void write_plain(const char *dir, const char *name, const char *data, size_t len)
{
	char *path = ls_xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "wxe");
	bool whole = f && fwrite(data, 1, len, f) == len;
	if (f && (fclose(f) != 0 || !whole))
		unlink(path);
	free(path);
}

static void bring_one(const char *cache, const char *made, const char *name)
{
	const struct ls_blob *source = source_of(name);
	char key[LS_SHA256_HEX];
	size_t len;
	if (!source)
		return;
	key_of(name, source, key);
	char *code = ls_cache_get(cache, name, key, &len);
	if (code)
		write_plain(made, name, code, len);
	free(code);
}

void ls_bytecode_bring(const char *cache, const char *dir)
{
	DIR *d = cache && is_ours(cache) ? opendir(cache) : NULL;
	if (!d)
		return;
	char *made = ls_xasprintf("%s/__pycache__", dir);
	mkdir(made, 0700);
	for (struct dirent *e; (e = readdir(d));) {
		char *dash = strrchr(e->d_name, '-'); /* before the key */
		if (dash) {
			*dash = 0;
			bring_one(cache, made, e->d_name);
		}
	}
	closedir(d);
	free(made);
}

static void keep_one(const char *cache, const char *made, const char *name)
{
	const struct ls_blob *source = source_of(name);
	char key[LS_SHA256_HEX], *text = NULL;
	size_t len;
	if (!source)
		return;
	key_of(name, source, key);
	char *have = ls_cache_get(cache, name, key, &len);
	char *path = ls_xasprintf("%s/%s", made, name);
	if (!have && ls_file_read(path, MOST_BYTES, &text, &len, NULL) == 0)
		ls_cache_put(cache, name, key, text, len, NULL);
	free(text);
	free(path);
	free(have);
}

void ls_bytecode_keep(const char *cache, const char *dir)
{
	char *made = ls_xasprintf("%s/__pycache__", dir);
	DIR *d = cache ? opendir(made) : NULL;
	for (struct dirent *e; d && (e = readdir(d));)
		keep_one(cache, made, e->d_name);
	if (d)
		closedir(d);
	free(made);
}
