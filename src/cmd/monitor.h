/* What the files of `lockstep monitor` share. Everything belongs to the run of the
 * command; one thread, but for what monitor_listen.c says. */
#ifndef LS_CMD_MONITOR_H
#define LS_CMD_MONITOR_H

#include "cmd/cmd.h"
#include "watch/judge.h"
#include "watch/sample.h"

struct ls_monitor {
	const struct ls_args *args;
	struct ls_rules *rules;
	struct ls_xid_table *xids;
	struct ls_advice *advice;
	struct ls_judge *judge;
	struct ls_sampler *sampler;
	struct ls_job_watch *jobs;
	const char *root;     /* a folder that stands for "/", for tests; or NULL */
	struct ls_spec *spec; /* of --spec, or NULL */
	char *driver;         /* of --manifest, or NULL */
	double interval;      /* seconds */
	double within;        /* seconds that check and probe may take */
};

void ls_monitor_look(struct ls_monitor *m, struct ls_sample *ret); /* a sample, judged */
int ls_monitor_listen(struct ls_monitor *m); /* --listen: until it is stopped; an exit status */
enum ls_health ls_monitor_probe(struct ls_monitor *m); /* prints what it finds */
/* --print-config: a file for a fleet on stdout; an exit status. */
int ls_monitor_print_config(const char *name);
double ls_monitor_now(void);           /* seconds since 1970, or what SOURCE_DATE_EPOCH says */
double ls_monitor_steady(void);        /* seconds of a clock that nobody sets, or the same */
void ls_monitor_sleep(double seconds); /* a signal ends it early */
void ls_monitor_until_stopped(void);   /* from now on Ctrl-C only sets what the next tells */
bool ls_monitor_stopped(void);         /* Ctrl-C or a request to end */

#endif
