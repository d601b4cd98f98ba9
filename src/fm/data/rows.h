/* Rows of training data as the engine sees them: compressed sparse rows, borrowed from a
 * loaded or mapped file. Arrays belong to the struct ls_data that filled the view and
 * live as long as it. Read-only; any thread. */
#ifndef LS_FM_DATA_ROWS_H
#define LS_FM_DATA_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Rows on one line of text after another that begin in the same column, from `row` on,
 * which is on `line`. */
struct ls_row_run {
	uint64_t row, line, column; /* row from 0, the others from 1 */
};

/* Where rows came from, for messages. */
struct ls_origin {
	/* files; the last two where they are others than the rows', otherwise NULL */
	const char *name, *labels, *weights;
	/* of text, the first from row 0 on; otherwise none */
	const struct ls_row_run *run;
	size_t n_runs;
};

struct ls_rows {
	uint64_t n_rows;
	uint64_t n_entries;
	uint64_t n_features; /* largest feature index + 1 (at most 2^32) */
	/* largest field number + 1; 0 when the data has no fields */
	uint32_t n_fields;
	const uint64_t *start; /* n_rows + 1 offsets into the arrays below */
	/* n_entries, stored order of the file: the order that sums over a row follow */
	const uint32_t *feature;
	const uint16_t *field; /* n_entries, or NULL */
	const float *value;    /* n_entries, finite; NULL: every value is 1 */
	/* n_rows: class number, 0/1 or target; NULL when missing */
	const float *label;
	const float *weight;            /* n_rows, finite, >= 0; NULL: every weight is 1 */
	const struct ls_origin *origin; /* NULL: not known */
};

/* What is wanted of a row first. */
struct ls_row_place {
	uint64_t row;
	uint64_t first; /* its first entry */
	uint32_t n;
	float label;
};

/* Entries of the longest row. */
uint64_t ls_rows_longest(const struct ls_rows *rows);

#define LS_ROWS_ALL UINT64_MAX

enum ls_row_part { LS_OF_ROW, LS_OF_LABEL, LS_OF_WEIGHT };

/* Fills err with "FILE:LINE:COLUMN: …" of a row, "FILE: row N: …" where the file has no
 * lines, or "FILE: …" for LS_ROWS_ALL; returns code. Labels and weights may be in files
 * of their own. */
int ls_rows_fault(const struct ls_rows *rows, enum ls_row_part part, uint64_t row, int code,
		  struct ls_err *err, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#endif
