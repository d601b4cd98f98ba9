/* Rows from the arrays of a host program: compressed sparse rows as scipy has them, every
 * element checked. An array whose type is that of rows already is borrowed and must
 * outlive the result; others are converted into blocks of our own. Any thread. */
#ifndef LS_FM_DATA_ARRAYS_H
#define LS_FM_DATA_ARRAYS_H

#include <stdint.h>

#include "fm/data/data.h"
#include "tensor/tensor.h"

enum ls_array_part {
	LS_PART_INDPTR,  /* n_rows + 1 offsets, ascending from 0 */
	LS_PART_INDICES, /* a column an entry */
	LS_PART_VALUES,  /* a number an entry; absent: 1 */
	LS_PART_FIELDS,  /* a field an entry, up to 65535; may be absent */
	LS_PART_LABELS,  /* a number a row; may be absent */
	LS_PART_WEIGHTS, /* a number a row; absent: 1 */
	LS_PARTS
};

struct ls_arrays {
	const char *name;                /* for messages */
	struct ls_tensor part[LS_PARTS]; /* vectors; dtype LS_DT_NONE: absent */
	uint64_t columns;
};

int ls_data_from_arrays(const struct ls_arrays *a, int threads, struct ls_data **ret,
			struct ls_err *err);

#endif
