/* What the process that reads an HDF5 file says of it: its length (1 byte), the file, the
 * records.
 */
#include <stdint.h>

#include "base/digest.h"
#include "tensor/hdf5_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1 || data[0] > size - 1)
		return 0;
	size_t file = data[0];
	struct ls_bundle *b = ls_bundle_new("HDF5");
	struct ls_err err;
	if (ls_h5_dump_read(b, data + 1, file, data + 1 + file, size - 1 - file, &err) == 0)
		for (size_t i = 0; i < b->n_tensors; i++)
			ls_xxh64(b->tensors[i].data, b->tensors[i].nbytes);
	ls_bundle_free(b);
	return 0;
}
