#include "cmd/version.h"

#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/gpu.h"
#include "lockstep.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#if defined(__x86_64__)
#define MACHINE "x86-64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#else
#define MACHINE "other"
#endif

const char *ls_cmd_compiler(void)
{
	return COMPILER;
}

int ls_cmd_print_version(bool as_json)
{
	char *kernels = ls_cmd_gpu_line();
	if (as_json)
		ls_cmd_print_json_take(json_pack("{s:s,s:i,s:s,s:s,s:s}", "version", LS_VERSION,
						 "numerics_version", ls_numerics_version(),
						 "compiler", COMPILER, "machine", MACHINE,
						 "gpu_kernels", kernels));
	else
		printf("lockstep %s\nnumerics %d\n%s, %s\nGPU kernels: %s\n", LS_VERSION,
		       ls_numerics_version(), MACHINE, COMPILER, kernels);
	free(kernels);
	return 0;
}
