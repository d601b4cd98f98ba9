#include "watch/jobs.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "job/queue.h"
#include "job/row.h"
#include "job/store.h"
#include "watch/throughput.h"

enum { DAY = 86400, EVERY = 10, LOGS = 16 };

struct ls_job_watch {
	struct ls_store *store;
	bool counted_once;
	double counted_at;
	struct ls_jobs last; /* what the store said */
	struct ls_throughput *logs[LOGS];
	size_t n_logs;
};

struct ls_job_watch *ls_job_watch_new(void)
{
	return ls_xalloc(sizeof(struct ls_job_watch));
}

void ls_job_watch_free(struct ls_job_watch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n_logs; i++)
		ls_throughput_free(w->logs[i]);
	ls_store_close(w->store);
	free(w);
}

int ls_job_watch_project(struct ls_job_watch *w, const char *folder, struct ls_err *err)
{
	w->last.asked = true;
	return ls_store_open(folder, &w->store, err);
}

int ls_job_watch_log(struct ls_job_watch *w, const char *file, struct ls_err *err)
{
	if (w->n_logs == LOGS)
		return ls_err_set(err, LS_EINPUT, "more than %d logs", LOGS);
	int rc = ls_throughput_new(file, &w->logs[w->n_logs], err);
	w->n_logs += rc == 0;
	return rc;
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

/* Of several logs, the one whose training has slowed down most. */
static void look_at_log(const struct ls_throughput *t, double now, struct ls_jobs *ret)
{
	double rate, best;
	const char *why;
	bool known = ls_throughput_rates(t, now, &rate, &best, &why);
	if (ret->has_rate && (!known || rate / best >= ret->rate / ret->best))
		return;
	ret->has_log = true;
	ret->has_rate = known;
	snprintf(ret->log, sizeof ret->log, "%.90s", ls_throughput_file(t));
	if (!known) {
		snprintf(ret->no_rate, sizeof ret->no_rate, "%.90s", why);
		return;
	}
	ret->rate = rate;
	ret->best = best;
}

void ls_job_watch_look(struct ls_job_watch *w, double now, struct ls_jobs *ret)
{
	bool due = !w->counted_once || now - w->counted_at >= EVERY || now < w->counted_at;
	if (w->store && due) {
		ask_store(w);
		w->counted_once = true;
		w->counted_at = now;
	}
	*ret = w->last;
	for (size_t i = 0; i < w->n_logs; i++) {
		ls_throughput_look(w->logs[i], now);
		look_at_log(w->logs[i], now, ret);
	}
}
