/* The .metadata of a distributed checkpoint. */
#include <stdint.h>

#include "tensor/torch/dcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_bundle *b = ls_bundle_new("fuzz");
	struct ls_dcp_index index = {0};
	struct ls_err err;
	if (ls_dcp_read_index(b, data, size, &index, &err) == 0)
		ls_bundle_seal(b, "fuzz", &err);
	ls_dcp_index_done(&index);
	ls_bundle_free(b);
	return 0;
}
