/* The digest of rows: leaves of a fixed number of rows, hashed by any thread, then the
 * list of leaf digests hashed. */
#include <stdlib.h>

#include "base/digest.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "fm/data/data.h"

enum { LEAF_ROWS = 16384 };

struct leaves {
	const struct ls_rows *rows;
	char (*hex)[LS_SHA256_HEX];
};

static bool all_ones(const float *a, uint64_t n)
{
	bool ones = true;
	for (uint64_t i = 0; a && i < n; i++)
		ones &= a[i] == 1;
	return ones;
}

static void add_u64(struct ls_sha256 *h, uint64_t v)
{
	uint8_t b[8];
	for (int i = 0; i < 8; i++)
		b[i] = (uint8_t)(v >> 8 * i);
	ls_sha256_add(h, b, sizeof b);
}

/* Absent, and all ones, read the same. */
static void add_unless_ones(struct ls_sha256 *h, const float *a, uint64_t n)
{
	bool ones = all_ones(a, n);
	add_u64(h, !ones);
	if (!ones)
		ls_sha256_add(h, a, n * sizeof *a);
}

static void hash_leaf(void *ctx, size_t leaf)
{
	const struct leaves *l = ctx;
	const struct ls_rows *r = l->rows;
	uint64_t row = (uint64_t)leaf * LEAF_ROWS,
		 rows = r->n_rows - row < LEAF_ROWS ? r->n_rows - row : LEAF_ROWS;
	uint64_t at = r->start[row], n = r->start[row + rows] - at;
	struct ls_sha256 *h = ls_sha256_new();
	uint64_t length[64];
	for (uint64_t i = 0; i < rows;) {
		size_t m = 0;
		for (; m < 64 && i < rows; m++, i++)
			length[m] = r->start[row + i + 1] - r->start[row + i];
		ls_sha256_add(h, length, m * sizeof *length);
	}
	add_u64(h, n);
	ls_sha256_add(h, r->feature + at, n * sizeof *r->feature);
	if (r->field)
		ls_sha256_add(h, r->field + at, n * sizeof *r->field);
	add_unless_ones(h, r->value ? r->value + at : NULL, n);
	if (r->label)
		ls_sha256_add(h, r->label + row, rows * sizeof *r->label);
	add_unless_ones(h, r->weight ? r->weight + row : NULL, rows);
	ls_sha256_final(h, l->hex[leaf]);
}

void ls_rows_digest(const struct ls_rows *rows, int threads, char ret_hex[65])
{
	size_t n = (size_t)((rows->n_rows + LEAF_ROWS - 1) / LEAF_ROWS);
	struct leaves l = {rows, ls_xalloc(n * sizeof *l.hex)};
	ls_parallel(threads, n, hash_leaf, &l);
	struct ls_sha256 *h = ls_sha256_new();
	static const char title[] = "lockstep rows 1\n";
	ls_sha256_add(h, title, sizeof title - 1);
	add_u64(h, rows->n_rows);
	add_u64(h, rows->n_entries);
	add_u64(h, rows->field && rows->n_entries);
	add_u64(h, rows->label != NULL);
	for (size_t i = 0; i < n; i++)
		ls_sha256_add(h, l.hex[i], LS_SHA256_HEX - 1);
	ls_sha256_final(h, ret_hex);
	free(l.hex);
}
