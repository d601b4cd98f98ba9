#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"

struct crew {
	atomic_size_t next;
	size_t tasks;
	void (*run)(void *ctx, size_t task);
	void *ctx;
};

static void *work(void *arg)
{
	struct crew *c = arg;
	for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->tasks;)
		c->run(c->ctx, i);
	return NULL;
}

void ls_parallel(int threads, size_t tasks, void (*run)(void *ctx, size_t task), void *ctx)
{
	struct crew crew = {.tasks = tasks, .run = run, .ctx = ctx};
	size_t want = threads > 1 ? (size_t)threads - 1 : 0, made = 0;
	if (tasks < want + 1)
		want = tasks ? tasks - 1 : 0;
	pthread_t *ids = want ? ls_xalloc(want * sizeof *ids) : NULL;
	while (made < want && pthread_create(&ids[made], NULL, work, &crew) == 0)
		made++;
	work(&crew);
	for (size_t i = 0; i < made; i++)
		pthread_join(ids[i], NULL);
	free(ids);
}

int ls_parallel_cpus(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set) < 0)
		return 1;
	int n = CPU_COUNT(&set);
	return n > 0 ? n : 1;
}
