#include "watch/host.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/str.h"
#include "env/facts/root.h"

/* "user nice system idle iowait irq softirq steal …". Waiting for a disk is not work.
 * Time of guests is in user already. */
static bool ticks_of(const char *text, struct ls_host_ticks *ret)
{
	enum { IDLE = 3, IOWAIT = 4, FIELDS = 8 };
	int got = -1;
	uint64_t all = 0, idle = 0, wait = 0;
	for (int i = 0; i < FIELDS; i++) {
		char *end;
		text += strspn(text, " ");
		uint64_t v = strtoull(text, &end, 10);
		if (end == text)
			break;
		all += v;
		idle += i == IDLE || i == IOWAIT ? v : 0;
		wait += i == IOWAIT ? v : 0;
		got = i;
		text = end;
	}
	if (got < IDLE)
		return false;
	*ret = (struct ls_host_ticks){all - idle, all, wait};
	return true;
}

static double share(const struct ls_host_ticks *from, const struct ls_host_ticks *to)
{
	if (to->all <= from->all || to->busy < from->busy)
		return 0;
	return (double)(to->busy - from->busy) / (double)(to->all - from->all);
}

/* Processors that had nothing to do but to wait for a disk, as a share of one. A kernel
 * that measures pressure tells more exactly. */
static void waited(const struct ls_host_ticks *from, const struct ls_host_ticks *to, unsigned cpus,
		   struct ls_host *ret)
{
	if (to->all <= from->all || to->wait < from->wait)
		return;
	double share = (double)(to->wait - from->wait) / (double)(to->all - from->all) * cpus;
	ret->has_io_wait = true;
	ret->io_wait = share < 1 ? share : 1;
}

static void look_pressure(const char *root, struct ls_host *ret)
{
	static const char head[] = "some avg10=";
	char *text = ls_root_line(root, "/proc/pressure/io");
	if (text && ls_str_starts(text, head) && isdigit((unsigned char)text[sizeof head - 1])) {
		ret->has_io_wait = true;
		ret->io_wait = strtod(text + sizeof head - 1, NULL) / 100;
	}
	free(text);
}

static void look_cpu(const char *root, struct ls_host_state *state, struct ls_host *ret)
{
	static const struct ls_host_ticks none;
	char *text = ls_root_read(root, "/proc/stat", 1 << 20, NULL);
	struct ls_host_ticks before = state->last[0];
	unsigned n = 0;
	for (char *line = text; line && ls_str_starts(line, "cpu") && n <= LS_HOST_CPUS;) {
		struct ls_host_ticks t = none;
		const char *p = line + 3;
		p += strspn(p, "0123456789");
		if (!ticks_of(p, &t))
			break;
		if (n < state->n) {
			double busy = share(&state->last[n], &t);
			ret->has_cpu = ret->has_cpu || t.all > state->last[n].all;
			if (n == 0)
				ret->cpu = busy;
			else if (busy > ret->busiest)
				ret->busiest = busy;
		}
		state->last[n++] = t;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	ret->has_cpu = ret->has_cpu && n == state->n && n > 0;
	ret->cpus = n ? n - 1 : 0;
	if (ret->has_cpu)
		waited(&before, &state->last[0], ret->cpus, ret);
	state->n = n;
	free(text);
}

static bool kib(const char *text, const char *key, uint64_t *ret)
{
	const char *p = text ? strstr(text, key) : NULL;
	if (!p || (p != text && p[-1] != '\n'))
		return false;
	*ret = strtoull(p + strlen(key), NULL, 10) << 10;
	return true;
}

static void look_memory(const char *root, struct ls_host *ret)
{
	char *text = ls_root_read(root, "/proc/meminfo", 1 << 16, NULL);
	ret->has_memory = kib(text, "MemTotal:", &ret->memory_total) &&
			  kib(text, "MemAvailable:", &ret->memory_available);
	free(text);
	text = ls_root_line(root, "/proc/loadavg");
	if (text && isdigit((unsigned char)*text)) {
		ret->has_load = true;
		ret->load = strtod(text, NULL);
	}
	free(text);
}

static void look_disk(const char *root, struct ls_host *ret)
{
	struct statvfs v;
	if ((root && *root) || statvfs("/", &v) != 0)
		return;
	ret->has_disk = true;
	ret->disk_total = (uint64_t)v.f_blocks * v.f_frsize;
	ret->disk_available = (uint64_t)v.f_bavail * v.f_frsize;
}

void ls_host_look(const char *root, struct ls_host_state *state, struct ls_host *ret)
{
	memset(ret, 0, sizeof *ret);
	look_cpu(root, state, ret);
	look_pressure(root, ret);
	look_memory(root, ret);
	look_disk(root, ret);
}
