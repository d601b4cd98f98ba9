/* The record that a job's supervisor leaves: whatever a job has made of it, it is whole
 * or unknown.
 */
#include <stdint.h>
#include <stdlib.h>

#include "job/attempt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_ending e;
	ls_ending_parse((const char *)data, size, &e);
	if (e.known && (e.status < 0 || e.status > 255 || e.signal < 0 || e.signal > 127))
		abort();
	return 0;
}
