/* How many processors this process may keep busy. Nothing is owned. Any thread. */
#ifndef LS_BASE_CPUS_H
#define LS_BASE_CPUS_H

/* The processors that it may run on (taskset, Slurm, cpusets), but no more than its
 * control groups give it time for (containers with a limit); at least 1. Looked up once:
 * later changes are not seen. */
int ls_cpus(void);

/* The same, looked up at every call. root: where /proc and /sys/fs/cgroup are, "" for the
 * system's. */
int ls_cpus_at(const char *root);

/* How many processors the control groups give it time for, rounded down, at least 1; 0:
 * no limit. */
int ls_cpus_limit(const char *root);

#endif
