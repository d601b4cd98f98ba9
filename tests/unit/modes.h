/* What a thread's floating-point unit may have been left in by others, as ls_fp_leave
 * takes it. For tests. */
#ifndef LS_TESTS_MODES_H
#define LS_TESTS_MODES_H

#include <stdint.h>

#if defined(__x86_64__)
static const uint64_t fp_modes[] = {0x9fc0, 0x5f80,
				    0x3f80}; /* subnormals are 0; upwards; downwards */
#else
static const uint64_t fp_modes[] = {1 << 24, 1 << 22, 2 << 22};
#endif

#endif
