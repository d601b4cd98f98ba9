/* The JSON glue: parse, check keys, print again. */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *const names[] = {"a", "torch", NULL};
	json_t *v;
	struct ls_err err;
	if (ls_json_parse((const char *)data, size, "fuzz", &v, &err))
		return 0;
	ls_json_only(v, names, "fuzz", &err);
	free(ls_json_text(v));
	json_decref(v);
	return 0;
}
