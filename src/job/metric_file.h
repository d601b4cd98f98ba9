/* Metrics in a file that a training wrote: JSON lines, JSON, CSV, TensorBoard's event
 * files, or what it printed. Points are appended to the caller's. Nothing in a file is
 * trusted. Any thread. */
#ifndef LS_JOB_METRIC_FILE_H
#define LS_JOB_METRIC_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "job/points.h"

enum ls_metric_kind {
	LS_METRIC_NONE, /* no file of metrics, by its name */
	LS_METRIC_EVENTS,
	LS_METRIC_LINES, /* JSON lines */
	LS_METRIC_JSON,
	LS_METRIC_CSV,
	LS_METRIC_TSV,
};

enum ls_metric_kind ls_metric_kind_of(const char *path);

/* ended: nobody writes to it any more, so that a last line without a newline is whole.
 * *ret_cut: the file ends within a record, which is left out. shown names the file in
 * messages. */
int ls_metric_file_read(const char *path, const char *shown, bool ended, struct ls_points *p,
			bool *ret_cut, struct ls_err *err);
int ls_metric_text_read(enum ls_metric_kind kind, const char *text, size_t len, bool ended,
			struct ls_points *p, bool *ret_cut, struct ls_err *err);

/* Printed lines. A pattern is text with {name} where the number of a metric stands,
 * {step} or {epoch} where the step does, and {} for anything; blanks match any number of
 * blanks. One without braces is the name of a metric that is printed as "name: 0.5" or
 * "name=0.5". */
int ls_metric_pattern_check(const char *pattern, struct ls_err *err);
int ls_metric_printed(const char *text, size_t len, const char *pattern, struct ls_points *p,
		      struct ls_err *err);

#endif
