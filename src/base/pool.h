/* A team of threads that run one function together, with a barrier inside it. The caller is thread
 * 0. The pool belongs to its maker; ls_pool_free joins the threads and accepts NULL. One
 * ls_pool_run at a time. */
#ifndef LS_BASE_POOL_H
#define LS_BASE_POOL_H

#include <stdint.h>

#include "base/err.h"

struct ls_pool;

typedef void ls_pool_fn(void *context, int thread, int threads);

int ls_pool_new(int threads, struct ls_pool **ret, struct ls_err *err);
void ls_pool_free(struct ls_pool *pool);
int ls_pool_threads(const struct ls_pool *pool);

/* Runs fn on every thread and returns when all are done. */
void ls_pool_run(struct ls_pool *pool, ls_pool_fn *fn, void *context);
/* The same on its first `threads` threads, of which it has at least as many; the others sleep on.
 */
void ls_pool_run_some(struct ls_pool *pool, int threads, ls_pool_fn *fn, void *context);
/* Called by every thread of the run from inside fn. Spins a little, then sleeps, so that more
 * threads than cores still get on. */
void ls_pool_barrier(struct ls_pool *pool);
/* A barrier in two halves, with work of the thread's own in between: ls_pool_leave waits until all
 * have arrived, and takes what ls_pool_arrive gave. */
uint32_t ls_pool_arrive(struct ls_pool *pool);
void ls_pool_leave(struct ls_pool *pool, uint32_t phase);

/* Waits until *word is value, which another thread of fn stores with memory_order_release. */
void ls_pool_wait(struct ls_pool *pool, const _Atomic uint64_t *word, uint64_t value);

/* The part of [0, total) that belongs to this thread: near-equal, contiguous. */
void ls_pool_share(uint64_t total, int thread, int threads, uint64_t *ret_lo, uint64_t *ret_hi);

#endif
