/* torch/version.py: what is found is text without control characters, and a version text
 * of a binary. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "env/python/pyfiles.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Nothing that reaches a terminal may hold control characters. */
static void check(const char *s)
{
	for (; s && *s; s++)
		if ((unsigned char)*s < 32 || *s == 127)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_torch_file t;
	ls_torch_file_parse((const char *)data, size, &t);
	check(t.version);
	check(t.cuda);
	check(t.git);
	check(t.hip);
	ls_torch_file_done(&t);
	char *version = ls_python_in_binary(data, size, "3.11");
	if (version && strncmp(version, "3.11.", 5) != 0)
		abort();
	free(version);
	return 0;
}
