/* METADATA and PKG-INFO of a distribution. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "env/python/pyfiles.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_metadata m;
	ls_metadata_parse((const char *)data, size, &m);
	if ((m.name && !*m.name) || (m.version && strlen(m.version) > 4096))
		abort();
	ls_metadata_done(&m);
	return 0;
}
