/* The control groups of this process. Each of them, and each group above it, may limit
 * what the process uses. Nothing is owned. Any thread. */
#ifndef LS_BASE_CGROUP_H
#define LS_BASE_CGROUP_H

#include <stdbool.h>

/* group: the path of its folder. v2: it has the files of version 2, otherwise those of a
 * controller of version 1. */
typedef void ls_cgroup_at(void *context, const char *group, bool v2);

/* Calls `at` for every group that can limit `controller` ("cpu", "memory"). root: where
 * /proc and /sys/fs/cgroup are, "" for the system's. */
void ls_cgroup_each(const char *root, const char *controller, ls_cgroup_at *at, void *context);

/* The content of a small file in a folder, to be freed; NULL when there is none. */
char *ls_cgroup_file(const char *folder, const char *name);

#endif
