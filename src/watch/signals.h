/* The numbers that health rules look at: every metric of a GPU by its name, and others
 * that are made from a sample and from those before it. The history belongs to the caller
 * (ls_history_done). One thread at a time an object. */
#ifndef LS_WATCH_SIGNALS_H
#define LS_WATCH_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>

#include "env/facts/advice.h"
#include "env/spec/spec.h"
#include "watch/sample.h"
#include "watch/xids.h"

enum { LS_HISTORY_POINTS = 128 };

/* What rates and slopes need of earlier samples, and the Xids so far. */
struct ls_history {
	double now;
	struct ls_gpu_history {
		struct ls_point {
			double time, memory; /* of the steady clock */
		} points[LS_HISTORY_POINTS]; /* a ring, at most one point a second */
		unsigned n, next;
		struct ls_xid_counts xids;
	} gpus[LS_SAMPLE_GPUS];
	struct ls_xid_counts elsewhere; /* at addresses that no GPU has */
	int expected;                   /* GPUs that there should be; -1: not known */
	bool once;                      /* there is one sample: events since the start are none */
	const struct ls_xid_table *table;
	const struct ls_advice *advice; /* checklists, or NULL */
	const struct ls_spec *spec;     /* what the machine must be, or NULL */
	char driver[LS_NVML_TEXT];      /* of the run that is watched, or of the first sample; "" */
	bool driver_of_run;
};

void ls_history_add(struct ls_history *h, const struct ls_sample *s);

struct ls_signal {
	const char *name;
	const char *unit; /* "%", "s", "B", "C", "W", … */
	bool of_host;     /* one for the machine, not one a GPU */
	const char *help;
};

/* The number of the signal, or -1. */
int ls_signal_find(const char *name);
bool ls_signal_info(int signal, struct ls_signal *ret); /* false behind the last */

enum ls_signal_state {
	LS_SIGNAL_KNOWN,
	LS_SIGNAL_ABSENT, /* this GPU, driver or command does not have it */
	LS_SIGNAL_UNKNOWN /* it could not be read */
};

enum { LS_SIGNAL_WHY = 256 };

struct ls_signal_answer {
	double value;            /* only when known */
	char why[LS_SIGNAL_WHY]; /* the reason when not known; evidence, or "", when known */
	const char *advice;      /* that fits better than the rule's, or NULL; of the table */
};

enum ls_signal_state ls_signal_value(int signal, const struct ls_sample *s,
				     const struct ls_history *h, unsigned gpu,
				     struct ls_signal_answer *ret);

#endif
