#include "gpu/cache.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum { MAX_ENTRY = 1 << 28 };

static const char title[] = "lockstep kernel code 1\n";

/* The head has only one possible form, so it is compared and not parsed. */
static char *head(const char key[LS_SHA256_HEX], const void *code, size_t len)
{
	char digest[LS_SHA256_HEX];
	ls_sha256(code, len, digest);
	return ls_xasprintf("%skey %s\nsha256 %s\nbytes %zu\n\n", title, key, digest, len);
}

bool ls_cache_parse(const char *bytes, size_t len, const char key[LS_SHA256_HEX],
		    const char **ret_code, size_t *ret_len)
{
	const char *end = memmem(bytes, len, "\n\n", 2);
	if (!end)
		return false;
	const char *code = end + 2;
	size_t head_len = (size_t)(code - bytes), code_len = len - head_len;
	char *expected = head(key, code, code_len);
	bool same = strlen(expected) == head_len && memcmp(expected, bytes, head_len) == 0;
	free(expected);
	if (!same)
		return false;
	*ret_code = code;
	*ret_len = code_len;
	return true;
}

static char *entry_path(const char *dir, const char *name, const char key[LS_SHA256_HEX])
{
	return ls_xasprintf("%s/%s-%.32s.code", dir, name, key);
}

char *ls_cache_get(const char *dir, const char *name, const char key[LS_SHA256_HEX],
		   size_t *ret_len)
{
	char *path = entry_path(dir, name, key), *bytes = NULL, *result = NULL;
	const char *code;
	size_t len;
	struct stat st;
	bool there = lstat(path, &st) == 0, plain = there && S_ISREG(st.st_mode);
	if (there && !plain)
		unlink(path); /* reading or writing a pipe might never end */
	if (plain && ls_file_read(path, MAX_ENTRY, &bytes, &len, NULL) == 0) {
		if (ls_cache_parse(bytes, len, key, &code, &len)) {
			memmove(bytes, code, len);
			bytes[len] = 0;
			*ret_len = len;
			result = bytes;
			bytes = NULL;
		} else {
			unlink(path);
		}
	}
	free(bytes);
	free(path);
	return result;
}

static int make_dirs(const char *dir, struct ls_err *err)
{
	char *path = ls_xstrdup(dir);
	int rc = 0;
	for (char *p = path + 1; !rc; p++) {
		if (*p && *p != '/')
			continue;
		char kept = *p;
		*p = 0;
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			rc = ls_err_errno(err, path, "make the folder");
		*p = kept;
		if (!kept)
			break;
	}
	free(path);
	return rc;
}

int ls_cache_put(const char *dir, const char *name, const char key[LS_SHA256_HEX], const void *code,
		 size_t len, struct ls_err *err)
{
	int rc = make_dirs(dir, err);
	if (rc)
		return rc;
	char *path = entry_path(dir, name, key), *top = head(key, code, len);
	struct ls_writer *w;
	rc = ls_writer_open(path, &w, err);
	if (!rc) {
		rc = ls_writer_write(w, top, strlen(top), err);
		if (!rc)
			rc = ls_writer_write(w, code, len, err);
		if (rc)
			ls_writer_abort(w);
		else
			rc = ls_writer_commit(w, err);
	}
	free(top);
	free(path);
	return rc;
}

bool ls_cache_has(const char *dir, const char *name)
{
	char *pattern = ls_xasprintf("%s/%s-*.code", dir, name);
	glob_t g;
	bool has = glob(pattern, GLOB_NOSORT, NULL, &g) == 0;
	if (has)
		globfree(&g);
	free(pattern);
	return has;
}

int ls_cache_check(const char *dir, struct ls_err *err)
{
	int rc = make_dirs(dir, err);
	return rc == 0 && access(dir, W_OK | X_OK) < 0
		       ? ls_err_errno(err, dir, "write into the folder")
		       : rc;
}

void ls_cache_drop(const char *dir, const char *name, const char key[LS_SHA256_HEX])
{
	char *path = entry_path(dir, name, key);
	unlink(path);
	free(path);
}
