#include "base/limits.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/cgroup.h"

/* No limit is "max" in version 2, and a number larger than any machine in version 1. */
static void most_at(void *context, const char *group, bool v2)
{
	uint64_t *most = context;
	char *text = ls_cgroup_file(group, v2 ? "memory.max" : "memory.limit_in_bytes"), *end;
	uint64_t here = text ? strtoull(text, &end, 10) : 0;
	if (text && end != text && here < *most)
		*most = here;
	free(text);
}

uint64_t ls_memory_most(const char *root)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t most = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
	ls_cgroup_each(root, "memory", most_at, &most);
	return most;
}
