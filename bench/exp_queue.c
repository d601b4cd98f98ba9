/* bench-exp-queue FOLDER JOBS BATCH: jobs a second through the store in FOLDER, each
 * change on the disk (fsync) before the next. Prints "what jobs seconds" lines: enqueue
 * (made and submitted), claim and finish, by transactions of BATCH jobs. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "fail.h"
#include "job/experiment.h"
#include "job/queue.h"

static json_t *designs(size_t first, size_t n, char **names)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++) {
		names[i] = ls_xasprintf("job%zu", first + i);
		json_array_append_new(
			list, json_pack("{s:s,s:[s]}", "name", names[i], "command", "true"));
	}
	return list;
}

static void enqueue(struct ls_store *s, size_t first, size_t n)
{
	struct ls_err err = {0};
	const struct ls_submit how = {
		.engine = "local", .retries = 2, .slots = 1, .soft = -1, .hard = -1, .grace = -1};
	char **names = ls_xalloc(n * sizeof *names);
	json_t *list = designs(first, n, names);
	fail_on(ls_experiment_new(s, list, NULL, &err), &err);
	fail_on(ls_queue_submit(s, (const char *const *)names, n, &how, &err), &err);
	json_decref(list);
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

static size_t claim(struct ls_store *s, const struct ls_owner *w, double *claiming)
{
	struct ls_err err = {0};
	json_t *rows = NULL, *row;
	const char *state;
	const struct ls_ending done = {.known = true};
	size_t i;
	double begun = ls_clock();
	fail_on(ls_queue_claim(s, w, &rows, &err), &err);
	*claiming += ls_clock() - begun;
	json_array_foreach(rows, i, row)
		fail_on(ls_queue_finish(s, w, row, &done, &state, &err), &err);
	size_t n = json_array_size(rows);
	json_decref(rows);
	return n;
}

int main(int argc, char **argv)
{
	struct ls_store *s;
	struct ls_err err = {0};
	char *path = NULL;
	if (argc != 4) {
		fprintf(stderr, "usage: bench-exp-queue FOLDER JOBS BATCH\n");
		return 2;
	}
	size_t jobs = strtoul(argv[2], NULL, 10), batch = strtoul(argv[3], NULL, 10);
	fail_on(ls_store_init(argv[1], NULL, &path, &err), &err);
	free(path);
	fail_on(ls_store_open(argv[1], &s, &err), &err);
	struct ls_owner w = {.gpus = json_array(), .slots = (int64_t)batch};
	ls_uuid(w.uuid);
	fail_on(ls_queue_register(s, &w, &err), &err);
	double begun = ls_clock(), claiming = 0;
	for (size_t i = 0; i < jobs; i += batch)
		enqueue(s, i, batch < jobs - i ? batch : jobs - i);
	double enqueued = ls_clock() - begun;
	size_t claimed = 0;
	begun = ls_clock();
	for (size_t n = 1; n;)
		claimed += n = claim(s, &w, &claiming);
	double both = ls_clock() - begun;
	if (claimed != jobs) {
		fprintf(stderr, "%zu of %zu jobs were claimed\n", claimed, jobs);
		return 1;
	}
	printf("enqueue %zu %.6f\nclaim %zu %.6f\nfinish %zu %.6f\n", jobs, enqueued, jobs,
	       claiming, jobs, both - claiming);
	json_decref(w.gpus);
	ls_store_close(s);
	return 0;
}
