/* PTX of any bytes: cutting it ends, what is left is part of it, and cutting that again
 * changes nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/ptx.h"

static const char *const names[] = {"k_1", "k_2", NULL}, *const one[] = {"k_1", NULL},
			 *const none[] = {NULL};

static void check(const char *text, size_t size, const char *const *wanted)
{
	char *cut, *again;
	size_t len, len_again;
	if (ls_ptx_cut(text, size, wanted, &cut, &len, NULL))
		return;
	if (len > size || cut[len] || ls_ptx_cut(cut, len, wanted, &again, &len_again, NULL))
		abort();
	if (len != len_again || memcmp(cut, again, len) != 0)
		abort();
	free(again);
	free(cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1); /* its own block: a byte read behind it is seen */
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	check(copy, size, names);
	check(copy, size, one);
	check(copy, size, none);
	free(copy);
	return 0;
}
