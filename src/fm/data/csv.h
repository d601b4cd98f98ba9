/* Comma-separated values as records of cells: RFC 4180, and what is usual beside it
 * (docs/FORMATS.md, "Rows: tables"). Reads from a source, which stays the caller's. What a
 * record points to lives until the next one is read. One thread at a time an object;
 * ls_csv_free accepts NULL. */
#ifndef LS_FM_DATA_CSV_H
#define LS_FM_DATA_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fm/data/source.h"

/* Quotes undone. A newline follows the text, as readers of numbers want. */
struct ls_csv_cell {
	const char *text;
	size_t len;
};

struct ls_csv_record {
	uint64_t line; /* on which it begins, from 1 */
	size_t n;
	const struct ls_csv_cell *cell;
};

struct ls_csv;

/* delimiter 0: the first of comma, tab, semicolon and bar that the first line has outside
 * of quotes; comma if none. */
struct ls_csv *ls_csv_new(struct ls_source *s, char delimiter);
void ls_csv_free(struct ls_csv *c);

/* 1: a record; 0: the end; negative: an error. Blank lines are passed over. */
int ls_csv_next(struct ls_csv *c, struct ls_csv_record *ret, struct ls_err *err);
/* The delimiter in use, once a record was read. */
char ls_csv_delimiter(const struct ls_csv *c);

#endif
