/* The threads of operations on the CPU: one pool that is kept from call to call. A call
 * that finds it in use, or that cannot have one, works on its own thread: no number of
 * threads changes a bit. Any thread; a process that was forked makes a pool of its own. */
#ifndef LS_EXACT_CPU_THREADS_H
#define LS_EXACT_CPU_THREADS_H

#include <stdint.h>

#include "base/pool.h"

/* run(context, from, to) until the parts cover [0, total), each of at most `part`, on at
 * most `threads` threads, all of them in the floating-point mode of num/num.h. */
void ls_exact_threads_run(int threads, int64_t total, int64_t part,
			  void (*run)(void *context, int64_t from, int64_t to), void *context);

/* The pool itself, of at least `threads` threads, for work with barriers inside. NULL: it
 * is in use, or cannot be had. What is taken is given back by the same thread. */
struct ls_pool *ls_exact_threads_take(int threads);
void ls_exact_threads_give(void);

/* Ends the threads that are kept. */
void ls_exact_threads_free(void);

#endif
