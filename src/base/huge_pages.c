#include "base/huge_pages.h"

#include <stdint.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

static size_t whole_pages(size_t bytes)
{
	return bytes < HUGE_PAGE ? bytes + !bytes : (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* A block starts at a huge page's boundary: elsewhere both its ends would be on small
 * pages, and each of those costs a page walk. */
void *ls_huge_alloc(size_t bytes)
{
	size_t size = whole_pages(bytes);
	if (size < HUGE_PAGE)
		return map(size);
	char *p = size > SIZE_MAX - HUGE_PAGE ? NULL : map(size + HUGE_PAGE);
	if (!p)
		return NULL;
	size_t before = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
	if (before)
		munmap(p, before);
	if (before < HUGE_PAGE)
		munmap(p + before + size, HUGE_PAGE - before);
	/* A refusal only costs speed. */
	madvise(p + before, size, MADV_HUGEPAGE);
	return p + before;
}

void ls_huge_free(void *p, size_t bytes)
{
	if (p)
		munmap(p, whole_pages(bytes));
}
