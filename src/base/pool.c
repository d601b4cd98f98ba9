#include "base/pool.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "base/cpus.h"
#include "base/mem.h"

/* A thread other than the caller's. Each waits for its runs on a word of its own, so that
 * the threads that a run leaves out sleep on. */
struct member {
	_Alignas(128) _Atomic uint32_t runs; /* runs to take part in: one more starts it */
	_Atomic uint32_t sleepers;           /* 1: it sleeps in the kernel */
	struct ls_pool *pool;
	pthread_t handle;
	int index;
};

/* The words that threads wait on and the words that they count on are on cache lines of
 * their own, so that threads that arrive do not disturb those that wait (no false
 * sharing). */
struct ls_pool {
	int threads, running; /* of the pool; of this run, which its barriers count */
	int spins, waits;     /* how often to look before sleeping: at barriers; at words */
	ls_pool_fn *fn;       /* NULL when a run starts: the thread ends */
	void *context;
	_Atomic bool failed; /* a thread of the run gave up */
	struct member *members;
	char pad_phase[128];
	_Atomic uint32_t phase; /* rises by one when the last thread has arrived at a barrier */
	char pad_arrived[128];
	_Atomic uint32_t arrived;
	char pad_sleepers[128];
	_Atomic uint32_t sleepers;
	char pad_end[128];
};

