/* Kernel logs (--trace kernels). */
#include <stdint.h>

#include "run/ktrace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_ktrace t;
	struct ls_kernel k;
	struct ls_err err;
	if (ls_ktrace_begin(&t, data, size, "fuzz", &err))
		return 0;
	while (ls_ktrace_next(&t, &k, &err) > 0)
		;
	ls_ktrace_done(&t);
	return 0;
}
