/* Which build of the kernels runs here. */
#include <stddef.h>
#include <string.h>

#include "fm/cpu/step.h"

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

/* best first */
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

const struct ls_kern *ls_kern_pick(const char *name)
{
	for (size_t i = 0; i < sizeof builds / sizeof *builds; i++)
		if ((!name || strcmp(name, builds[i].kern->name) == 0) && builds[i].can_run())
			return builds[i].kern;
	return NULL;
}

bool ls_kern_wide(enum ls_fm_kind kind, uint32_t lanes)
{
	bool some = lanes == 4 || lanes == 8 || lanes == 16 || lanes == LS_KERN_SHORT;
	return kind == LS_FFM || (kind == LS_FWFM ? lanes != 8 : !some);
}

size_t ls_kern_sums(const struct ls_fm_model *m)
{
	bool some = m->padded == 4 || m->padded == 8 ||
		    m->padded == 16; /* that an fwfm may have side by side */
	uint32_t rows = some && m->outputs < LS_KERN_ROWS ? LS_KERN_ROWS : m->outputs;
	return (size_t)m->padded *
	       (m->opts.kind == LS_FWFM ? (size_t)m->n_fields * rows : m->outputs);
}

size_t ls_kern_scratch(const struct ls_fm_model *m, uint64_t longest_row)
{
	return 2 * ls_kern_sums(m) + LS_KERN_ROWS * LS_KERN_ENTRY * (size_t)longest_row + 16;
}
