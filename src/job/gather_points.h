/* All points of one attempt, by file. Files own their points; ls_points_files_done frees.
 * One thread at a time an object. */
#ifndef LS_JOB_GATHER_POINTS_H
#define LS_JOB_GATHER_POINTS_H

#include "job/points.h"

struct ls_points_file {
	char *shown; /* relative to the output folder, or "stdout" */
	struct ls_points points;
};

struct ls_value {
	const char *name; /* of the file's points */
	int64_t step;
	double value;
	size_t file, order;
};

struct ls_points_files {
	struct ls_points_file *items; /* in the order of their names */
	size_t n, cap;
	struct ls_value *values; /* one for each name and step, in this order */
	size_t n_values;
};

/* folder is the attempt's: out/ and output.log are read. ended: nobody writes there any
 * more. Where files of several folders have a metric of one name, the folder's name is
 * put before it: "validation/loss". Two files that still disagree are LS_EINPUT. Of two
 * values in one file, or in files of one folder, the later one counts. Appends what was
 * left out to notes. */
int ls_points_gather(const char *folder, const json_t *rules, bool ended,
		     struct ls_points_files *ret, json_t *notes, struct ls_err *err);
void ls_points_files_done(struct ls_points_files *f);

#endif
