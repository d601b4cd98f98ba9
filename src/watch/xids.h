/* Xids, the fault numbers of NVIDIA's driver: the table of what each asks for, and how
 * often each was seen. The table owns its texts (ls_xid_table_free accepts NULL); counts
 * belong to the caller, and a struct of zeros is ready. The table is read-only after
 * loading. */
#ifndef LS_WATCH_XIDS_H
#define LS_WATCH_XIDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "watch/health.h"

struct ls_xid_table;

struct ls_xid_action {
	const char *action, *advice; /* "reset the GPU" */
	enum ls_health level;
	double holds; /* seconds after the last one that it counts */
	bool clears;  /* by a reset, of which the driver's recovery action tells */
};

int ls_xid_table_load(struct ls_xid_table **ret, struct ls_err *err); /* data/xid.json */
void ls_xid_table_free(struct ls_xid_table *t);
/* Never NULL: a number that the table does not have is a warning. */
const struct ls_xid_action *ls_xid_action(const struct ls_xid_table *t, unsigned xid);
const char *ls_xid_about(const struct ls_xid_table *t, unsigned xid); /* NULL: not known */

enum { LS_XID_KINDS = 32 };

struct ls_xid_counts {
	unsigned n;
	struct ls_xid_count {
		unsigned xid;
		unsigned long count;
		double last; /* seconds since 1970 */
	} kinds[LS_XID_KINDS];
};

/* When there is no room the kind that was seen longest ago makes place. */
void ls_xid_counts_add(struct ls_xid_counts *c, unsigned xid, double time);

#endif
