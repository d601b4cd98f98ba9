#include "base/cpus.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

/* A small file of a group, to be freed; NULL: there is none. */
static char *file_of(const char *group, const char *name)
{
	char *path = ls_xasprintf("%s/%s", group, name), *text = NULL;
	size_t length;
	if (ls_file_read(path, 1 << 20, &text, &length, NULL))
		text = NULL;
	free(path);
	return text;
}

static int smaller(int limit, double quota, double period)
{
	if (!(quota > 0.0 && period > 0.0))
		return limit;
	double cpus = quota / period;
	int here = cpus < 1.0 ? 1 : cpus > 1e6 ? 1000000 : (int)cpus;
	return limit == 0 || here < limit ? here : limit;
}

/* cpu.max of a group: "max 100000", or microseconds and those of a period. */
static int limit_v2(const char *group, int limit)
{
	char *text = file_of(group, "cpu.max"), *end;
	double quota = text ? strtod(text, &end) : 0.0;
	if (text && end != text)
		limit = smaller(limit, quota, strtod(end, NULL));
	free(text);
	return limit;
}

/* cpu.cfs_quota_us, -1 for none, and cpu.cfs_period_us. */
static int limit_v1(const char *group, int limit)
{
	char *quota = file_of(group, "cpu.cfs_quota_us"), *period = file_of(group, "cpu.cfs_period_us");
	if (quota && period)
		limit = smaller(limit, strtod(quota, NULL), strtod(period, NULL));
	free(quota);
	free(period);
	return limit;
}

/* The group and all above it: each has a say. */
static int limit_upwards(const char *root, const char *mount, const char *group,
			 int (*of)(const char *group, int limit), int limit)
{
	char *path = ls_xasprintf("%s%s%s", root, mount, group), *begin = path + strlen(root) + strlen(mount), *slash;
	do {
		limit = of(path, limit);
		slash = strrchr(begin, '/');
		if (slash)
			*slash = '\0';
	} while (slash);
	free(path);
	return limit;
}

/* A line of /proc/self/cgroup: "0::/a/b" for version 2, "4:cpu,cpuacct:/a/b" for version 1. */
static int limit_of_line(const char *root, char *line, int limit)
{
	char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
	if (!group)
		return limit;
	*names++ = *group++ = '\0';
	if (!*names)
		return limit_upwards(root, "/sys/fs/cgroup", group, limit_v2, limit);
	for (char *rest = names, *name; (name = strsep(&rest, ","));)
		if (strcmp(name, "cpu") == 0) /* the folder may be a link to one of several names */
			return limit_upwards(root, "/sys/fs/cgroup/cpu", group, limit_v1, limit);
	return limit;
}

int ls_cpus_limit(const char *root)
{
	char *proc = ls_xasprintf("%s/proc/self", root), *text = file_of(proc, "cgroup"), *rest = text, *line;
	int limit = 0;
	while ((line = strsep(&rest, "\n")))
		limit = limit_of_line(root, line, limit);
	free(text);
	free(proc);
	return limit;
}

int ls_cpus_at(const char *root)
{
	cpu_set_t set;
	/* it fails where there are more processors than a set has room for */
	long n = sched_getaffinity(0, sizeof set, &set) < 0 ? sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&set);
	int limit = ls_cpus_limit(root);
	n = limit && limit < n ? limit : n;
	return n > 0 ? (int)n : 1;
}

static int cpus;

static void find_cpus(void)
{
	cpus = ls_cpus_at("");
}

int ls_cpus(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, find_cpus);
	return cpus;
}
