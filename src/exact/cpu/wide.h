/* Random numbers, dropout and casts on the CPU. Owns nothing; any thread. */
#ifndef LS_EXACT_CPU_WIDE_H
#define LS_EXACT_CPU_WIDE_H

#include "exact/wide.h"

/* Elements [from, to). */
void ls_wide_part(const struct ls_wide *w, int64_t from, int64_t to);

#endif
