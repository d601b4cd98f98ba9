/* What a training writes while it is followed, in two pieces. */
#include <stdint.h>
#include <stdlib.h>

#include "watch/throughput.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_throughput *t;
	struct ls_err err;
	double now, best;
	const char *why;
	if (size < 2 || ls_throughput_new(data[0] & 1 ? "a.csv" : "a.jsonl", &t, &err))
		return 0;
	size_t half = data[1] < size - 2 ? data[1] : size - 2;
	ls_throughput_feed(t, (const char *)data + 2, half, 1);
	ls_throughput_feed(t, (const char *)data + 2 + half, size - 2 - half, 2);
	if (ls_throughput_rates(t, 3, &now, &best, &why) && !(now >= 0 && best > 0))
		abort();
	ls_throughput_free(t);
	return 0;
}
