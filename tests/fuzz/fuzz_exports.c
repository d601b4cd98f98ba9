/* A record of exports, which any program may have written. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "watch/exports.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_export_counts c;
	ls_exports_count((const char *)data, size, 1763571793, &c);
	if (c.failed > c.files || !c.failed != !*c.file || !c.failed != !*c.error)
		abort();
	return 0;
}
