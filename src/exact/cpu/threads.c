#include "exact/cpu/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "num/num.h"

static struct {
	pthread_mutex_t lock;
	struct ls_pool *pool; /* NULL: none yet */
	pid_t owner;          /* the process that it belongs to */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct work {
	int64_t total, part;
	void (*run)(void *context, int64_t from, int64_t to);
	void *context;
	atomic_llong next;
};

static void take_parts(void *context, int thread, int threads)
{
	struct work *w = context;
	(void)thread, (void)threads;
	uint64_t saved = ls_fp_enter();
	for (int64_t at; (at = atomic_fetch_add(&w->next, w->part)) < w->total;) {
		int64_t left = w->total - at;
		w->run(w->context, at, at + (left < w->part ? left : w->part));
	}
	ls_fp_leave(saved);
}

/* At least so many threads; NULL: there are none to be had. The threads of a parent
 * process do not exist here: its pool is forgotten. */
static struct ls_pool *pool_of(int threads)
{
	if (kept.owner != getpid())
		kept.pool = NULL;
	if (kept.pool && ls_pool_threads(kept.pool) < threads) {
		ls_pool_free(kept.pool);
		kept.pool = NULL;
	}
	if (!kept.pool && ls_pool_new(threads, &kept.pool, NULL))
		kept.pool = NULL;
	kept.owner = getpid();
	return kept.pool;
}

struct ls_pool *ls_exact_threads_take(int threads)
{
	if (pthread_mutex_trylock(&kept.lock))
		return NULL;
	struct ls_pool *pool = pool_of(threads);
	if (!pool)
		pthread_mutex_unlock(&kept.lock);
	return pool;
}

void ls_exact_threads_give(void)
{
	pthread_mutex_unlock(&kept.lock);
}

void ls_exact_threads_run(int threads, int64_t total, int64_t part,
			  void (*run)(void *context, int64_t from, int64_t to), void *context)
{
	struct work w = {.total = total, .part = part, .run = run, .context = context};
	int64_t parts = (total + part - 1) / part;
	if (threads > parts)
		threads = (int)parts;
	struct ls_pool *pool = threads > 1 ? ls_exact_threads_take(threads) : NULL;
	if (!pool) {
		take_parts(&w, 0, 1);
		return;
	}
	ls_pool_run_some(pool, threads, take_parts, &w);
	ls_exact_threads_give();
}

void ls_exact_threads_free(void)
{
	pthread_mutex_lock(&kept.lock);
	if (kept.owner == getpid())
		ls_pool_free(kept.pool);
	kept.pool = NULL;
	pthread_mutex_unlock(&kept.lock);
}
