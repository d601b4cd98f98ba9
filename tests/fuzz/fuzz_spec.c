/* A spec: parse it, describe every check and test each against a few values. */
#include <stdint.h>
#include <stdlib.h>

#include "env/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_values(const struct ls_check *c)
{
	static const char *const values[] = {"8905", "2.3.1+cu121", "535.161.08", "143771 MiB", ":4096:8", "", NULL};
	const struct ls_gpu_seen seen[] = {{"NVIDIA H200", "9.0", 143771}, {NULL, NULL, 0}};
	for (size_t i = 0; i < sizeof values / sizeof *values && c->matcher; i++)
		ls_matcher_test(c->matcher, values[i]);
	char why[128];
	if (c->gpus)
		ls_gpuset_test(c->gpus, seen, 2, why, sizeof why);
	if (!ls_check_text(c))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_spec *spec;
	struct ls_err err;
	if (ls_spec_parse((const char *)data, size, "fuzz", &spec, &err))
		return 0;
	for (size_t i = 0; i < spec->n_checks; i++)
		try_values(&spec->checks[i]);
	ls_spec_free(spec);
	return 0;
}
