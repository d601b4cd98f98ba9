/* What is known of jobs beside the GPUs: how many experiments of a project succeed,
 * how quick trainings are, and whether models could be exported. The watch owns the store that it
 * opens; ls_job_watch_free accepts NULL. Time comes from the caller. One thread at a time an
 * object. */
#ifndef LS_WATCH_JOBS_H
#define LS_WATCH_JOBS_H

#include <stdbool.h>

#include "base/err.h"
#include "watch/exports.h"
#include "watch/trainings.h"

struct ls_jobs {
	bool asked;    /* a project is watched */
	bool counted;  /* and its store could be read */
	char why[160]; /* why not */
	unsigned ended,
		done; /* attempts that ended in a day; those that were cancelled are not counted */
	unsigned queued, running;
	struct ls_export_counts exports;
	size_t n_rates;
	struct ls_training_rate rates[LS_TRAININGS];
};

struct ls_job_watch;

struct ls_job_watch *ls_job_watch_new(void);
void ls_job_watch_free(struct ls_job_watch *w);
/* folder: of the project, or one below it. */
int ls_job_watch_project(struct ls_job_watch *w, const char *folder, struct ls_err *err);
int ls_job_watch_log(struct ls_job_watch *w, const char *file, struct ls_err *err);
/* A record of exports (watch/exports.h), which need not be there yet. */
void ls_job_watch_exports(struct ls_job_watch *w, const char *record);
/* The experiment of a process, as ls_trainings_of gives it. */
const char *ls_job_watch_experiment(const struct ls_job_watch *w, const char *root, unsigned pid,
				    const char *job);
/* The one that has slowed down most; NULL: no rate is known. */
const struct ls_training_rate *ls_jobs_slowest(const struct ls_jobs *j);
/* Store and exports are asked every 10 seconds at most. */
void ls_job_watch_look(struct ls_job_watch *w, double now, double steady, struct ls_jobs *ret);

#endif
