/* The safetensors reader on an image in memory; every byte of every tensor is touched. */
#include <stdint.h>

#include "base/digest.h"
#include "tensor/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_bundle *b = ls_bundle_new("safetensors");
	struct ls_err err;
	if (ls_safetensors_parse(b, data, size, "fuzz", &err) == 0 &&
	    ls_bundle_seal(b, "fuzz", &err) == 0)
		for (size_t i = 0; i < b->n_tensors; i++)
			ls_xxh64(b->tensors[i].data, b->tensors[i].nbytes);
	ls_bundle_free(b);
	return 0;
}
