#include "fm/data/rows.h"

#include <stdarg.h>
#include <stdio.h>

uint64_t ls_rows_longest(const struct ls_rows *rows)
{
	uint64_t longest = 0;
	for (uint64_t r = 0; r < rows->n_rows; r++) {
		uint64_t n = rows->start[r + 1] - rows->start[r];
		longest = n > longest ? n : longest;
	}
	return longest;
}

/* The last run that begins at or before the row. */
static const struct ls_row_run *run_of(const struct ls_origin *o, uint64_t row)
{
	size_t lo = 0, hi = o->n_runs;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;
		if (o->run[mid].row <= row)
			lo = mid;
		else
			hi = mid;
	}
	return &o->run[lo];
}

/* The file that a part of the rows is in. */
static struct ls_origin origin_of(const struct ls_rows *rows, enum ls_row_part part)
{
	struct ls_origin o = rows->origin ? *rows->origin : (struct ls_origin){0};
	const char *beside = part == LS_OF_LABEL    ? o.labels
			     : part == LS_OF_WEIGHT ? o.weights
						    : NULL;
	return beside ? (struct ls_origin){.name = beside} : o;
}

int ls_rows_fault(const struct ls_rows *rows, enum ls_row_part part, uint64_t row, int code,
		  struct ls_err *err, const char *fmt, ...)
{
	struct ls_origin o = origin_of(rows, part);
	const char *name = o.name ? o.name : "", *colon = o.name ? ": " : "";
	char what[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	if (row == LS_ROWS_ALL)
		return ls_err_set(err, code, "%s%s%s", name, colon, what);
	if (!o.n_runs)
		return ls_err_set(err, code, "%s%srow %llu: %s", name, colon,
				  (unsigned long long)row + 1, what);
	const struct ls_row_run *run = run_of(&o, row);
	return ls_err_set(err, code, "%s:%llu:%llu: %s", name,
			  (unsigned long long)(run->line + (row - run->row)),
			  (unsigned long long)run->column, what);
}
