/* The zip directory, and every member inflated within a limit. */
#include <stdint.h>
#include <stdlib.h>

#include "tensor/zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_zip zip;
	struct ls_err err;
	if (ls_zip_parse(data, size, "fuzz", &zip, &err))
		return 0;
	for (size_t i = 0; i < zip.n; i++) {
		uint8_t *out;
		if (ls_zip_extract(&zip.members[i], 1 << 20, &out, &err) == 0)
			free(out);
	}
	ls_zip_done(&zip);
	return 0;
}
