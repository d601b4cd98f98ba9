/* What all faces of lockstep monitor do: look, wait, end when they are told to. */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "cmd/monitor.h"

static volatile sig_atomic_t stopped;

static void on_stop(int number)
{
	stopped = number;
}

void ls_monitor_until_stopped(void)
{
	ls_cmd_on_stop(on_stop);
}

bool ls_monitor_stopped(void)
{
	return stopped != 0;
}

double ls_monitor_now(void)
{
	struct tm tm;
	struct ls_err ignored;
	struct timespec ts;
	const char *fixed = getenv("SOURCE_DATE_EPOCH");
	if (fixed && *fixed && ls_cmd_now(&tm, &ignored) == 0)
		return (double)timegm(&tm);
	clock_gettime(CLOCK_REALTIME, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

double ls_monitor_steady(void)
{
	const char *fixed = getenv("SOURCE_DATE_EPOCH");
	return fixed && *fixed ? ls_monitor_now() : ls_clock();
}

void ls_monitor_sleep(double seconds)
{
	while (seconds > 0 && !stopped) { /* a signal just before a sleep does not end it */
		double part = seconds < 0.5 ? seconds : 0.5;
		struct timespec t = {0, (long)(part * 1e9)};
		nanosleep(&t, NULL);
		seconds -= part;
	}
}

/* A process whose environment cannot be read, because it is another user's, may still be
 * known by its job or by its parents. */
static void name_experiments(const struct ls_monitor *m, struct ls_sample *s)
{
	for (size_t i = 0; i < s->n_processes; i++) {
		struct ls_watch_process *p = &s->processes[i];
		const char *name =
			*p->owner.experiment
				? NULL
				: ls_job_watch_experiment(m->jobs, m->root ? m->root : "", p->p.pid,
							  p->owner.job);
		if (name)
			snprintf(p->owner.experiment, sizeof p->owner.experiment, "%s", name);
	}
}

void ls_monitor_look(struct ls_monitor *m, struct ls_sample *sample)
{
	ls_sampler_take(m->sampler, ls_monitor_now(), ls_monitor_steady(), sample);
	ls_job_watch_look(m->jobs, sample->time, sample->steady, &sample->jobs);
	name_experiments(m, sample);
	ls_judge_feed(m->judge, sample);
}
