/* What was measured before: host and GPUs, a second apart for a day and a minute apart
 * for 90 days, in rings on the disk (docs/FORMATS.md). The archive owns its files;
 * ls_archive_close accepts NULL. One thread adds; another one may ask meanwhile. */
#ifndef LS_WATCH_ARCHIVE_H
#define LS_WATCH_ARCHIVE_H

#include "base/json.h"
#include "watch/health.h"
#include "watch/sample.h"

struct ls_archive;

/* folder: made where it is missing; NULL: in memory, and shorter. LS_EINPUT when another
 * monitor writes there. */
int ls_archive_open(const char *folder, struct ls_archive **ret, struct ls_err *err);
void ls_archive_close(struct ls_archive *a);

/* At most one point a second. An error, such as a full disk, loses that point only. */
int ls_archive_add(struct ls_archive *a, const struct ls_sample *s, enum ls_health worst,
		   struct ls_err *err);

enum { LS_ARCHIVE_POINTS = 300, LS_ARCHIVE_DAYS = 90 };

/* The `range` seconds before `now`, as means of at most 300 spans of equal length, which
 * is `step` seconds or what that needs: {"from", "step", "host": {column: [numbers or
 * null]}, "gpus": [{"index", "uuid", column: …}]}. Of temperature and health (0 ok, 1
 * unknown, 2 warn, 3 critical) it is the highest instead of the mean. */
json_t *ls_archive_json(struct ls_archive *a, double now, double range, double step);

#endif
