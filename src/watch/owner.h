/* Whom a process belongs to, by its control groups: a container, a Slurm job. Nothing is
 * owned. Any thread. */
#ifndef LS_WATCH_OWNER_H
#define LS_WATCH_OWNER_H

#include <stddef.h>

enum { LS_OWNER_TEXT = 64 };

struct ls_owner {
	char name[LS_OWNER_TEXT];      /* of the program; "" when it is not known */
	char job[LS_OWNER_TEXT];       /* Slurm's job number, or its SLUID ("sEKN…") */
	char container[LS_OWNER_TEXT]; /* the first 12 digits of its id */
};

/* From the text of /proc/PID/cgroup. job and container are "" where there is none. */
void ls_owner_of_cgroup(const char *text, struct ls_owner *ret);
/* root: where /proc is, "" for the system's. */
void ls_owner_look(const char *root, unsigned pid, struct ls_owner *ret);

#endif
