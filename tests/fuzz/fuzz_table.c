/* CSV and JSON lines: the input is two files with a NUL between them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/compare_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void forget(struct ls_cmp_file *f)
{
	for (size_t i = 0; i < f->n_items; i++) {
		free(f->items[i].name);
		free(f->items[i].a);
		free(f->items[i].b);
		free(f->items[i].first);
	}
	free(f->items);
	*f = (struct ls_cmp_file){0};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *cut = size ? memchr(data, 0, size) : NULL;
	if (!cut)
		return 0;
	struct ls_map a = {data, (size_t)(cut - data)}, b = {cut + 1, size - (size_t)(cut - data) - 1};
	struct ls_cmp_options opt = {.threads = 1};
	struct ls_cmp_file f = {0};
	struct ls_err err;
	ls_cmp_csv(&a, &b, ',', &opt, &f, &err);
	forget(&f);
	ls_cmp_jsonl(&a, &b, &opt, &f, &err);
	forget(&f);
	return 0;
}
