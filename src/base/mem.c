#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The one place where the library prints and exits. Functions that cannot fail have no
 * way to report such an error, and an abort would not say why. stdio is not used, because
 * it may allocate. */
_Noreturn void ls_give_up(const char *why)
{
	const char *parts[] = {"lockstep: ", why, "\n"};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
			break;
	(_exit)(4);
}

_Noreturn void ls_no_memory(void)
{
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
	*capacity = bigger;
	return ls_xrealloc(items, bigger * elem_size);
}
