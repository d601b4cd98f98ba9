/* A pool of threads that run one function together, with barriers inside it. The caller
 * is thread 0. The pool belongs to its maker; ls_pool_free joins the threads and accepts
 * NULL. One ls_pool_run at a time. */
#ifndef LS_BASE_POOL_H
#define LS_BASE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct ls_pool;

typedef void ls_pool_fn(void *context, int thread, int threads);

int ls_pool_new(int threads, struct ls_pool **ret, struct ls_err *err);
void ls_pool_free(struct ls_pool *pool);
int ls_pool_threads(const struct ls_pool *pool);

/* Runs fn on every thread and returns when all are done. */
void ls_pool_run(struct ls_pool *pool, ls_pool_fn *fn, void *context);
/* The same on the first `threads` threads of the pool; the others sleep on. */
/* Likewise; false where a thread gave up (base/mem.h). The others give up then, too: it is
 * for callers that have to free something first. A function with barriers must not give
 * up, as the other threads would wait for ever. */
bool ls_pool_try(struct ls_pool *pool, int threads, ls_pool_fn *fn, void *context);
void ls_pool_run_some(struct ls_pool *pool, int threads, ls_pool_fn *fn, void *context);
/* A barrier, called by every thread of the run from inside fn. It spins for a while and
 * then sleeps, so that it also works with more threads than cores. */
void ls_pool_barrier(struct ls_pool *pool);
/* A split barrier: a thread arrives, does work of its own, and then waits. ls_pool_leave
 * waits until all threads have arrived; it takes what ls_pool_arrive returned. */
uint32_t ls_pool_arrive(struct ls_pool *pool);
void ls_pool_leave(struct ls_pool *pool, uint32_t phase);

/* Waits until *word is value; another thread of fn stores it with
 * memory_order_release. */
void ls_pool_wait(struct ls_pool *pool, const _Atomic uint64_t *word, uint64_t value);

/* This thread's part of [0, total): contiguous and near-equal. */
void ls_pool_share(uint64_t total, int thread, int threads, uint64_t *ret_lo, uint64_t *ret_hi);

#endif
