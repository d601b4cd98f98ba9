#include "watch/jobs.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "job/queue.h"
#include "job/row.h"
#include "job/running.h"
#include "job/store.h"

enum { DAY = 86400, EVERY = 10 };

struct ls_job_watch {
	struct ls_store *store;
	bool counted_once;
	double counted_at;
	struct ls_jobs last; /* what the store said */
	struct ls_trainings *trainings;
	char *exports; /* a record, or NULL */
};

struct ls_job_watch *ls_job_watch_new(void)
{
	struct ls_job_watch *w = ls_xalloc(sizeof *w);
	w->trainings = ls_trainings_new();
	return w;
}

void ls_job_watch_free(struct ls_job_watch *w)
{
	if (!w)
		return;
	ls_trainings_free(w->trainings);
	ls_store_close(w->store);
	free(w->exports);
	free(w);
}

int ls_job_watch_project(struct ls_job_watch *w, const char *folder, struct ls_err *err)
{
	int rc = ls_store_open(folder, &w->store, err);
	w->last.asked = rc == 0;
	return rc;
}

int ls_job_watch_log(struct ls_job_watch *w, const char *file, struct ls_err *err)
{
	return ls_trainings_add_log(w->trainings, file, err);
}

void ls_job_watch_exports(struct ls_job_watch *w, const char *record)
{
	free(w->exports);
	w->exports = ls_xstrdup(record);
}

static unsigned count_of(const json_t *row, const char *name)
{
	int64_t n = ls_col_int(row, name, 0);
	return n > 0 ? (unsigned)n : 0;
}

static void ask_store(struct ls_job_watch *w)
{
	struct ls_err err = {0};
	json_t *counts = NULL;
	struct ls_jobs *j = &w->last;
	j->counted = ls_queue_counts(w->store, DAY, &counts, &err) == 0;
	if (!j->counted) {
		snprintf(j->why, sizeof j->why, "%.150s", err.msg);
		return;
	}
	const json_t *window = json_object_get(counts, "window");
	j->ended = count_of(window, "ended") - count_of(window, "cancelled");
	j->done = count_of(window, "done");
	j->queued = count_of(counts, "queued");
	j->running = count_of(counts, "running");
	json_decref(counts);
}

static void ask_running(struct ls_job_watch *w)
{
	struct ls_err unused = {0};
	json_t *rows = NULL;
	if (ls_running(w->store, &rows, &unused) == 0)
		ls_trainings_set(w->trainings, rows);
	json_decref(rows);
}

const char *ls_job_watch_experiment(const struct ls_job_watch *w, const char *root, unsigned pid,
				    const char *job)
{
	return ls_trainings_of(w->trainings, root, pid, job);
}

const struct ls_training_rate *ls_jobs_slowest(const struct ls_jobs *j)
{
	const struct ls_training_rate *slowest = NULL;
	for (size_t i = 0; i < j->n_rates; i++) {
		const struct ls_training_rate *r = &j->rates[i];
		if (r->known && (!slowest || r->rate / r->best < slowest->rate / slowest->best))
			slowest = r;
	}
	return slowest;
}

void ls_job_watch_look(struct ls_job_watch *w, double now, double steady, struct ls_jobs *ret)
{
	bool due = !w->counted_once || steady - w->counted_at >= EVERY;
	if (w->store && due) {
		ask_store(w);
		ask_running(w);
	}
	if (w->exports && due)
		ls_exports_read(w->exports, now, &w->last.exports);
	if (due) {
		w->counted_once = true;
		w->counted_at = steady;
	}
	*ret = w->last;
	ret->n_rates = ls_trainings_look(w->trainings, steady, ret->rates);
}
