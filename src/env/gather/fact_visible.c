/* How many of the GPUs programs see: CUDA_VISIBLE_DEVICES hides the others. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/environ.h"
#include "env/gather/look.h"

static bool is_sliced(const struct ls_facts *f, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *mig = ls_facts_gpu_value(f, i, "mig");
		if (mig && strcmp(mig, "on") == 0)
			return true;
	}
	return false;
}

/* The one GPU whose UUID begins with entry; n: none, or several. */
static size_t by_uuid(const struct ls_facts *f, size_t n, const char *entry)
{
	size_t found = n;
	for (size_t i = 0; i < n; i++) {
		const char *uuid = ls_facts_gpu_value(f, i, "uuid");
		if (!uuid || !ls_str_starts(uuid, entry))
			continue;
		if (found != n)
			return n;
		found = i;
	}
	return found;
}

/* The GPU that one entry names, by index or by the beginning of its UUID; n: none. A
 * slice of a GPU (MIG-...) is none of the whole ones and still visible: n + 1. */
static size_t named(const struct ls_facts *f, size_t n, const char *entry)
{
	if (isdigit((unsigned char)*entry) && !entry[strspn(entry, "0123456789")]) {
		unsigned long long i = strtoull(entry, NULL, 10);
		return i < n ? (size_t)i : n;
	}
	if (ls_str_starts(entry, "MIG-"))
		return is_sliced(f, n) ? n + 1 : n;
	return ls_str_starts(entry, "GPU-") ? by_uuid(f, n, entry) : n;
}

/* CUDA reads the list up to the first entry that names no GPU; one named twice makes it
 * show none. */
static size_t count_visible(const struct ls_facts *f, size_t n, const char *list)
{
	bool *seen = ls_xalloc((n + 1) * sizeof *seen);
	char *copy = ls_xstrdup(list), *rest = copy;
	size_t count = 0;
	for (char *entry; (entry = strsep(&rest, ","));) {
		size_t i = named(f, n, ls_str_trim(entry));
		if (i == n)
			break;
		if (i < n && seen[i]) {
			count = 0;
			break;
		}
		if (i < n)
			seen[i] = true;
		count++;
	}
	free(copy);
	free(seen);
	return count;
}

void ls_look_visible(struct ls_look *look)
{
	const char *list = ls_env_get(look->how->env, "CUDA_VISIBLE_DEVICES");
	size_t n = ls_facts_gpu_count(look->facts);
	char text[24];
	if (!list || !ls_facts_value(look->facts, "gpu_count"))
		return;
	snprintf(text, sizeof text, "%zu", count_visible(look->facts, n, list));
	ls_facts_set(look->facts, "gpu_visible", text, "environment: CUDA_VISIBLE_DEVICES");
}
