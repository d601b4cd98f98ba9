/* Locks: pip's report, and requirements with --hash. What is read has one version and
 * well-formed hashes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "env/render/lock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = ls_xstrndup((const char *)data, size);
	struct ls_lock *lock = NULL;
	struct ls_err err = {0};
	if (!ls_lock_parse(text, strlen(text), "fuzz", &lock, &err)) {
		for (size_t i = 0; i < lock->n; i++) {
			const struct ls_locked *item = &lock->items[i];
			if (!item->n_hashes || !*item->version || strchr(item->marker, '\n') ||
			    ls_lock_find(lock, item->name) != item)
				abort();
		}
		ls_lock_free(lock);
	}
	free(text);
	return 0;
}
