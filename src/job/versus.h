/* Two experiments beside each other: what was different, what came out, and which
 * difference may explain the rest. A struct ls_versus owns all it points to
 * (ls_versus_done). One thread a store. */
#ifndef LS_JOB_VERSUS_H
#define LS_JOB_VERSUS_H

#include <stdbool.h>

#include "job/store.h"
#include "run/manifest.h"

enum ls_versus_verdict {
	LS_VERSUS_SAME, /* all metrics and files that both have are equal */
	LS_VERSUS_DIFFER,
	LS_VERSUS_UNKNOWN /* nothing of the results can be compared */
};

struct ls_versus_metric {
	char *name;
	bool has[2]; /* whether a and b have it */
	double value[2];
	bool equal;    /* as many values, equal at all common steps and at the end, NaN to NaN */
	bool measured; /* how long something took, or on how many threads: shown and not judged */
	size_t points[2];
	size_t steps, steps_differ; /* that both have; of these, where the values differ */
	int64_t first;              /* the first of steps_differ */
};

struct ls_versus {
	json_t *row[2];          /* with metrics, artifacts and manifest */
	struct ls_differences d; /* parameters, code, environment; the weightiest first */
	struct ls_versus_metric *metrics;
	size_t n_metrics, cap_metrics;
	json_t *files; /* {path: "equal", "differs", "only in A", "only in B", or "log": its metrics
			  are compared in its place} */
	size_t metrics_equal, metrics_differ, files_equal, files_differ;
	bool manifests; /* both runs left one */
	enum ls_versus_verdict verdict;
	char *sentence;
};

int ls_versus_make(struct ls_store *s, const char *a, const char *b, struct ls_versus *ret,
		   struct ls_err *err);
void ls_versus_done(struct ls_versus *v);

void ls_versus_text(const struct ls_versus *v, struct ls_str *out);
json_t *ls_versus_json(const struct ls_versus *v);
/* A page of its own with the curves of the metrics that both have. */
int ls_versus_html(struct ls_store *s, const struct ls_versus *v, struct ls_str *out,
		   struct ls_err *err);

#endif
