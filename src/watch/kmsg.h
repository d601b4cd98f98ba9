/* Xids, the driver's fault numbers, in the kernel's log. It needs root or the right to
 * read the log. The reader owns a descriptor; ls_kmsg_close accepts NULL. One thread at a
 * time an object. */
#ifndef LS_WATCH_KMSG_H
#define LS_WATCH_KMSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { LS_KMSG_PCI = 16 };

struct ls_kmsg_xid {
	char pci[LS_KMSG_PCI]; /* "0000:3b:00", lower case */
	unsigned xid;
	double since_boot; /* seconds */
};

/* One record of /dev/kmsg: "6,1234,5678901,-;NVRM: Xid (PCI:0000:3b:00): 79, …". False
 * when it is about something else. */
bool ls_kmsg_parse(const char *record, struct ls_kmsg_xid *ret);

struct ls_kmsg;

/* Records from the last boot on, as far as the kernel still has them. LS_EUNKNOWN with
 * the reason where the log cannot be read. */
int ls_kmsg_open(const char *root, struct ls_kmsg **ret, struct ls_err *err);
void ls_kmsg_close(struct ls_kmsg *k);
bool ls_kmsg_next(struct ls_kmsg *k, struct ls_kmsg_xid *ret); /* false: no more for now */

#endif
