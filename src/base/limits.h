/* How much memory this process may fill. Nothing is owned. Any thread. */
#ifndef LS_BASE_LIMITS_H
#define LS_BASE_LIMITS_H

#include <stdint.h>

/* In bytes: the machine's memory, but no more than the control groups allow (containers
 * with a limit). An allocation beyond that would succeed, and the process would be killed
 * when it is touched. root: where /proc and /sys/fs/cgroup are, "" for the system's. */
uint64_t ls_memory_most(const char *root);

#endif
