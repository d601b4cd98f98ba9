/* Plots as SVG, without scripts: values of groups with their intervals, and curves over
 * steps. Everything is borrowed; text is appended to the caller's. They follow a reader's
 * dark mode. Any thread. */
#ifndef LS_STATS_PLOT_H
#define LS_STATS_PLOT_H

#include "base/str.h"
#include "stats/stats.h"

struct ls_plot_group {
	const char *name;
	const double *values;      /* those that are not finite are counted and not drawn */
	const char *const *labels; /* of each value, shown when pointed at */
	size_t n;
	const struct ls_stats_group *stats; /* of the values */
};

/* A strip plot, a row a group: each value as a dot, the mean and its 95 % interval as a
 * bar. */
void ls_plot_strip(const struct ls_plot_group *groups, size_t n, const char *metric,
		   struct ls_str *out);

struct ls_plot_series {
	const char *name;
	const double *x, *y; /* x ascends; a y that is not finite breaks the line */
	size_t n;
};

/* Lines over steps, at most four. mark: a step with a line from top to bottom, or NAN. */
void ls_plot_curves(const struct ls_plot_series *series, size_t n, const char *metric, double mark,
		    struct ls_str *out);

#endif
