/* Allocation. Small, bounded blocks come from ls_xalloc and friends, which give up when the
 * machine has no memory left. Sizes that a file or a user decides go through
 * ls_alloc_array, which checks for overflow and may return NULL. All blocks are freed with
 * free(); any thread.
 *
 * To give up is to leave the innermost guard of the thread, whose call then fails. What
 * the call had open is lost: memory, files, threads that sleep. A thread without a guard,
 * as in a program of our own, ends the program with a message and status 4. */
#ifndef LS_BASE_MEM_H
#define LS_BASE_MEM_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct ls_mem_guard {
	jmp_buf at;
	struct ls_mem_guard *outer;
	struct ls_err why;
};

/*     ls_mem_guard_enter(&guard);
 *     if (setjmp(guard.at) == 0) rc = work(); else rc = ls_mem_guard_why(&guard, err);
 *     ls_mem_guard_leave(&guard);
 *
 * in one function, between whose first and last line no lock is taken that work shares. */
void ls_mem_guard_enter(struct ls_mem_guard *g);
void ls_mem_guard_leave(struct ls_mem_guard *g);
bool ls_mem_guarded(void); /* whether this thread has a guard */
/* For calls into a host, whose frames nobody may leave: no guard is in force until
 * resumed with what suspend returned. */
struct ls_mem_guard *ls_mem_guard_suspend(void);
void ls_mem_guard_resume(struct ls_mem_guard *g);
int ls_mem_guard_why(const struct ls_mem_guard *g, struct ls_err *err);
/* fn under a guard of its own: for tasks of threads, and for what holds a lock. */
int ls_mem_try(int (*fn)(void *context, struct ls_err *err), void *context, struct ls_err *err);

/* Gives up and says why: for what no function can continue without. */
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
