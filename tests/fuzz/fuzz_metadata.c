/* METADATA and PKG-INFO of a distribution, with the requirements in it and their
 * markers. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "env/python/pyfiles.h"
#include "env/python/requires.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void see(void *arg, const char *line)
{
	struct ls_require r;
	(void)arg;
	if (!ls_require_parse(line, &r))
		return;
	if (!*r.name)
		abort();
	ls_marker_test(r.marker, &(struct ls_marker_env){.python_version = "3.11", .extra = "x"});
	ls_require_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_metadata m;
	ls_metadata_parse((const char *)data, size, &m);
	if ((m.name && !*m.name) || (m.version && strlen(m.version) > 4096))
		abort();
	ls_metadata_done(&m);
	ls_metadata_requirements((const char *)data, size, see, NULL);
	return 0;
}
