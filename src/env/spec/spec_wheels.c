#include "env/spec/spec_wheels.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define DIGITS "0123456789"

char *ls_wheel_build(const char *version)
{
	const char *local = version ? strchr(version, '+') : NULL;
	if (!local++)
		return NULL;
	const char *rest = ls_str_starts(local, "cu")     ? local + strlen("cu")
			   : ls_str_starts(local, "rocm") ? local + strlen("rocm")
							  : NULL;
	bool numbered = rest && *rest && !rest[strspn(rest, DIGITS ".")];
	if (!numbered && strcmp(local, "cpu") != 0 && strcmp(local, "xpu") != 0)
		return NULL;
	return ls_xstrdup(local);
}

/* Is this torch built without CUDA? */
static bool is_cpu_build(const struct ls_spec *spec)
{
	char *build = ls_wheel_build(ls_spec_exact(spec, "torch"));
	bool cpu = ls_spec_is_absent(spec, "torch_cuda") || (build && !ls_str_starts(build, "cu"));
	free(build);
	return cpu;
}

bool ls_spec_wants_cuda(const struct ls_spec *spec)
{
	static const char *const keys[] = {
		"torch_cuda", "cudnn", "cuda",        "driver",
		"nccl",       "nvcc",  "driver_cuda", "container_toolkit",
		"gpus",       "vram",  "capability",  "gpu_count"};
	if (is_cpu_build(spec))
		return false;
	for (size_t i = 0; i < spec->n_checks; i++)
		for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
			if (strcmp(spec->checks[i].key, keys[k]) == 0)
				return true;
	char *build = ls_wheel_build(ls_spec_exact(spec, "torch"));
	bool wants = build || (spec->image.base && strstr(spec->image.base, "cuda"));
	free(build);
	return wants;
}
