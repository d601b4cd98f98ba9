/* Allocation. Small, bounded blocks come from ls_xalloc and friends, which end the
 * program with a message and status 4 when the machine has no memory left. Sizes that a
 * file or a user decides go through ls_alloc_array, which checks for overflow and may
 * return NULL. All blocks are freed with free(); any thread. */
#ifndef LS_BASE_MEM_H
#define LS_BASE_MEM_H

#include <stddef.h>

/* Says why and ends the program with status 4: for what no function can continue
 * without. */
_Noreturn void ls_give_up(const char *why);
_Noreturn void ls_no_memory(void);
void *ls_xalloc(size_t size);                       /* zeroed, never NULL */
void *ls_xalloc_aligned(size_t align, size_t size); /* likewise; size is a multiple of align */
void *ls_xrealloc(void *p, size_t size);
char *ls_xstrdup(const char *s);
char *ls_xstrndup(const char *s, size_t n);
char *ls_xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* count elements of size each, zeroed; NULL on overflow or when there is no memory. */
void *ls_alloc_array(size_t count, size_t size);

/* Makes room for one more element in a growing array: items, count and capacity belong to
 * the caller. */
void *ls_grow(void *items, size_t count, size_t *capacity, size_t elem_size);

#endif
