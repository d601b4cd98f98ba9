#include "fm/rows.h"

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

static int fault(const struct ls_origin *o, uint64_t row, int code, struct ls_err *err, const char *fmt, va_list ap)
{
	char what[512];
	vsnprintf(what, sizeof what, fmt, ap);
	if (row == LS_ROWS_ALL)
		return ls_err_set(err, code, "%s%s%s", o ? o->name : "", o ? ": " : "", what);
	if (!o || !o->n_runs)
		return ls_err_set(err, code, "%s%srow %llu: %s", o ? o->name : "", o ? ": " : "",
				  (unsigned long long)row + 1, what);
	const struct ls_row_run *run = run_of(o, row);
	return ls_err_set(err, code, "%s:%llu:%llu: %s", o->name, (unsigned long long)(run->line + (row - run->row)),
			  (unsigned long long)run->column, what);
}

int ls_rows_fault(const struct ls_rows *rows, uint64_t row, int code, struct ls_err *err, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fault(rows->origin, row, code, err, fmt, ap);
	va_end(ap);
	return code;
}

int ls_label_fault(const struct ls_rows *rows, uint64_t row, int code, struct ls_err *err, const char *fmt, ...)
{
	const struct ls_origin *o = rows->origin, beside = {.name = o ? o->labels : NULL};
	va_list ap;
	va_start(ap, fmt);
	fault(beside.name ? &beside : o, row, code, err, fmt, ap);
	va_end(ap);
	return code;
}

int ls_weight_fault(const struct ls_rows *rows, uint64_t row, int code, struct ls_err *err, const char *fmt, ...)
{
	const struct ls_origin *o = rows->origin, beside = {.name = o ? o->weights : NULL};
	va_list ap;
	va_start(ap, fmt);
	fault(beside.name ? &beside : o, row, code, err, fmt, ap);
	va_end(ap);
	return code;
}
