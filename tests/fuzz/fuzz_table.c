/* CSV and JSON lines: the input is two files with a NUL between them. */
#include <stdint.h>
#include <string.h>

#include "compare/compare_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *cut = size ? memchr(data, 0, size) : NULL;
	if (!cut)
		return 0;
	struct ls_map a = {data, (size_t)(cut - data)},
		      b = {cut + 1, size - (size_t)(cut - data) - 1};
	struct ls_cmp_options opt = {.threads = 1};
	struct ls_cmp_file f = {0};
	struct ls_err err;
	ls_cmp_csv(&a, &b, ',', &opt, &f, &err);
	ls_cmp_file_done(&f);
	ls_cmp_jsonl(&a, &b, &opt, &f, &err);
	ls_cmp_file_done(&f);
	return 0;
}
