/* A table in CSV to rows, by a description of its columns. Categories and the names of
 * numeric columns are hashed (fm/data/hash.h); the first table also decides the classes of
 * a label of words, and names the features. All rows are held in memory. One thread. */
#ifndef LS_FM_DATA_TABULAR_H
#define LS_FM_DATA_TABULAR_H

#include <stdbool.h>

#include "base/err.h"
#include "fm/data/columns.h"
#include "fm/data/rows.h"
#include "fm/data/source.h"

/* Arrays of their own; ls_tabular_done frees. label and weight NULL: there are none. */
struct ls_tabular {
	uint64_t n_rows, n_entries;
	uint64_t *start;
	uint32_t *feature;
	uint16_t *field;
	float *value, *label, *weight;
	uint32_t max_feature;
	uint16_t max_field;
};

/* Without need_labels labels are not looked at, and the table need not have them. Where
 * columns->learn is set, it is changed. */
int ls_tabular_read(struct ls_source *s, struct ls_columns *columns, bool need_labels,
		    struct ls_tabular *ret, struct ls_err *err);
void ls_tabular_done(struct ls_tabular *t);

#endif
