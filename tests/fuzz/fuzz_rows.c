/* libsvm and libffm text, and gzip of it: whole and cut into small slices must give the
 * same rows or the same fault. */
#include <stdlib.h>
#include <string.h>

#include "fm/data/data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

static void check(const struct ls_rows *r)
{
	require(r->n_rows > 0 && r->start[0] == 0 && r->start[r->n_rows] == r->n_entries);
	for (uint64_t i = 0; i < r->n_rows; i++)
		require(r->start[i] <= r->start[i + 1]);
	for (uint64_t i = 0; i < r->n_entries; i++)
		require(r->feature[i] < r->n_features && (!r->field || r->field[i] < r->n_fields) &&
			(!r->value || r->value[i] - r->value[i] == 0));
	for (uint64_t i = 0; i < r->n_rows; i++)
		require((!r->label || r->label[i] - r->label[i] == 0) &&
			(!r->weight || r->weight[i] >= 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_data_opts whole = {.threads = 1}, cut = {.threads = 1, .slice_bytes = 16};
	struct ls_data *a = NULL, *b = NULL;
	struct ls_err first = {0}, second = {0};
	char x[65], y[65];
	int rc = ls_data_load_memory("fuzz", data, size, &whole, &a, &first);
	require(rc == ls_data_load_memory("fuzz", data, size, &cut, &b, &second));
	if (rc) {
		require(strcmp(first.msg, second.msg) == 0);
		return 0;
	}
	check(ls_data_rows(a));
	ls_data_digest(a, x);
	ls_data_digest(b, y);
	require(strcmp(x, y) == 0);
	ls_data_free(a);
	ls_data_free(b);
	return 0;
}
