/* Measurements in a file that never grows: records of one size, the oldest is
 * overwritten. Each has a checksum, so that one that was cut short by a crash is as good
 * as absent. The ring owns its file; ls_ring_close accepts NULL. One thread adds; any may
 * read meanwhile. */
#ifndef LS_WATCH_RING_H
#define LS_WATCH_RING_H

#include <stdint.h>

#include "base/err.h"

enum { LS_RING_COLUMNS = 12, LS_RING_NAMES = 256 };

struct ls_ring_point {
	double time;              /* seconds since 1970 */
	float v[LS_RING_COLUMNS]; /* NaN: not known */
};

struct ls_ring_form {
	const char *names; /* of the columns: "utilization memory_used" */
	unsigned columns, capacity;
};

struct ls_ring;

/* path NULL: in memory. A file of another form, or one that is damaged at its head, is
 * renamed to PATH.old and begun anew. */
int ls_ring_open(const char *path, const struct ls_ring_form *form, struct ls_ring **ret,
		 struct ls_err *err);
void ls_ring_close(struct ls_ring *r);

/* It is in the file when the call returns: a process that is killed loses nothing. */
int ls_ring_add(struct ls_ring *r, const struct ls_ring_point *p, struct ls_err *err);

typedef void ls_ring_fn(void *ctx, const struct ls_ring_point *p);

/* Points not older than `from`, newest first. */
void ls_ring_each(const struct ls_ring *r, double from, ls_ring_fn *fn, void *ctx);

#endif
