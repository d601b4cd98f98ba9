/* The host beside its GPUs: processors, memory, disk. What could not be read is not
 * valid. The state belongs to the caller; a struct of zeros is ready. One thread at a
 * time an object. */
#ifndef LS_WATCH_HOST_H
#define LS_WATCH_HOST_H

#include <stdbool.h>
#include <stdint.h>

enum { LS_HOST_CPUS = 1024 };

struct ls_host {
	bool has_cpu;        /* not in the first look, which has nothing to subtract */
	double cpu, busiest; /* busy share since the last look: of all, of the busiest one */
	bool has_io_wait;
	double io_wait; /* share of time that a task waited for a disk */
	unsigned cpus;  /* processors that are on; 0: not known */
	bool has_memory;
	uint64_t memory_total, memory_available; /* bytes; of the machine */
	bool has_load;
	double load; /* waiting and running tasks, averaged over a minute */
	bool has_disk;
	uint64_t disk_total, disk_available; /* bytes of the filesystem of "/" */
};

/* Counters of the last look. */
struct ls_host_state {
	unsigned n;
	struct ls_host_ticks {
		uint64_t busy, all, wait;
	} last[LS_HOST_CPUS + 1]; /* the first is all processors together */
};

/* root: where /proc is, "" for the system's. Of a scripted machine the disk is not
 * known. */
void ls_host_look(const char *root, struct ls_host_state *state, struct ls_host *ret);

#endif
