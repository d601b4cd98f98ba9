#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In static storage, whose first use in a thread allocates nothing. */
static _Thread_local struct ls_mem_guard *innermost __attribute__((tls_model("initial-exec")));

void ls_mem_guard_enter(struct ls_mem_guard *g)
{
	g->outer = innermost;
	innermost = g;
}

void ls_mem_guard_leave(struct ls_mem_guard *g)
{
	innermost = g->outer;
}

bool ls_mem_guarded(void)
{
	return innermost != NULL;
}

struct ls_mem_guard *ls_mem_guard_suspend(void)
{
	struct ls_mem_guard *g = innermost;
	innermost = NULL;
	return g;
}

void ls_mem_guard_resume(struct ls_mem_guard *g)
{
	innermost = g;
}

int ls_mem_guard_why(const struct ls_mem_guard *g, struct ls_err *err)
{
	if (err)
		*err = g->why;
	return g->why.code;
}

int ls_mem_try(int (*fn)(void *context, struct ls_err *err), void *context, struct ls_err *err)
{
	struct ls_mem_guard g;
	volatile int rc;
	ls_mem_guard_enter(&g);
	if (setjmp(g.at) == 0)
		rc = fn(context, err);
	else
		rc = ls_mem_guard_why(&g, err);
	ls_mem_guard_leave(&g);
	return rc;
}

static _Noreturn void leave_guard(int code, const char *why)
{
	struct ls_mem_guard *g = innermost;
	ls_err_set(&g->why, code, "%s", why);
	longjmp(g->at, 1);
}

/* Without a guard, the one place where the library prints and exits. Functions that cannot
 * fail have no way to report such an error, and an abort would not say why. stdio is not
 * used, because it may allocate. */
_Noreturn void ls_give_up(const char *why)
{
	if (innermost)
		leave_guard(LS_EINTERNAL, why);
	const char *parts[] = {"lockstep: ", why, "\n"};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
			break;
	(_exit)(4);
}

_Noreturn void ls_no_memory(void)
{
	if (innermost)
		leave_guard(LS_ENOMEM, "no memory");
	ls_give_up("no memory");
}

static void *or_end(void *p)
{
	if (!p)
		ls_no_memory();
	return p;
}

void *ls_xalloc(size_t size)
{
	return or_end(calloc(1, size ? size : 1));
}

void *ls_xalloc_aligned(size_t align, size_t size)
{
	return memset(or_end(aligned_alloc(align, size)), 0, size);
}

void *ls_xrealloc(void *p, size_t size)
{
	return or_end(realloc(p, size ? size : 1));
}

char *ls_xstrdup(const char *s)
{
	return or_end(strdup(s));
}

char *ls_xstrndup(const char *s, size_t n)
{
	return or_end(strndup(s, n));
}

char *ls_xasprintf(const char *fmt, ...)
{
	char *out = NULL;
	va_list ap;
	va_start(ap, fmt);
	int n = vasprintf(&out, fmt, ap);
	va_end(ap);
	if (n < 0)
		ls_no_memory();
	return out;
}

void *ls_alloc_array(size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		return NULL;
	return calloc(count ? count : 1, size ? size : 1);
}

void *ls_grow(void *items, size_t count, size_t *capacity, size_t elem_size)
{
	if (count < *capacity)
		return items;
	size_t bigger = *capacity ? *capacity * 2 : 8;
	if (bigger > SIZE_MAX / elem_size)
		ls_no_memory();
	items = ls_xrealloc(items, bigger * elem_size);
	*capacity = bigger;
	return items;
}
