/* Compiled kernels kept on disk: DIR/<name>-<key>.code, a head with the key, length and
 * SHA-256, then the code. An entry that is cut short, altered, or another key's counts as
 * missing: it is removed and made again. Paths are borrowed, results the caller's. Any
 * thread; several processes may share DIR. */
#ifndef LS_GPU_CACHE_H
#define LS_GPU_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/digest.h"
#include "base/err.h"

/* Where the code lies within the bytes of an entry's file; false when anything in them is
 * not as it should be. */
bool ls_cache_parse(const char *bytes, size_t len, const char key[LS_SHA256_HEX],
		    const char **ret_code, size_t *ret_len);

/* The code with a NUL behind it (not counted), or NULL when there is no valid entry. key:
 * 64 hexadecimal digits. */
char *ls_cache_get(const char *dir, const char *name, const char key[LS_SHA256_HEX],
		   size_t *ret_len);
/* Makes DIR where it is missing (for its owner only) and writes the entry atomically. */
int ls_cache_put(const char *dir, const char *name, const char key[LS_SHA256_HEX], const void *code,
		 size_t len, struct ls_err *err);
/* Whether there is an entry of that name, under any key. */
bool ls_cache_has(const char *dir, const char *name);
/* Whether entries can be kept in dir, which is made if it is missing; err says why they
 * cannot. */
int ls_cache_check(const char *dir, struct ls_err *err);
void ls_cache_drop(const char *dir, const char *name, const char key[LS_SHA256_HEX]);

#endif
