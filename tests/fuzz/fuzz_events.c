/* A line of the log of events. */
#include <stdint.h>
#include <stdlib.h>

#include "watch/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *v = ls_events_line((const char *)data, size);
	if (v && !json_is_number(json_object_get(v, "time")))
		abort();
	json_decref(v);
	return 0;
}
