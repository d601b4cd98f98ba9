/* Two JSON texts, notebooks or CSV files side by side: a first byte that says which, then
 * both, parted by the first byte 0. */
#include <stdint.h>
#include <string.h>

#include "compare/compare_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *cut = size ? memchr(data + 1, 0, size - 1) : NULL;
	if (!cut)
		return 0;
	struct ls_map a = {data + 1, (size_t)(cut - data - 1)};
	struct ls_map b = {cut + 1, size - (size_t)(cut + 1 - data)};
	struct ls_cmp_options opt = {0};
	struct ls_cmp_file f = {0};
	struct ls_err err;
	if (data[0] == 'j')
		ls_cmp_json(&a, &b, &opt, &f, &err);
	else if (data[0] == 'n')
		ls_cmp_notebooks(&a, &b, &opt, &f, &err);
	else if (data[0] == 'l')
		ls_cmp_jsonl(&a, &b, &opt, &f, &err);
	else
		ls_cmp_csv(&a, &b, ',', &opt, &f, &err);
	ls_cmp_file_done(&f);
	return 0;
}
