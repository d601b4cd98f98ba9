/* pyvenv.cfg. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "env/python/pyfiles.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_pyvenv v;
	ls_pyvenv_parse((const char *)data, size, &v);
	if ((v.home && !*v.home) || (v.version && !*v.version))
		abort();
	ls_pyvenv_done(&v);
	return 0;
}
