/* The ONNX reader on an image in memory; external data is refused, every initializer is
 * read. */
#include <stdint.h>

#include "base/digest.h"
#include "tensor/onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_bundle *b = ls_bundle_new("ONNX");
	struct ls_err err;
	if (ls_onnx_parse(b, data, size, "fuzz", NULL, &err) == 0)
		for (size_t i = 0; i < b->n_tensors; i++)
			ls_xxh64(b->tensors[i].data, b->tensors[i].nbytes);
	ls_bundle_free(b);
	return 0;
}
