/* The builds of the CPU's kernels, and which of them this processor can run. */
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <stdbool.h>
#include <string.h>

#include "exact/cpu/kern.h"

extern const struct ls_exact_kern ls_exact_kern_baseline, ls_exact_kern_avx2, ls_exact_kern_avx512;

#if defined(__x86_64__)
/* __builtin_cpu_supports does not know it in clang 14. */
static bool can_f16c(void)
{
	unsigned a, b, c, d;
	return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool can_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && can_f16c();
}

static bool can_avx512(void)
{
	return can_avx2() && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512bw");
}
#endif

static bool can_always(void)
{
	return true;
}

static const struct {
	const struct ls_exact_kern *kern;
	bool (*can_run)(void);
} builds[] = {
#if defined(__x86_64__)
	{&ls_exact_kern_avx512, can_avx512},
	{&ls_exact_kern_avx2, can_avx2},
#endif
	{&ls_exact_kern_baseline, can_always},
};
enum { BUILDS = sizeof builds / sizeof *builds };

const struct ls_exact_kern *ls_exact_kern_find(const char *isa)
{
	for (int i = 0; i < BUILDS; i++)
		if ((!isa || strcmp(isa, builds[i].kern->name) == 0) && builds[i].can_run())
			return builds[i].kern;
	return NULL;
}

const char *const *ls_exact_isas(void)
{
	static _Thread_local const char *names[BUILDS + 1];
	int n = 0;
	for (int i = 0; i < BUILDS; i++)
		if (builds[i].can_run())
			names[n++] = builds[i].kern->name;
	names[n] = NULL;
	return names;
}
