/* What /proc says of a process: its control groups, environment and parent. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "watch/owner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_process_owner o = {.name = ""};
	char *text = ls_xstrndup((const char *)data, size);
	ls_owner_of_cgroup(text, &o);
	if (strlen(o.job) >= sizeof o.job || strlen(o.container) > 12)
		abort();
	ls_owner_of_environ((const char *)data, size, &o);
	if (strlen(o.experiment) >= sizeof o.experiment)
		abort();
	ls_owner_parent_of(text);
	free(text);
	return 0;
}
