/* An entry of the kernel cache, whatever its bytes: accepted only when it is exactly what
 * was written under that key.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char key[LS_SHA256_HEX], *copy = malloc(size ? size : 1);
	const char *code;
	size_t len;
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	ls_sha256("fuzz", 4, key);
	if (ls_cache_parse(copy, size, key, &code, &len) &&
	    (code < copy || code + len != copy + size))
		abort();
	free(copy);
	return 0;
}
