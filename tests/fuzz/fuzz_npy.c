/* npy headers, and all elements read through a cursor; an image that begins as a zip is
 * read as npz. */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tensor/cursor.h"
#include "tensor/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_err err;
	size_t start;
	struct ls_bundle *b = ls_bundle_new("fuzz");
	if (size > 2 && data[0] == 'P' && data[1] == 'K')
		ls_npz_parse(b, data, size, "fuzz", &err);
	else {
		struct ls_tensor *t = ls_bundle_add(b, "x", 1);
		if (ls_npy_header(data, size, size, t, &start, &err))
			b->n_tensors = 0;
		else
			t->data = data + start;
	}
	for (size_t i = 0; i < b->n_tensors; i++)
		ls_bundle_fetch(b, &b->tensors[i], 1 << 20, &err);
	ls_bundle_free(b);
	return 0;
}
