/* Numbers with names in text that programs write: JSON, CSV, and what they print. Nothing
 * in the text is trusted; memory does not grow with it. Text is borrowed. Any thread. */
#ifndef LS_RUN_METRIC_TEXT_H
#define LS_RUN_METRIC_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* A number at p: decimal, or "nan", "Infinity", "-inf" in any case. The token ends at the
 * first byte that no number has. Returns its length, 0 where there is no number. */
size_t ls_metric_number(const char *p, size_t len, double *ret);

/* What stands behind a printed name: quotes, blanks, ":" or "=", and a number, perhaps in
 * "tensor(…)". Returns its length up to the end of the number, or 0. */
size_t ls_metric_assigned(const char *p, const char *end, double *ret);
/* Whether c can be part of a printed name. */
bool ls_metric_in_name(char c);

/* The numbers of JSON documents that follow each other. path has the keys from the top
 * joined by "/", at most 1024 bytes of each; in_list: inside of an array. The strings
 * "NaN" and "Infinity" are numbers, too. */
struct ls_metric_visit {
	void (*number)(void *ctx, const struct ls_str *path, bool in_list, double value,
		       const char *at);
	void (*document)(void *ctx); /* at the end of each; may be NULL */
	void *ctx;
};

/* false: the text ends early or is not JSON. */
bool ls_metric_json(const char *text, size_t len, const struct ls_metric_visit *visit);

struct ls_metric_cells {
	const char *p, *end;
	char separator;
	bool row_ends, broken; /* after the cell */
};

/* The next cell of a CSV text without its quotes; at most 1024 bytes are kept. */
void ls_metric_cell(struct ls_metric_cells *c, struct ls_str *out);

#endif
