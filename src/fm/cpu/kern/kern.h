/* What the parts of kern.c share. Like kern.c, compiled once for each instruction set.
 * Owns nothing; any thread. */
#ifndef LS_FM_CPU_KERN_KERN_H
#define LS_FM_CPU_KERN_KERN_H

#include "base/huge_pages.h"
#include "base/inline.h"
#include "fm/cpu/kern/simd.h"
#include "fm/cpu/kern_sizes.h"
#include "fm/cpu/kern_table.h"

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

/* Before a loop that must be unrolled. clang unrolls such loops by itself, and with the
 * pragma and sanitizers it takes minutes. */
#if defined(__clang__)
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 4")
#endif

enum { VECTORS_IN_4 = 4 / LS_SIMD, LINE = LS_CACHE_LINE_FLOATS, MAX_K = 256 };

/* Prefetches n floats, for writing if `write`, which is a compile-time constant of the
 * call. */
INLINE void prefetch_run(const float *p, size_t n, bool write)
{
	for (size_t i = 0; i < n; i += LINE)
		if (write)
			__builtin_prefetch(p + i, 1);
		else
			__builtin_prefetch(p + i);
}

INLINE float fwfm_weight(const struct ls_fm_model *m, uint32_t o, uint32_t f, uint32_t g)
{
	uint32_t index =
		f < g ? ls_fm_pair_index(m->n_fields, f, g) : ls_fm_pair_index(m->n_fields, g, f);
	return m->pair[(size_t)o * m->n_pairs + index];
}

#endif
