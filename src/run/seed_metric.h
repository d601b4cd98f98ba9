/* The value of a metric that a run left behind: in JSON or JSON lines, in CSV, or printed
 * as "name: value" or "name=value". Text is borrowed; nothing in it is trusted. Memory
 * does not grow with the text. A struct ls_seed_metric owns its source
 * (ls_seed_metric_done). Any thread. */
#ifndef LS_RUN_SEED_METRIC_H
#define LS_RUN_SEED_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* What one text says. The last value counts. */
struct ls_seed_metric_found {
	size_t n;       /* how often the metric stood there */
	double value;   /* may be NaN or infinite */
	bool ambiguous; /* several entries answer to the name: "train/f1" and "val/f1" to "f1" */
	bool broken;    /* the text ends early or is not what it should be */
	size_t line;    /* of the value */
};

/* In JSON the name is that of the keys from the top, joined by "/" or ".", or their end
 * where only one entry ends so; what lies nearer to the top is preferred. Several
 * documents may follow each other. */
void ls_seed_metric_json(const char *text, size_t len, const char *name,
			 struct ls_seed_metric_found *ret);
/* A column by its name in the first row; the last cell that is not empty. */
void ls_seed_metric_csv(const char *text, size_t len, char separator, const char *name,
			struct ls_seed_metric_found *ret);
void ls_seed_metric_log(const char *text, size_t len, const char *name,
			struct ls_seed_metric_found *ret);

struct ls_seed_metric {
	double value;
	char *source; /* "metrics.csv, line 12" */
};

/* Looks through the files that a run wrote under out, and where none has the metric,
 * through its log (NULL: there is none). metric is NAME or FILE:NAME, where FILE is a
 * pattern that ends in .json, .jsonl, .csv or .tsv. Fails where no value is found, or
 * where files say different things. */
int ls_seed_metric_read(const char *out, const char *log, const char *metric,
			struct ls_seed_metric *ret, struct ls_err *err);
void ls_seed_metric_done(struct ls_seed_metric *m);

#endif
