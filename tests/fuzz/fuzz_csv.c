/* A table in CSV, whole and cut into small slices: the same rows or the same fault. The
 * same bytes as the description of a table: refused, or read. */
#include <stdlib.h>
#include <string.h>

#include "fm/data/columns.h"
#include "fm/data/data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

static int load(const uint8_t *data, size_t size, size_t slice, struct ls_data **ret,
		struct ls_err *err)
{
	struct ls_columns *c = ls_columns_new();
	struct ls_data_opts o = {
		.threads = 1, .columns = c, .need_labels = true, .slice_bytes = slice};
	c->label = strdup("1");
	c->learn = c->no_header = true;
	c->bits = 10;
	require(ls_columns_add(c, "2", false, err) == 0 && ls_columns_add(c, "3", true, err) == 0);
	int rc = ls_data_load_memory("fuzz", data, size, &o, ret, err);
	if (rc == 0)
		require(c->n_names <= 1024 && ls_data_rows(*ret)->n_rows > 0);
	ls_columns_free(c);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_data *a = NULL, *b = NULL;
	struct ls_columns *c;
	struct ls_err first = {0}, second = {0};
	char x[65], y[65];
	int rc = load(data, size, 0, &a, &first);
	require(rc == load(data, size, 16, &b, &second));
	if (rc) {
		require(strcmp(first.msg, second.msg) == 0);
	} else {
		ls_data_digest(a, x);
		ls_data_digest(b, y);
		require(strcmp(x, y) == 0);
		ls_data_free(a);
		ls_data_free(b);
	}
	if (ls_columns_parse((const char *)data, size, "fuzz", &c, NULL) == 0)
		ls_columns_free(c);
	return 0;
}
