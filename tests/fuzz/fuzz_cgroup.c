/* The control groups of a process: its job and container. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "watch/owner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_owner o = {.name = ""};
	char *text = ls_xstrndup((const char *)data, size);
	ls_owner_of_cgroup(text, &o);
	if (strlen(o.job) >= sizeof o.job || strlen(o.container) > 12)
		abort();
	free(text);
	return 0;
}
