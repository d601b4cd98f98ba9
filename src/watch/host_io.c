#include "watch/host_io.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "env/facts/root.h"

/* "sda" and "nvme0n1", but not "sda1", "nvme0n1p2", "loop0", "dm-0". */
static bool is_disk(const char *name)
{
	size_t len = strlen(name);
	if (ls_str_starts(name, "nvme") || ls_str_starts(name, "mmcblk"))
		return !strchr(name, 'p');
	bool kind = ls_str_starts(name, "sd") || ls_str_starts(name, "vd") ||
		    ls_str_starts(name, "xvd") || ls_str_starts(name, "hd");
	return kind && len > 2 && !isdigit((unsigned char)name[len - 1]);
}

/* Ethernet, InfiniBand and wireless by the kernel's naming. */
static bool is_net(const char *name)
{
	return *name == 'e' || ls_str_starts(name, "ib") || ls_str_starts(name, "wl");
}

static const char *next_line(const char *p)
{
	p = strchr(p, '\n');
	return p ? p + 1 : NULL;
}

bool ls_host_io_disks(const char *text, uint64_t ret[2])
{
	enum { SECTOR = 512 };
	bool any = false;
	ret[0] = ret[1] = 0;
	for (const char *p = text; p && *p; p = next_line(p)) {
		char name[32];
		uint64_t in, out;
		if (sscanf(p, "%*u %*u %31s %*u %*u %" SCNu64 " %*u %*u %*u %" SCNu64, name, &in,
			   &out) != 3 ||
		    !is_disk(name))
			continue;
		ret[0] += in * SECTOR;
		ret[1] += out * SECTOR;
		any = true;
	}
	return any;
}

bool ls_host_io_nets(const char *text, uint64_t ret[2])
{
	bool any = false;
	ret[0] = ret[1] = 0;
	for (const char *p = text; p && *p; p = next_line(p)) {
		char name[32];
		uint64_t in, out;
		if (sscanf(p, " %31[^: \n]: %" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64, name,
			   &in, &out) != 3 ||
		    !is_net(name))
			continue;
		ret[0] += in;
		ret[1] += out;
		any = true;
	}
	return any;
}

/* A counter that went back belongs to a device that was taken out. */
static double rate(uint64_t from, uint64_t to, double seconds)
{
	return to > from ? (double)(to - from) / seconds : 0;
}

void ls_host_io_look(const char *root, double now, struct ls_host_io_state *state,
		     struct ls_host_io *ret)
{
	struct ls_host_io_state is = {.time = now};
	char *disks = ls_root_read(root, "/proc/diskstats", 1 << 20, NULL),
	     *nets = ls_root_read(root, "/proc/net/dev", 1 << 20, NULL);
	double seconds = state->time > 0 ? now - state->time : 0;
	is.has_disk = disks && ls_host_io_disks(disks, is.disk);
	is.has_net = nets && ls_host_io_nets(nets, is.net);
	memset(ret, 0, sizeof *ret);
	if (seconds > 0 && state->has_disk && is.has_disk) {
		ret->has_disk = true;
		ret->disk_read = rate(state->disk[0], is.disk[0], seconds);
		ret->disk_write = rate(state->disk[1], is.disk[1], seconds);
	}
	if (seconds > 0 && state->has_net && is.has_net) {
		ret->has_net = true;
		ret->net_received = rate(state->net[0], is.net[0], seconds);
		ret->net_sent = rate(state->net[1], is.net[1], seconds);
	}
	*state = is;
	free(disks);
	free(nets);
}
