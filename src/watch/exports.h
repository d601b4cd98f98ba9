/* Exports of models (to ONNX, say): a file of lines that programs append to, and what its
 * last day says. docs/FORMATS.md describes the lines. Nothing is owned. Any thread; any
 * number of processes may append. */
#ifndef LS_WATCH_EXPORTS_H
#define LS_WATCH_EXPORTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { LS_EXPORT_TEXT = 160 };

struct ls_export {
	double time;        /* seconds since 1970 */
	const char *format; /* "onnx" */
	const char *model;  /* the file that was exported, or NULL */
	const char *file;   /* the file that was, or should have been, written */
	const char *error;  /* NULL: it succeeded */
};

/* Appends a line to the record, whose folder is made where it is missing. A full record is
 * renamed to RECORD.old first. */
int ls_export_append(const char *record, const struct ls_export *e, struct ls_err *err);

struct ls_export_counts {
	bool asked;                 /* a record is followed */
	bool known;                 /* and it could be read; one that is not there is empty */
	char why[LS_EXPORT_TEXT];   /* why not */
	unsigned files, failed;     /* written in a day; whose last export failed */
	char file[LS_EXPORT_TEXT];  /* the one that failed last; "" when none did */
	char error[LS_EXPORT_TEXT]; /* and why */
};

/* The day before `now`. A file counts by its last export. */
void ls_exports_read(const char *record, double now, struct ls_export_counts *ret);
/* The same for the text of a record. */
void ls_exports_count(const char *text, size_t len, double now, struct ls_export_counts *ret);

#endif
