/* Operation logs (--trace ops) and the hook's records: both come from the traced
 * program. */
#include <stdint.h>

#include "run/hook.h"
#include "run/optrace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_optrace t;
	struct ls_op op;
	struct ls_err err;
	json_t *record;
	if (ls_optrace_begin(&t, (const char *)data, size, "fuzz", &err) == 0) {
		while (ls_optrace_next(&t, &op, &err) > 0)
			;
		ls_optrace_done(&t);
	}
	if (ls_hook_parse((const char *)data, size, "fuzz", &record, &err) == 0)
		json_decref(record);
	return 0;
}
