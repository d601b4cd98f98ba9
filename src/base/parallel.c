#include "base/parallel.h"

#include <stdatomic.h>

#include "base/pool.h"

struct crew {
	atomic_size_t next;
	size_t tasks;
	void (*run)(void *ctx, size_t task);
	void *ctx;
};

static void work(void *arg, int thread, int threads)
{
	struct crew *c = arg;
	(void)thread, (void)threads;
	for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->tasks;)
		c->run(c->ctx, i);
}

void ls_parallel(int threads, size_t tasks, void (*run)(void *ctx, size_t task), void *ctx)
{
	struct crew crew = {.tasks = tasks, .run = run, .ctx = ctx};
	int n = threads > 1 && tasks < (size_t)threads ? (int)tasks : threads;
	struct ls_pool *pool;
	if (n < 2 || ls_pool_new(n, &pool, NULL)) {
		work(&crew, 0, 1);
		return;
	}
	ls_pool_run(pool, work, &crew);
	ls_pool_free(pool);
}
