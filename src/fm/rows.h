/* Rows of training data as the engine sees them: compressed sparse rows, borrowed from a loaded or mapped file.
 * Arrays belong to the struct ls_data that filled the view and live as long as it. Read-only; any thread. */
#ifndef LS_FM_ROWS_H
#define LS_FM_ROWS_H

#include <stdint.h>

struct ls_rows {
	uint64_t n_rows;
	uint64_t n_entries;
	uint64_t n_features;     /* largest feature index + 1 (at most 2^32) */
	uint32_t n_fields;       /* largest field number + 1; 0 when the data has no fields */
	const uint64_t *start;   /* n_rows + 1 offsets into the arrays below */
	const uint32_t *feature; /* n_entries, stored order of the file: the order that sums over a row follow */
	const uint16_t *field;   /* n_entries, or NULL */
	const float *value;      /* n_entries, finite; NULL: every value is 1 */
	const float *label;      /* n_rows: class number, 0/1 or target; NULL when missing */
	const float *weight;     /* n_rows, finite, >= 0; NULL: every weight is 1 */
};

/* What is wanted of a row first. */
struct ls_row_place {
	uint64_t row;
	uint64_t first; /* its first entry */
	uint32_t n;
	float label;
};

#endif
