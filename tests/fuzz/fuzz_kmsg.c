/* Records of the kernel's log. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "watch/kmsg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_kmsg_xid x;
	char *text = ls_xstrndup((const char *)data, size);
	if (ls_kmsg_parse(text, &x) &&
	    (x.xid == 0 || strlen(x.pci) >= sizeof x.pci || !(x.since_boot >= 0)))
		abort();
	free(text);
	return 0;
}
