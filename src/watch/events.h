/* What happened: verdicts that changed, Xids, starts of the monitor, changes of the
 * driver. Kept in a file of lines with a checksum each, and at most two files of 4 MiB.
 * The log owns its file; ls_events_close accepts NULL. Any thread. */
#ifndef LS_WATCH_EVENTS_H
#define LS_WATCH_EVENTS_H

#include "base/json.h"
#include "watch/judge.h"
#include "watch/sample.h"

struct ls_events;

struct ls_event_text {
	double time;        /* seconds since 1970 */
	const char *kind;   /* "verdict", "xid", "start", "driver", "job" */
	const char *health; /* "critical"; NULL where it is none */
	const char *of;     /* "GPU 0 (serial 1650)", "host"; NULL */
	const char *rule;   /* of a verdict; NULL */
	const char *text;   /* a sentence */
};

/* folder exists; NULL: in memory. Lines that are damaged are passed over. */
int ls_events_open(const char *folder, struct ls_events **ret, struct ls_err *err);
void ls_events_close(struct ls_events *e);

/* On failure it is in memory at least. */
int ls_events_add(struct ls_events *e, const struct ls_event_text *t, struct ls_err *err);
/* What a sample and its verdicts have brought. Xids from before the first sample that are
 * in the log already are not added again. */
int ls_events_look(struct ls_events *e, const struct ls_sample *s, const struct ls_judge *j,
		   struct ls_err *err);

/* Those not older than `from`, oldest first, at most the last `most`. */
json_t *ls_events_json(struct ls_events *e, double from, size_t most);

/* One line of the file as an object, or NULL when it is damaged. */
json_t *ls_events_line(const char *line, size_t len);

#endif
