/* scipy's CSR in .npz, behind the zip and npy readers that have targets of their own. */
#include <stdlib.h>

#include "fm/data/csr.h"
#include "tensor/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_bundle *b = ls_bundle_new("npz");
	struct ls_csr c;
	struct ls_err err;
	if (ls_npz_parse(b, data, size, "fuzz", &err) == 0 &&
	    ls_csr_from_bundle(b, "fuzz", &c, &err) == 0) {
		for (uint64_t i = 0; i < c.n_entries; i++)
			if (c.feature[i] >= c.n_features)
				abort();
		if (c.start[c.n_rows] != c.n_entries)
			abort();
		ls_csr_done(&c);
	}
	ls_bundle_free(b);
	return 0;
}
