/* A text table: columns as wide as their widest cell, cells copied. Widths count code
 * points, not bytes. ls_table_done frees; one thread at a time an object. */
#ifndef LS_BASE_TABLE_H
#define LS_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct ls_table {
	size_t columns, rows, cap;
	char **cells; /* rows * columns, row by row; the first row is the heading */
};

void ls_table_init(struct ls_table *t, size_t columns, const char *const *heading);
void ls_table_row(struct ls_table *t, const char *const *cells); /* NULL cells are empty */
void ls_table_text(const struct ls_table *t, struct ls_str *out);
void ls_table_markdown(const struct ls_table *t,
		       struct ls_str *out); /* pipes and newlines escaped */
void ls_table_done(struct ls_table *t);

#endif
