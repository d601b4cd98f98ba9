#include "base/parallel.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "base/pool.h"

struct job {
	atomic_size_t next;
	size_t tasks;
	void (*run)(void *ctx, size_t task);
	void *ctx;
};

static void work(void *arg, int thread, int threads)
{
	struct job *job = arg;
	(void)thread, (void)threads;
	for (size_t i; (i = atomic_fetch_add(&job->next, 1)) < job->tasks;)
		job->run(job->ctx, i);
}

void ls_parallel(int threads, size_t tasks, void (*run)(void *ctx, size_t task), void *ctx)
{
	struct job job = {.tasks = tasks, .run = run, .ctx = ctx};
	int n = threads > 1 && tasks < (size_t)threads ? (int)tasks : threads;
	struct ls_pool *pool;
	if (n < 2 || ls_pool_new(n, &pool, NULL)) {
		work(&job, 0, 1);
		return;
	}
	bool whole = ls_pool_try(pool, n, work, &job);
	ls_pool_free(pool);
	if (!whole)
		ls_no_memory();
}
