/* Large blocks of zeroed memory, on huge pages where the system has them. The caller owns
 * a block and frees it with ls_huge_free and the same size. Any thread. */
#ifndef LS_BASE_HUGE_PAGES_H
#define LS_BASE_HUGE_PAGES_H

#include <stddef.h>

enum { LS_CACHE_LINE = 64 /* bytes */, LS_CACHE_LINE_FLOATS = LS_CACHE_LINE / sizeof(float) };

/* NULL: no memory is left. */
void *ls_huge_alloc(size_t bytes);
/* p may be NULL. */
void ls_huge_free(void *p, size_t bytes);

#endif
