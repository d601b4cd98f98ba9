/* The loader's cache: every string handed out ends within the bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "env/elf/ldcache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool see(void *arg, const char *name, const char *path)
{
	*(size_t *)arg += strlen(name) + strlen(path);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t sum = 0;
	struct ls_err err;
	ls_ldcache_each(data, size, LS_LDCACHE_X86_64, see, &sum, &err);
	ls_ldcache_each(data, size, LS_LDCACHE_AARCH64, see, &sum, NULL);
	return 0;
}
