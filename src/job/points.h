/* Points of metrics: name, step, value. A struct ls_points owns its names; ls_points_done
 * frees. One thread at a time an object. */
#ifndef LS_JOB_POINTS_H
#define LS_JOB_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

/* More of either than any training writes; beyond it a file is refused. */
enum { LS_POINTS_MOST = 5000000, LS_POINTS_NAMES = 20000 };

struct ls_point {
	uint32_t name; /* index into names */
	int64_t step;
	double value; /* may be NaN or infinite */
};

struct ls_points {
	char **names;    /* printable */
	int64_t *counts; /* how often each came */
	size_t n_names, cap_names, cap_counts;
	json_t *by_name;
	struct ls_point *items; /* in the order in which they came */
	size_t n, cap;
};

/* A point without a step: its number among those of its name, from 1. */
#define LS_POINT_COUNTED INT64_MIN

int ls_points_add(struct ls_points *p, const char *name, size_t len, int64_t step, double value,
		  struct ls_err *err);
void ls_points_done(struct ls_points *p);

/* What programs call a step, the surest first: "step", "global_step", … Its rank, or
 * -1. */
int ls_step_rank(const char *name, size_t len);
/* Whether a number can be a step: whole and below 2^53. */
bool ls_step_of(double value, int64_t *ret);

#endif
