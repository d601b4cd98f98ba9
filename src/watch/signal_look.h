/* What a signal is made from, for the files that make them. Everything is borrowed. */
#ifndef LS_WATCH_SIGNAL_LOOK_H
#define LS_WATCH_SIGNAL_LOOK_H

#include <stdio.h>

#include "watch/signals.h"

struct ls_look {
	const struct ls_sample *s;
	const struct ls_history *h;
	const struct ls_watch_gpu *gpu; /* NULL for the host */
	unsigned index;
	double *ret;
	char *why;
	const char **advice;
};

typedef enum ls_signal_state ls_signal_fn(const struct ls_look *l);

static inline enum ls_signal_state ls_look_known(const struct ls_look *l, double v)
{
	*l->ret = v;
	return LS_SIGNAL_KNOWN;
}

static inline enum ls_signal_state ls_look_without(const struct ls_look *l,
						   enum ls_signal_state state, const char *why)
{
	snprintf(l->why, LS_SIGNAL_WHY, "%.200s", why);
	return state;
}

/* Signals of the host and of jobs (signals_host.c). */
ls_signal_fn ls_signal_gpus, ls_signal_gpus_missing, ls_signal_host_memory, ls_signal_host_disk,
	ls_signal_job_success, ls_signal_throughput, ls_signal_exports_failed,
	ls_signal_driver_changed, ls_signal_spec_differs;

#endif
