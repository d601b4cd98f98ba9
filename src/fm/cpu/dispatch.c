#include "fm/cpu/dispatch.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

extern const struct ls_kern ls_kern_baseline, ls_kern_avx2, ls_kern_avx512;

static bool can_always(void)
{
	return true;
}

#if defined(LS_HAVE_KERN_AVX2)
static bool can_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

#if defined(LS_HAVE_KERN_AVX512)
static bool can_avx512(void)
{
	return can_avx2() && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512bw");
}
#endif

/* The fastest first. */
static const struct {
	const struct ls_kern *kern;
	bool (*can_run)(void);
} builds[] = {
#if defined(LS_HAVE_KERN_AVX512)
	{&ls_kern_avx512, can_avx512},
#endif
#if defined(LS_HAVE_KERN_AVX2)
	{&ls_kern_avx2, can_avx2},
#endif
	{&ls_kern_baseline, can_always},
};

const struct ls_kern *ls_kern_dispatch(const char *name)
{
	for (size_t i = 0; i < sizeof builds / sizeof *builds; i++)
		if ((!name || strcmp(name, builds[i].kern->name) == 0) && builds[i].can_run())
			return builds[i].kern;
	return NULL;
}
