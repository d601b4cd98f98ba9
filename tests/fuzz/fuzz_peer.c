/* What another machine's monitor answers, or whatever answers there. */
#include <stdint.h>
#include <stdlib.h>

#include "watch/peers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_err err = {0};
	json_t *o = NULL;
	int rc = ls_peer_read((const char *)data, size, &o, &err);
	if (rc ? !*err.msg || o : !json_is_array(json_object_get(o, "reasons")))
		abort();
	json_decref(o);
	return 0;
}
