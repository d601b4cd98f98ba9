/* How much the host reads and writes on its disks and sends over its networks, from the
 * kernel's counters. Loop devices, parts of disks and interfaces of containers are left
 * out, which would count the same bytes twice. The state belongs to the caller; a struct
 * of zeros is ready. One thread at a time an object. */
#ifndef LS_WATCH_HOST_IO_H
#define LS_WATCH_HOST_IO_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes a second, as a mean since the last look. */
struct ls_host_io {
	bool has_disk, has_net;
	double disk_read, disk_write, net_received, net_sent;
};

struct ls_host_io_state {
	double time; /* of the last look; 0: there was none */
	bool has_disk, has_net;
	uint64_t disk[2], net[2]; /* bytes in, bytes out */
};

/* now: seconds since 1970. */
void ls_host_io_look(const char *root, double now, struct ls_host_io_state *state,
		     struct ls_host_io *ret);

/* The texts of /proc/diskstats and /proc/net/dev: bytes since boot. False: there is no
 * device of this kind. */
bool ls_host_io_disks(const char *text, uint64_t ret[2]);
bool ls_host_io_nets(const char *text, uint64_t ret[2]);

#endif
