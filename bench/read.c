/* bench-read FILE [threads] [repeats]: how fast rows come out of a file, and how fast
 * they are hashed. Prints the best of the repeats; the file should be in the page cache
 * (the first repeat puts it there). */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "fm/data/data.h"

static double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: bench-read FILE [threads] [repeats]\n");
		return 2;
	}
	struct ls_data_opts o = {.threads = argc > 2 ? atoi(argv[2]) : 2};
	int repeats = argc > 3 ? atoi(argv[3]) : 5;
	double load = 1e9, hash = 1e9, cpu = 1e9;
	char hex[65] = "";
	struct ls_rows r = {0};
	for (int i = 0; i < repeats; i++) {
		struct ls_data *d;
		struct ls_err err;
		double t0 = now(CLOCK_MONOTONIC), c0 = now(CLOCK_PROCESS_CPUTIME_ID);
		if (ls_data_load(argv[1], &o, &d, &err)) {
			fprintf(stderr, "%s\n", err.msg);
			return 1;
		}
		double t1 = now(CLOCK_MONOTONIC), c1 = now(CLOCK_PROCESS_CPUTIME_ID);
		ls_data_digest(d, hex);
		double t2 = now(CLOCK_MONOTONIC);
		load = t1 - t0 < load ? t1 - t0 : load;
		cpu = c1 - c0 < cpu ? c1 - c0 : cpu;
		hash = t2 - t1 < hash ? t2 - t1 : hash;
		r = *ls_data_rows(d);
		ls_data_free(d);
	}
	struct stat st;
	double mb = stat(argv[1], &st) == 0 ? (double)st.st_size * 1e-6 : 0;
	printf("%s: %llu rows, %llu entries, %.1f MB, %d threads: read %.1f ms = %.0f MB/s "
	       "(%.1f ms of CPU), digest %.1f ms\n%s\n",
	       argv[1], (unsigned long long)r.n_rows, (unsigned long long)r.n_entries, mb,
	       o.threads, load * 1e3, mb / load, cpu * 1e3, hash * 1e3, hex);
	return 0;
}
