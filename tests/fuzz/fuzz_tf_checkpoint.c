/* The index of a TensorFlow checkpoint, which is its own shard here; every tensor is
 * read. And the same bytes as a fingerprint. */
#include <stdint.h>

#include "base/digest.h"
#include "tensor/tf_checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_bundle *b = ls_bundle_new("TensorFlow checkpoint");
	struct ls_map shard = {.data = data, .len = size};
	struct ls_err err;
	ls_tf_shards(&shard);
	if (ls_tf_checkpoint_parse(b, data, size, "fuzz", &shard, 1, &err) == 0)
		for (size_t i = 0; i < b->n_tensors; i++)
			ls_xxh64(b->tensors[i].data, b->tensors[i].nbytes);
	ls_bundle_free(b);
	b = ls_bundle_new("SavedModel fingerprint");
	ls_tf_fingerprint_parse(b, data, size, "fuzz", &err);
	ls_bundle_free(b);
	return 0;
}
