/* The control groups that this process is in: each has a say about what it may use, and so have
 * those above it. Nothing is owned. Any thread. */
#ifndef LS_BASE_CGROUP_H
#define LS_BASE_CGROUP_H

#include <stdbool.h>

/* group: the path of its folder; v2: by the files of version 2, otherwise those of the controller
 * of version 1. */
typedef void ls_cgroup_at(void *context, const char *group, bool v2);

/* Calls `at` for every group that has a say about `controller` ("cpu", "memory"). root: where /proc
 * and /sys/fs/cgroup are, "" for the system's. */
void ls_cgroup_each(const char *root, const char *controller, ls_cgroup_at *at, void *context);

/* A small file of a folder, to be freed; NULL: there is none. */
char *ls_cgroup_file(const char *folder, const char *name);

#endif
