#include "base/cpus.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cgroup.h"

static int smaller(int limit, double quota, double period)
{
	if (!(quota > 0.0 && period > 0.0))
		return limit;
	double cpus = quota / period;
	int here = cpus < 1.0 ? 1 : cpus > 1e6 ? 1000000 : (int)cpus;
	return limit == 0 || here < limit ? here : limit;
}

/* cpu.max: "max 100000", or the quota and the period in microseconds. */
static int limit_v2(const char *group, int limit)
{
	char *text = ls_cgroup_file(group, "cpu.max"), *end;
	double quota = text ? strtod(text, &end) : 0.0;
	if (text && end != text)
		limit = smaller(limit, quota, strtod(end, NULL));
	free(text);
	return limit;
}

/* cpu.cfs_quota_us (-1 for none) and cpu.cfs_period_us. */
static int limit_v1(const char *group, int limit)
{
	char *quota = ls_cgroup_file(group, "cpu.cfs_quota_us"),
	     *period = ls_cgroup_file(group, "cpu.cfs_period_us");
	if (quota && period)
		limit = smaller(limit, strtod(quota, NULL), strtod(period, NULL));
	free(quota);
	free(period);
	return limit;
}

static void limit_at(void *context, const char *group, bool v2)
{
	int *limit = context;
	*limit = (v2 ? limit_v2 : limit_v1)(group, *limit);
}

int ls_cpus_limit(const char *root)
{
	int limit = 0;
	ls_cgroup_each(root, "cpu", limit_at, &limit);
	return limit;
}

int ls_cpus_at(const char *root)
{
	cpu_set_t set;
	/* fails where there are more processors than fit into a cpu_set_t */
	long n = sched_getaffinity(0, sizeof set, &set) < 0 ? sysconf(_SC_NPROCESSORS_ONLN)
							    : CPU_COUNT(&set);
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
