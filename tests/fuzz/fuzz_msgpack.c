/* The reader of MessagePack on an image in memory; every tensor is read. */
#include <stdint.h>

#include "base/digest.h"
#include "tensor/msgpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_bundle *b = ls_bundle_new("MessagePack");
	struct ls_err err;
	if (ls_msgpack_parse(b, data, size, "fuzz", &err) == 0)
		for (size_t i = 0; i < b->n_tensors; i++)
			ls_xxh64(b->tensors[i].data, b->tensors[i].nbytes);
	ls_bundle_free(b);
	return 0;
}
