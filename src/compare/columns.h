/* Columns: what CSV files and JSON lines are reported by. A column has the statistics of
 * its rows. The list owns its names; ls_columns_done frees them. One thread. */
#ifndef LS_COMPARE_COLUMNS_H
#define LS_COMPARE_COLUMNS_H

#include "compare/compare_internal.h"

struct ls_column {
	char *name;
	struct ls_stats stats; /* elements: rows; first: a row's number */
	bool one_sided[2];
	const struct ls_limits *limits; /* of the tolerance; NULL for none */
};

struct ls_columns {
	struct ls_column *items;
	size_t n, cap;
	json_t *by_name;
	const struct ls_cmp_options *opt;
};

void ls_columns_init(struct ls_columns *c, const struct ls_cmp_options *opt);
void ls_columns_done(struct ls_columns *c);
/* The column of that name, made when it is new; valid until the next one is made. */
struct ls_column *ls_column_of(struct ls_columns *c, const char *name);
/* Counts two cells that are equal, or are not numbers. */
void ls_column_count(struct ls_column *c, bool differs, uint64_t row);
/* Counts two numbers that were found to differ; the texts only say by how much. */
void ls_column_count_numbers(struct ls_column *c, double a, double b, uint64_t row);
/* Adds the columns that differ to the file. unit: "row" or "line". */
void ls_columns_report(const struct ls_columns *c, const char *unit, struct ls_cmp_file *f);
/* Adds a difference when the numbers of rows are not equal. unit: "rows" or "lines". */
void ls_rows_report(struct ls_cmp_file *f, uint64_t a, uint64_t b, const char *unit);

#endif
