/* Jobs and experiments of a project as JSON: read from its store over and over, which may
 * come and go. Reading takes at most a twentieth of the time. The project owns its copy
 * of the folder's name and its last answer; ls_project_free accepts NULL. One thread a
 * project. */
#ifndef LS_WATCH_PROJECT_H
#define LS_WATCH_PROJECT_H

#include "watch/body.h"

struct ls_project;

/* folder: where the store is looked for, and above it. */
struct ls_project *ls_project_new(const char *folder);
void ls_project_free(struct ls_project *p);

/* {"version", "project", "why", "counts", "workers", "experiments": […]}. Without a store
 * project is null, and why says why. When version is the one that was seen, only
 * {"version", "same"}. With the holder for the caller. */
struct ls_body *ls_project_experiments(struct ls_project *p, const char *seen);
/* {"project", "why", "counts", "workers", "jobs": […]}: of those the ones that run or
 * wait. */
struct ls_body *ls_project_jobs(struct ls_project *p);
/* {"experiment", "metric", "points"}; NULL when there is no such experiment. */
struct ls_body *ls_project_curve(struct ls_project *p, const char *experiment, const char *metric);

#endif
