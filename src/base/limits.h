/* How much memory this process may fill. Nothing is owned. Any thread. */
#ifndef LS_BASE_LIMITS_H
#define LS_BASE_LIMITS_H

#include <stdint.h>

/* Bytes: the machine's, and no more than its control groups allow (containers with a limit). What
 * is larger would be given, and the process killed when it is touched. root: where /proc and
 * /sys/fs/cgroup are, "" for the system's. */
uint64_t ls_memory_most(const char *root);

#endif
