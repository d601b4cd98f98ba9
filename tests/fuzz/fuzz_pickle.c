/* A checkpoint's pickle: the machine, then the walk, with an archive that has one
 * storage. Also whole archives. */
#include <stdint.h>
#include <string.h>

#include "tensor/cursor.h"
#include "tensor/torch/torch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fetch_all(struct ls_bundle *b)
{
	struct ls_err err;
	for (size_t i = 0; i < b->n_tensors; i++)
		ls_bundle_fetch(b, &b->tensors[i], 1 << 16, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t storage[48];
	char name[] = "a/data/0";
	struct ls_zip_member member = {
		.name = name, .data = storage, .packed = sizeof storage, .size = sizeof storage};
	struct ls_zip zip = {.members = &member, .n = 1};
	struct ls_torch_data where = {.zip = &zip, .prefix = "a", .folder = "data"};
	struct ls_bundle *b = ls_bundle_new("fuzz");
	struct ls_pickle *p;
	struct ls_err err;
	if (ls_torch_is_legacy(data, size) || (size > 4 && memcmp(data, "PK\3\4", 4) == 0)) {
		if (ls_torch_parse(b, data, size, "fuzz", "", &err) == 0 &&
		    ls_bundle_seal(b, "fuzz", &err) == 0)
			fetch_all(b);
	} else if (ls_pickle_parse(data, size, ls_torch_globals(), &p, &err) == 0) {
		if (ls_torch_flatten(b, p, &where, "", &err) == 0 &&
		    ls_bundle_seal(b, "fuzz", &err) == 0)
			fetch_all(b);
		ls_pickle_free(p);
	}
	ls_bundle_free(b);
	return 0;
}
