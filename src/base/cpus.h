/* How many processors this process may keep busy. Nothing is owned. Any thread. */
#ifndef LS_BASE_CPUS_H
#define LS_BASE_CPUS_H

/* Those it may run on (taskset, Slurm, cpusets), and no more than its control groups give it time
 * for (containers with a limit); at least 1. Asked for once: later changes are not seen. */
int ls_cpus(void);

/* The same, asked for anew. root: where /proc and /sys/fs/cgroup are, "" for the system's. */
int ls_cpus_at(const char *root);

/* What control groups give it time for, rounded down, at least 1; 0: as much as it likes. */
int ls_cpus_limit(const char *root);

#endif
