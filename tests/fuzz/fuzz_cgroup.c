/* What /proc says of a process (control groups, environment, parent, user) and of disks and
 * networks. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "watch/host_io.h"
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
	ls_owner_begin_of(text);
	if (ls_owner_of_status(text, &o) < -1)
		abort();
	ls_owner_user_of(text, 1000, o.user);
	if (strlen(o.user) >= sizeof o.user)
		abort();
	uint64_t bytes[2];
	ls_host_io_disks(text, bytes);
	ls_host_io_nets(text, bytes);
	free(text);
	return 0;
}
