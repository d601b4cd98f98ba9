/* A day of --listen at one look a second, of eight GPUs with a program each: memory, open
 * files and history keep their size, and the whole day is there to be seen. Time is an
 * input, so that the day takes minutes. Prints what a look costs.
 * usage: watch_day [LOOKS] */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "watch/pages.h"

enum { GPUS = 8, DAY = 86400, WARM = 7200, GROWTH_KB = 1024 };
static const double begin = 1.7e9;

static char folder[] = "/tmp/ls-day-XXXXXX";

static void lay_out(void)
{
	char command[1024], path[64];
	snprintf(command, sizeof command,
		 "mkdir -p %s/usr/lib %s/proc && cp %s/fake/nvml-new/libnvidia-ml.so.1 %s/usr/lib/ "
		 "&& "
		 "printf 'cpu 1 0 0 1 0 0 0 0\\ncpu0 1 0 0 1 0 0 0 0\\nbtime 1690000000\\n' "
		 ">%s/proc/stat",
		 folder, folder, LS_BINARY_DIR, folder, folder);
	if (system(command))
		exit(1);
	snprintf(path, sizeof path, "%s/nvml", folder);
	FILE *f = fopen(path, "w");
	if (!f)
		exit(1);
	fprintf(f, "driver 580.65.06\nlibrary 13.580.65.06\ncuda 13000\n");
	for (int i = 0; i < GPUS; i++)
		fprintf(f,
			"gpu name=NVIDIA H200|uuid=GPU-%d|serial=165042%d|pci=%d|memory=143771|"
			"used=70000|reserved=600|util=95|temp=60|slowdown=92|margin=30|draw=600000|"
			"power=700000|ecc=1|eccc=0|eccu=0|remap=0,0,0,0|throttle=0x4|recovery=0|"
			"proc=471%d:70000\n",
			i, i, i + 1, i);
	fclose(f);
	setenv("LS_FAKE_NVML", path, 1);
}

static long resident_kb(void)
{
	char line[128];
	long kb = -1;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "VmRSS: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

static int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static long long history_bytes(const char *history)
{
	DIR *d = opendir(history);
	long long all = 0;
	struct stat st;
	for (struct dirent *e; d && (e = readdir(d));)
		if (fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode))
			all += st.st_size;
	if (d)
		closedir(d);
	return all;
}

struct state {
	long kb;
	int files;
	long long bytes;
};

static struct state look_at_self(const char *history)
{
	return (struct state){resident_kb(), open_files(), history_bytes(history)};
}

static int failed(const char *what, double before, double after)
{
	printf("%s: %.0f after two hours, %.0f at the end\n", what, before, after);
	return 1;
}

static int compare(const struct state *before, const struct state *after)
{
	int bad = 0;
	if (after->kb - before->kb > GROWTH_KB)
		bad += failed("kB of memory", (double)before->kb, (double)after->kb);
	if (after->files != before->files)
		bad += failed("open files", before->files, after->files);
	if (after->bytes - before->bytes > 4096)
		bad += failed("bytes of history", (double)before->bytes, (double)after->bytes);
	return bad;
}

/* Every span of the day has a value of each GPU. */
static int is_whole(struct ls_archive *a, double now)
{
	json_t *all = ls_archive_json(a, now, DAY, 0), *gpus = json_object_get(all, "gpus");
	size_t missing = json_array_size(gpus) == GPUS ? 0 : 1, i, k;
	json_t *gpu, *v;
	json_array_foreach(gpus, i, gpu) json_array_foreach(json_object_get(gpu, "power"), k, v)
		missing += !json_is_number(v);
	json_decref(all);
	/* the newest span holds no whole minute yet */
	return missing <= GPUS;
}

int main(int argc, char **argv)
{
	long looks = argc > 1 ? strtol(argv[1], NULL, 10) : DAY + 600;
	char history[64];
	struct ls_err err = {0};
	struct ls_rules *rules;
	struct ls_xid_table *xids;
	struct ls_archive *archive;
	struct ls_events *events;
	struct ls_sample sample;
	struct state warm = {0, 0, 0};
	struct ls_judge_options o = {.expected = GPUS};
	if (!mkdtemp(folder))
		return 1;
	lay_out();
	snprintf(history, sizeof history, "%s/history", folder);
	if (ls_rules_load(&rules, &err) || ls_xid_table_load(&xids, &err) ||
	    ls_archive_open(history, &archive, &err) || ls_events_open(history, &events, &err)) {
		printf("%s\n", err.msg);
		return 1;
	}
	struct ls_judge *j = ls_judge_new(rules, xids, &o);
	struct ls_sampler *s = ls_sampler_new(folder);
	struct ls_pages *p = ls_pages_new();
	double spent = ls_clock_process();
	int bad = 0;
	for (long i = 0; i < looks && !bad; i++) {
		ls_sampler_take(s, begin + (double)i, (double)i, &sample);
		ls_judge_feed(j, &sample);
		bad = ls_archive_add(archive, &sample, ls_judge_worst(j), &err) ||
		      ls_events_look(events, &sample, j, &err);
		ls_pages_publish(p, &sample, j);
		ls_sample_done(&sample);
		if (i == WARM)
			warm = look_at_self(history);
	}
	spent = ls_clock_process() - spent;
	if (bad)
		printf("%s\n", err.msg);
	struct state end = look_at_self(history);
	bad += compare(&warm, &end);
	if (looks > DAY && !is_whole(archive, begin + (double)(looks - 1)))
		bad += failed("spans without a value", 0, 1);
	printf("%ld looks: %.2f ms of a processor each, %.2f %% of a core at one a second; "
	       "%ld kB of memory, %lld MiB of history\n",
	       looks, 1000 * spent / (double)looks, 100 * spent / (double)looks, end.kb,
	       end.bytes >> 20);
	ls_pages_free(p);
	ls_sampler_free(s);
	ls_judge_free(j);
	ls_events_close(events);
	ls_archive_close(archive);
	ls_rules_free(rules);
	ls_xid_table_free(xids);
	char command[128];
	snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command) || bad;
}