static void relax(void)
{
#if defined(__x86_64__)
	_mm_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Waits while *word equals seen: spins so many times, then sleeps, counted among the
 * sleepers. */
static void wait_while(_Atomic uint32_t *word, uint32_t seen, int looks, _Atomic uint32_t *sleepers)
{
	for (int i = 0; i < looks; i++) {
		if (atomic_load_explicit(word, memory_order_acquire) != seen)
			return;
		relax();
	}
	atomic_fetch_add(sleepers, 1);
	while (atomic_load(word) == seen)
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
	atomic_fetch_sub(sleepers, 1);
}

/* Adds one to *word and wakes all who wait for that. */
static void go_on(_Atomic uint32_t *word, const _Atomic uint32_t *sleepers)
{
	atomic_fetch_add(word, 1);
	if (atomic_load(sleepers))
		syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

uint32_t ls_pool_arrive(struct ls_pool *pool)
{
	uint32_t phase = atomic_load(&pool->phase);
	uint32_t all =
		(uint32_t)pool
			->running; /* read first: once all are here the next run may have others */
	if (atomic_fetch_add(&pool->arrived, 1) + 1 == all) {
		atomic_store(&pool->arrived, 0);
		go_on(&pool->phase, &pool->sleepers);
	}
	return phase;
}

void ls_pool_leave(struct ls_pool *pool, uint32_t phase)
{
	wait_while(&pool->phase, phase, pool->spins, &pool->sleepers);
}

void ls_pool_barrier(struct ls_pool *pool)
{
	ls_pool_leave(pool, ls_pool_arrive(pool));
}

/* The thread that is waited for may have lost its core to another program. Sleeping frees
 * this core for it; yielding does not. */
void ls_pool_wait(struct ls_pool *pool, const _Atomic uint64_t *word, uint64_t value)
{
	const struct timespec nap = {.tv_nsec = 20000};
	for (int i = 0; atomic_load_explicit(word, memory_order_acquire) != value; i++)
		if (i < pool->waits)
			relax();
		else
			nanosleep(&nap, NULL);
}

struct part {
	struct ls_pool *pool;
	int index;
};

static int run_part(void *arg, struct ls_err *err)
{
	const struct part *p = arg;
	(void)err;
	p->pool->fn(p->pool->context, p->index, p->pool->running);
	return 0;
}

/* A thread that gives up leaves its run alone: the others, and the caller's frame, on which
 * they work, must first come to their end. */
static void take_part(struct ls_pool *pool, int index)
{
	struct part p = {pool, index};
	if (ls_mem_try(run_part, &p, NULL))
		atomic_store(&pool->failed, true);
}

static void *member_main(void *arg)
{
	struct member *m = arg;
	for (uint32_t run = 0;; run++) {
		wait_while(&m->runs, run, m->pool->spins, &m->sleepers);
		if (!m->pool->fn)
			return NULL;
		take_part(m->pool, m->index);
		ls_pool_barrier(m->pool);
	}
}

static void start(struct ls_pool *pool, int threads, ls_pool_fn *fn, void *context)
{
	pool->fn = fn;
	pool->context = context;
	pool->running = threads;
	for (int i = 1; i < threads; i++) {
		struct member *m = &pool->members[i];
		go_on(&m->runs, &m->sleepers);
	}
}

/* Stops the members that were started; with the caller they are so many threads. */
static void stop(struct ls_pool *pool, int threads)
{
	start(pool, threads, NULL, NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(pool->members[i].handle, NULL);
	free(pool->members);
	free(pool);
}

/* How often to spin before sleeping. Spinning pays when every thread has a core of its
 * own. At barriers threads spin less when there is no core to spare: if another program
 * takes a core, only a thread that sleeps gives its own to the thread that is waited for.
 * The numbers are for x86-64, whose pause instruction takes longer than others';
 * elsewhere nobody has measured them. */
#if defined(__x86_64__)
enum { LONG = 20000, SHORT = 2000, NONE = 50 };
#else
enum { LONG = 20000, SHORT = LONG, NONE = 50 };
#endif

/* A host's handlers run on its own threads; of signals that a fault raises, the thread that
 * has it gets its own. */
static void block_signals(sigset_t *ret_was)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
	sigset_t most;
	sigfillset(&most);
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		sigdelset(&most, faults[i]);
	pthread_sigmask(SIG_SETMASK, &most, ret_was);
}

static int start_threads(struct ls_pool *pool, int *ret_started)
{
	for (int i = 1; i < pool->threads; i++) {
		struct member *m = &pool->members[i];
		m->pool = pool;
		m->index = i;
		errno = 0;
		int rc = pthread_create(&m->handle, NULL, member_main, m);
		if (rc)
			return rc;
		*ret_started = i + 1;
	}
	return 0;
}

int ls_pool_new(int threads, struct ls_pool **ret, struct ls_err *err)
{
	struct ls_pool *pool = ls_xalloc(sizeof *pool);
	pool->threads = threads;
	pool->members = ls_xalloc_aligned(128, (size_t)threads * sizeof *pool->members);
	pool->waits = threads <= ls_cpus() ? LONG : NONE;
	pool->spins = threads == ls_cpus() ? SHORT : pool->waits;
	sigset_t was;
	block_signals(&was);
	int started = 1, rc = start_threads(pool, &started);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (rc) {
		stop(pool, started);
		return ls_err_set(err, rc == EAGAIN && errno == ENOMEM ? LS_ENOMEM : LS_EIO,
				  "cannot start thread %d of %d: %s", started + 1, threads,
				  strerror(rc));
	}
	*ret = pool;
	return 0;
}

void ls_pool_free(struct ls_pool *pool)
{
	if (pool)
		stop(pool, pool->threads);
}

int ls_pool_threads(const struct ls_pool *pool)
{
	return pool->threads;
}

void ls_pool_run(struct ls_pool *pool, ls_pool_fn *fn, void *context)
{
	ls_pool_run_some(pool, pool->threads, fn, context);
}

bool ls_pool_try(struct ls_pool *pool, int threads, ls_pool_fn *fn, void *context)
{
	atomic_store(&pool->failed, false);
	start(pool, threads, fn, context);
	take_part(pool, 0);
	ls_pool_barrier(pool);
	return !atomic_load(&pool->failed);
}

void ls_pool_run_some(struct ls_pool *pool, int threads, ls_pool_fn *fn, void *context)
{
	if (!ls_pool_try(pool, threads, fn, context))
		ls_no_memory();
}

void ls_pool_share(uint64_t total, int thread, int threads, uint64_t *ret_lo, uint64_t *ret_hi)
{
	uint64_t each = total / (uint64_t)threads, rest = total % (uint64_t)threads,
		 t = (uint64_t)thread;
	*ret_lo = t * each + (t < rest ? t : rest);
	*ret_hi = *ret_lo + each + (t < rest);
}
