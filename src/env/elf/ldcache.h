/* The loader's cache (/etc/ld.so.cache): which file a library name leads to. Only glibc's
 * present format, also where an old one precedes it. The reader is told of names and
 * paths that live in the caller's bytes; nothing is owned. No state; any thread. */
#ifndef LS_ENV_ELF_LDCACHE_H
#define LS_ENV_ELF_LDCACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { LS_LDCACHE_X86_64 = 0x0303, LS_LDCACHE_AARCH64 = 0x0a03 };

/* Flags of entries for the machine that this program was built for. */
int32_t ls_ldcache_native(void);

/* Calls see for every entry with these flags, in the order of the file, until it returns
 * false. Strings are NUL-terminated within the bytes. LS_EINPUT when the bytes are not a
 * cache or point outside themselves. */
int ls_ldcache_each(const void *bytes, size_t len, int32_t flags,
		    bool (*see)(void *arg, const char *name, const char *path), void *arg,
		    struct ls_err *err);

#endif
