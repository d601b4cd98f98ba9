/* How quick a training is, by the file of metrics that it writes: JSON lines, CSV or TSV.
 * Rates are those that it writes itself ("samples_per_second"), or the steps that it
 * makes in a second. The follower owns its state; ls_throughput_free accepts NULL. Time
 * comes from the caller. One thread at a time an object. */
#ifndef LS_WATCH_THROUGHPUT_H
#define LS_WATCH_THROUGHPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct ls_throughput;

/* LS_EINPUT: a file that has no metrics, by its name. It need not be there yet. */
int ls_throughput_new(const char *file, struct ls_throughput **ret, struct ls_err *err);
void ls_throughput_free(struct ls_throughput *t);
/* Reads what has been added since the last look, at most 1 MiB. */
void ls_throughput_look(struct ls_throughput *t, double now);
/* The same for text that was added; whole lines. */
void ls_throughput_feed(struct ls_throughput *t, const char *text, size_t len, double now);

/* *ret_now: the median of the last rates, or less while steps are overdue; *ret_best: the
 * highest that it has been. False, with the reason, before there are enough. */
bool ls_throughput_rates(const struct ls_throughput *t, double now, double *ret_now,
			 double *ret_best, const char **ret_why);
const char *ls_throughput_file(const struct ls_throughput *t);

#endif
