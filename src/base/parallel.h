/* Running tasks on several threads: the caller's thread and up to threads - 1 more, all gone when
 * the call returns. Tasks are handed out in ascending order; what a task may touch is the caller's
 * affair. Any thread may call; calls do not share anything. */
#ifndef LS_BASE_PARALLEL_H
#define LS_BASE_PARALLEL_H

#include <stddef.h>

/* Calls run(ctx, 0) to run(ctx, tasks - 1), each once. Does all alone where the machine refuses to
 * make threads.
 */
void ls_parallel(int threads, size_t tasks, void (*run)(void *ctx, size_t task), void *ctx);

#endif
